"""The package ``zstandard`` in the words of the standard library's module, for environments that were made before it was replaced.

Owns nothing else; it goes when those are gone.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import zstandard


class ZstdDict:
    def __init__(self, data: bytes, *, is_raw: bool) -> None:
        raw = zstandard.ZstdCompressionDict(data, dict_type=zstandard.DICT_TYPE_RAWCONTENT)
        self.as_undigested_dict = self.as_prefix = raw


class ZstdCompressor:
    FLUSH_FRAME = 2

    def __init__(self, *, level: int = 3, options: dict[str, int] | None = None, zstd_dict: Any = None) -> None:
        self._made_for, self._options, self._dict = level, options, zstd_dict

    def compress(self, data: bytes, mode: int) -> bytes:
        if self._options is None:
            return bytes(zstandard.ZstdCompressor(level=self._made_for).compress(data))
        rest = dict(self._options)
        size, beside = len(data), len(self._dict or b"")
        parameters = zstandard.ZstdCompressionParameters.from_level(
            rest.pop("compression_level"), source_size=size, dict_size=beside, **rest
        )
        return bytes(zstandard.ZstdCompressor(compression_params=parameters, dict_data=self._dict).compress(data))


class ZstdDecompressor:
    def __init__(self, *, zstd_dict: Any = None, options: dict[str, int] | None = None) -> None:
        window = 1 << (options or {}).get("window_log_max", 27)
        self._inner = zstandard.ZstdDecompressor(dict_data=zstd_dict, max_window_size=window)
        self.eof = True

    def decompress(self, frame: bytes, max_length: int = 0) -> bytes:
        return bytes(self._inner.decompress(frame, max_output_size=max(max_length, 0)))


def get_frame_info(frame: bytes) -> SimpleNamespace:
    return SimpleNamespace(decompressed_size=zstandard.frame_content_size(frame))


ZstdError = zstandard.ZstdError
CompressionParameter = SimpleNamespace(
    compression_level="compression_level", window_log="window_log", hash_log="hash_log", chain_log="chain_log"
)
DecompressionParameter = SimpleNamespace(window_log_max="window_log_max")
