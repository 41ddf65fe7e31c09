"""Fields of bytes that become codes by NumPy, many at once.

Each field is looked at eight bytes at a time. What is found by a hash is compared byte by byte with what is declared.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

_MASKS = np.array([(1 << (8 * length)) - 1 for length in range(9)], dtype=np.uint64)

Words = NDArray[np.uint64]


@dataclass(frozen=True)
class Fields:
    """Where fields lie in a block of bytes that ends with padding; a length of -1 is a gap."""

    block: NDArray[np.uint8]
    starts: NDArray[np.int64]
    lengths: NDArray[np.int64]
    quoted: NDArray[np.bool_]

    def content(self, place: int) -> bytes:
        """Return one field without its quotes."""
        start = int(self.starts[place])
        raw = self.block[start : start + max(0, int(self.lengths[place]))].tobytes()
        return raw.replace(b'""', b'"') if self.quoted[place] else raw

    def at(self, places: NDArray[np.intp]) -> "Fields":
        """Return some of the fields."""
        return Fields(self.block, self.starts[places], self.lengths[places], self.quoted[places])

    def word(self, number: int) -> Words:
        """Return eight bytes of every field, zeros after its end."""
        size = len(self.block) - 7
        words: Words = np.ndarray((size,), dtype="<u8", buffer=self.block.data, strides=(1,))
        left = np.clip(self.lengths - 8 * number, 0, 8)
        return words[np.minimum(self.starts + 8 * number, size - 1)] & _MASKS[left]


def looked_up(fields: Fields, codes: Mapping[bytes, int], home: int) -> NDArray[np.intp]:
    """Return the code of every field; what is not declared, byte by byte, is at home."""
    declared, lengths = _declared(list(codes))
    needed = _telling(declared, lengths)
    words = [fields.word(number) for number in range(needed)]
    multipliers, order, hashes = _hashed(declared[:, :needed], lengths)
    found = np.searchsorted(hashes, _hash(words, fields.lengths, multipliers))
    places = order[np.minimum(found, len(order) - 1)]
    same = fields.lengths == lengths[places]
    for number, word in enumerate(words):
        same &= declared[places, number] == word
    left = np.flatnonzero(same & (fields.lengths > 8 * needed))
    for number in range(needed, declared.shape[1]):  # only what agreed so far, and is longer
        left = left[fields.lengths[left] > 8 * number]
        if not len(left):
            break
        agrees = declared[places[left], number] == fields.at(left).word(number)
        same[left[~agrees]] = False
        left = left[agrees]
    return np.where(same, np.array(list(codes.values()))[places], home)


def _declared(texts: list[bytes]) -> tuple[Words, NDArray[np.int64]]:
    """Return declared texts as rows of words with zeros after their ends, and their lengths."""
    lengths = np.array([len(text) for text in texts])
    rows = np.zeros((len(texts), 8 * max(1, -(-int(lengths.max()) // 8))), dtype=np.uint8)
    for row, text in zip(rows, texts, strict=True):
        row[: len(text)] = np.frombuffer(text, dtype=np.uint8)
    return rows.view("<u8"), lengths


def _telling(declared: Words, lengths: NDArray[np.int64]) -> int:
    """Return how many words, with the lengths, tell all declared texts apart."""
    keyed = np.column_stack([lengths.astype(np.uint64), declared])
    needed = (n for n in range(1, declared.shape[1]) if len(np.unique(keyed[:, : n + 1], axis=0)) == len(keyed))
    return next(needed, declared.shape[1])


def _hash(words: Any, lengths: NDArray[np.int64], multipliers: Words) -> Words:
    total = lengths.astype(np.uint64) * multipliers[0]
    for word, multiplier in zip(words, multipliers[1:], strict=True):
        total = (total ^ (total >> np.uint64(29))) + word * multiplier
    return np.asarray(total)


def _hashed(keys: Words, lengths: NDArray[np.int64]) -> tuple[Words, NDArray[np.intp], Words]:
    """Return multipliers for which the hashes of all declared texts differ, and these hashes in order."""
    for seed in range(1, 1000):
        generator = np.random.default_rng(seed)
        odd = 2 * generator.integers(2**62, size=keys.shape[1] + 1) + 1
        multipliers = odd.astype(np.uint64)
        hashes = _hash(keys.T, lengths, multipliers)
        order = np.argsort(hashes)
        if len(np.unique(hashes)) == len(hashes):
            return multipliers, order, hashes[order]
    raise AssertionError("texts that differ have hashes that differ for some multiplier")
