"""Any endpoint that speaks ``/v1/embeddings`` (Ollama, LM Studio, vLLM, OpenAI).

Owns the request and its time-outs; the address and the model come from the settings.
"""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ovillo.model.errors import InvalidInput, UpstreamError

_TIMEOUT_S = 20
_BATCH = 64


class OpenAiEmbedder:
    def __init__(self, url: str | None, model: str | None, key: str | None) -> None:
        if not url or not model:
            raise InvalidInput(
                "The embedder 'openai' has no address or model.",
                hint="Set OVILLO_EMBEDDER_URL and OVILLO_EMBEDDER_MODEL.",
            )
        if not url.startswith(("http://", "https://")):
            raise InvalidInput(
                f"{url!r} is no web address.", hint="OVILLO_EMBEDDER_URL begins with http:// or https://."
            )
        self._url = url.rstrip("/") + ("/embeddings" if url.rstrip("/").endswith("/v1") else "/v1/embeddings")
        self._model = model
        self._key = key
        self.id = f"openai:{model}"
        self.dimension = 0

    def embed(self, texts: Sequence[str], *, query: bool = False) -> NDArray[np.float32]:
        """One row of length 1 a text. Raises UpstreamError."""
        rows = [row for start in range(0, len(texts), _BATCH) for row in self._ask(texts[start : start + _BATCH])]
        found = np.asarray(rows, np.float32)
        self.dimension = found.shape[1]
        return np.asarray(found / np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-9), np.float32)

    def _ask(self, texts: Sequence[str]) -> list[list[float]]:
        headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {self._key}"} if self._key else {})
        body = json.dumps({"model": self._model, "input": list(texts)}).encode()
        request = urllib.request.Request(self._url, body, headers)
        try:
            with urllib.request.urlopen(request, timeout=_TIMEOUT_S) as answer:
                data = json.load(answer)["data"]
                rows = [item["embedding"] for item in sorted(data, key=lambda item: item["index"])]
        except (urllib.error.URLError, TimeoutError, OSError, ValueError, KeyError, TypeError) as error:
            raise UpstreamError(
                f"The embedding endpoint did not answer as expected: {error}.",
                hint="Check OVILLO_EMBEDDER_URL; search goes on by words.",
            ) from error
        if len(rows) != len(texts):
            raise UpstreamError(
                "The embedding endpoint answered with another number of vectors.", hint="Check the model."
            )
        return rows
