"""Fields of bytes that become codes, numbers and days by NumPy, many at once.

Each field is looked at eight bytes at a time. What is found by a hash is compared byte by byte with what is declared.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Floats
from discreet.records.arrays import Values, days_of_dates

_LONGEST_NUMBER, _LONGEST_DAY = 56, 32  # bytes, as multiples of eight
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


def _hash(words: Iterable[Words], lengths: NDArray[np.int64], multipliers: Words) -> Words:
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


def numbers_of_bytes(fields: Fields) -> Floats:
    """Return the number that every field means, as `values.number_of` reads texts; not-a-number for none."""
    letters = _letters(fields, _LONGEST_NUMBER)
    fits = _accepted(letters, fields.lengths, *_number_machine())
    texts = np.where(fits, letters.view(f"S{letters.shape[1]}").ravel(), b"nan")
    return texts.astype(np.float64)


def days_of_bytes(fields: Fields) -> Values:
    """Return the day that every field means, as `values.day_of` reads texts."""
    letters = _letters(fields, _LONGEST_DAY)
    fits = _accepted(letters, fields.lengths, *_day_machine())
    digits = letters.astype(np.int64) - ord("0")
    year = digits[:, 0] * 1000 + digits[:, 1] * 100 + digits[:, 2] * 10 + digits[:, 3]
    month, day = digits[:, 5] * 10 + digits[:, 6], digits[:, 8] * 10 + digits[:, 9]
    return days_of_dates(*(np.where(fits, part, 0) for part in (year, month, day)))


def _letters(fields: Fields, longest: int) -> NDArray[np.uint8]:
    """Return the first bytes of every field, one row for each."""
    needed = max(2, min(longest, int(fields.lengths.max(initial=0)) + 7) // 8)
    found = np.empty((len(fields.starts), needed), dtype="<u8")
    for number in range(needed):
        found[:, number] = fields.word(number)
    return found.view(np.uint8)


def _accepted(
    letters: NDArray[np.uint8], lengths: NDArray[np.int64], steps: NDArray[np.uint8], accepting: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Tell which rows a finite machine accepts: one step for each letter, all rows at once. State 0 is failure."""
    longest = min(int(lengths.max(initial=0)), letters.shape[1])
    state = np.ones(len(letters), dtype=np.uint8)
    for place in range(longest):
        state = np.where(lengths > place, steps[state, letters[:, place]], state)
    return np.asarray(accepting[state] & (lengths <= letters.shape[1]) & (lengths > 0))


_DIGITS = b"0123456789"


def _machine(rules: list[tuple[int, bytes, int]], accepting: list[int]) -> tuple[NDArray[np.uint8], NDArray[np.bool_]]:
    size = max(target for _, _, target in rules) + 1
    steps = np.zeros((size, 256), dtype=np.uint8)
    for state, letters, target in rules:
        steps[state, list(letters)] = target
    accepts = np.zeros(size, dtype=bool)
    accepts[accepting] = True
    return steps, accepts


@cache
def _number_machine() -> tuple[NDArray[np.uint8], NDArray[np.bool_]]:
    """Return the machine of `values.NUMBER`: sign, 1 to 16 digits, a point with up to 30 digits, an exponent."""
    whole, point = list(range(3, 19)), list(range(19, 50))  # states after so many digits
    exponent, plus, minus, first, second = 50, 51, 52, 53, 54
    small, smaller, smallest = 55, 56, 57  # digits after a minus
    rules = [(1, b"+-", 2), (1, _DIGITS, 3), (2, _DIGITS, 3)]
    rules += [(state, _DIGITS, state + 1) for state in (*whole[:-1], *point[:-1])]
    rules += [(state, b".", point[0]) for state in whole]
    rules += [(state, b"eE", exponent) for state in (*whole, *point)]
    rules += [(exponent, b"+", plus), (exponent, _DIGITS, first), (plus, _DIGITS, first), (first, _DIGITS, second)]
    rules += [(exponent, b"-", minus), (minus, _DIGITS, small), (small, _DIGITS, smaller), (smaller, _DIGITS, smallest)]
    return _machine(rules, [*whole, *point, first, second, small, smaller, smallest])


@cache
def _day_machine() -> tuple[NDArray[np.uint8], NDArray[np.bool_]]:
    """Return the machine of `values.DAY`: a date, and perhaps a time of the day."""
    shape = "dddd-dd-ddTdd:dd:dd.ddddddddd"
    kinds = {"d": _DIGITS, "-": b"-", "T": b" T", ":": b":", ".": b"."}
    rules = [(place + 1, kinds[letter], place + 2) for place, letter in enumerate(shape)]
    return _machine(rules, [11, 17, 20, *range(22, 31)])
