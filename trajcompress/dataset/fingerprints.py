"""Digests of what is read, to tell whether it is the same as before."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

from trajcompress.errors import InputError

_READ_WHOLE = 256 * 2**20
_BLOCK_BYTES = 2**18
_BLOCKS = 256
_DIGITS = 16


def fingerprint(files: Sequence[tuple[Path, int]]) -> str:
    """Return a digest of the first so many bytes of each file; of a very large one, of blocks spread over them.

    Raises:
        InputError: a file cannot be read.
    """
    digests = [_digest(path, size) for path, size in files]
    if len(digests) == 1:
        return digests[0]
    return hashlib.sha256("".join(digests).encode()).hexdigest()[:_DIGITS]


def _digest(path: Path, size: int) -> str:
    try:
        digest = hashlib.sha256(str(size).encode())
        with path.open("rb") as file:
            if size <= _READ_WHOLE:
                left = size
                while left and (block := file.read(min(left, _BLOCK_BYTES))):
                    digest.update(block)
                    left -= len(block)
            else:
                for number in range(_BLOCKS):
                    file.seek((size - _BLOCK_BYTES) * number // (_BLOCKS - 1))
                    digest.update(file.read(_BLOCK_BYTES))
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}; mend that, or leave the file out") from error
    return digest.hexdigest()[:_DIGITS]
