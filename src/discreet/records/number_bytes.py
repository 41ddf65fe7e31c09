"""Numbers and days in fields of bytes, found by NumPy in many fields at once."""

from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Floats
from discreet.records.arrays import Values, days_of_dates, days_to_utc

if TYPE_CHECKING:
    from discreet.records.delimited import Fields

_LONGEST_NUMBER, _LONGEST_DAY = 56, 40  # bytes, as multiples of eight


def numbers_of_bytes(fields: "Fields") -> Floats:
    """Return the number that every field means, as `values.number_of` reads texts; NaN for none."""
    letters = _letters(fields, _LONGEST_NUMBER)
    fits = _accepted(letters, fields.lengths, *_number_machine())
    texts = np.where(fits, letters.view(f"S{letters.shape[1]}").ravel(), b"nan")
    return texts.astype(np.float64)


def days_of_bytes(fields: "Fields") -> Values:
    """Return the day that every field means, as `values.day_of` reads texts."""
    letters = _letters(fields, _LONGEST_DAY)
    has_zone = _accepted(letters, fields.lengths, *_moment_machine())
    fits = has_zone | _accepted(letters, fields.lengths, *_day_machine())
    digits = letters.astype(np.int64) - ord("0")
    year = digits[:, 0] * 1000 + digits[:, 1] * 100 + digits[:, 2] * 10 + digits[:, 3]
    month, day = digits[:, 5] * 10 + digits[:, 6], digits[:, 8] * 10 + digits[:, 9]
    later = np.where(has_zone, _days_to_utc(letters, digits), 0)
    dates = [np.where(fits, part, 0) for part in (year, month, day)]
    return days_of_dates(dates[0], dates[1], dates[2], later)


def _days_to_utc(letters: NDArray[np.uint8], digits: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return how many days later, -1 to 1, every row that is a time with a zone is in UTC; anything for others."""
    wide = np.pad(digits, ((0, 0), (0, 24)))  # as long as a time with a zone, and what is looked at beyond its end
    zone = 16 + np.isin(np.pad(letters, ((0, 0), (0, 24)))[:, 16:], list(b"Z+-")).argmax(axis=1)
    rows = np.arange(len(wide))

    def after(place: int | NDArray[np.int64]) -> NDArray[np.int64]:
        pair = 10 * wide[rows, zone + place] + wide[rows, zone + place + 1]
        return np.where((pair >= 0) & (pair <= 99), pair, 0)  # nothing stands there

    sign = np.where(wide[rows, zone] == ord("-") - ord("0"), -1, 1)
    minutes = after(3 + (wide[rows, zone + 3] == ord(":") - ord("0")).astype(np.int64))
    hours, own = 10 * wide[:, 11] + wide[:, 12], 10 * wide[:, 14] + wide[:, 15]
    return days_to_utc(hours, own, sign, after(1), minutes).astype(np.int64)


def _letters(fields: "Fields", longest: int) -> NDArray[np.uint8]:
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


@cache
def _moment_machine() -> tuple[NDArray[np.uint8], NDArray[np.bool_]]:
    """Return the machine of `values.MOMENT`: a date, hours below 24 and minutes, perhaps seconds, and a zone."""
    kinds = {"d": _DIGITS, "-": b"-", "T": b" T", ":": b":"}
    rules = [(place + 1, kinds[letter], place + 2) for place, letter in enumerate("dddd-dd-ddT")]
    start, minutes, seconds, ended, zone, ahead, done = 12, 16, 20, 35, 36, 40, 43

    def below_a_day(first: int, then: int) -> list[tuple[int, bytes, int]]:
        late = 50 + first
        return [(first, b"01", first + 1), (first, b"2", late), (first + 1, _DIGITS, then), (late, b"0123", then)]

    def below_an_hour(first: int, then: int) -> list[tuple[int, bytes, int]]:
        return [(first, b"012345", first + 1), (first + 1, _DIGITS, then)]

    rules += [*below_a_day(start, 14), (14, b":", minutes), *below_an_hour(minutes, 18)]
    rules += [(18, b":", seconds), *below_an_hour(seconds, 23), (seconds, b"6", 22), (22, b"0", 23), (23, b".", 24)]
    rules += [(24 + place, _DIGITS, 25 + place) for place in range(9)]
    rules += [(state, b"Z", ended) for state in (18, 23, *range(25, 34))]
    rules += [(state, b"+-", zone) for state in (18, 23, *range(25, 34))]
    rules += [*below_a_day(zone, 39), (39, b":", ahead), (39, b"012345", ahead + 1), *below_an_hour(ahead, done)]
    return _machine(rules, [ended, 39, done])
