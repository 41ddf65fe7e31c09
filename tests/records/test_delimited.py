"""Delimited text is cut by quotes, separators and line ends alone: the same as one byte after the other."""

import random
from pathlib import Path

import numpy as np
import pytest

import discreet as dc
from discreet.records import Column
from discreet.records._delimited import (
    DelimitedSource,
    Fields,
    OpenQuoteError,
    boundaries,
    days_of_bytes,
    looked_up,
    numbers_of_bytes,
)
from discreet.records._values import day_of, number_of


def one_by_one(data: bytes) -> list[int]:
    """Walk over the bytes with a state: the slow and obvious way."""
    ends, at_start, inside, place = [], True, False, 0
    while place < len(data):
        letter = data[place : place + 1]
        if inside:
            if letter == b'"' and data[place + 1 : place + 2] == b'"':
                place += 1
            elif letter == b'"':
                inside = False
        elif letter == b'"' and at_start:
            inside = True
        elif letter in (b",", b"\n"):
            ends.append(place)
        at_start = not inside and letter in (b",", b"\n")
        place += 1
    return ends


@pytest.mark.parametrize("letters", [b'a",\n', b'a"\r,\n\n', b'"",\n', b"ab,\n\r"])
def test_boundaries_are_those_of_the_slow_way(letters: bytes) -> None:
    generator = random.Random(20261116)
    for _ in range(3000):
        data = bytes(generator.choices(letters, k=generator.randrange(1, 24))) + b"\n"
        found = boundaries(data, np.frombuffer(data, dtype=np.uint8), ord(",")).tolist()
        assert found == one_by_one(data), data


@pytest.mark.parametrize("size", [7, 64, 4096])
def test_blocks_may_end_anywhere(size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = ['"a, b",1', "c,2", '"say ""hi""",3', "é,4", "", 'x"y,5', "c\rd,6", '"two\nlines",7', "c,8,9,10"] * 30
    path = tmp_path / "records.csv"
    path.write_bytes(("x,y\n" + "\n".join(rows)).encode())
    column = Column("x", ("a, b", "c", 'say "hi"', "é", 'x"y', ""), outside="other")
    number = Column.banded("y", (0, 5, 9))
    monkeypatch.setattr("discreet.records._delimited._BLOCK", size)
    source = dc.read(path)
    monkeypatch.setattr(DelimitedSource._blocks, "__defaults__", (size,))
    tables = source.count_families([[column], [number]])
    assert tables[0].tolist() == [30, 60, 30, 30, 30, 30, 60]
    assert tables[1].tolist() == [120, 120, 30]


def fields_of(texts: list[bytes]) -> Fields:
    block = np.frombuffer(b"".join(texts) + bytes(64), dtype=np.uint8)
    lengths = np.array([len(text) for text in texts])
    return Fields(block, np.cumsum(lengths) - lengths, lengths, np.zeros(len(texts), dtype=bool))


NUMBERS = [
    "1",
    "+1",
    "-1",
    "1.",
    ".5",
    "1e",
    "1e5",
    "1e+05",
    "1e-99",
    "1e100",
    "5e-324",
    "-1e-100",
    "1e+100",
    "1e-1000",
    "1e-",
    "-0",
    "01",
    "1_0",
    "0x1",
    "inf",
    "nan",
    "12345678901234567",
    "1234567890123456",
]
NUMBERS += ["", " 1", "1 ", "1\0", "0." + "1" * 30, "0." + "1" * 31, "9" * 60, "1.5.5", "--1", "1e1.5", "3,5", "１"]
DAYS = ["2026-01-01", "2026-02-29", "2024-02-29", "2026-13-01", "2026-00-10", "2026-1-1", "0000-01-01"]
DAYS += ["0001-01-01", "9999-12-31", "10000-01-01"]
DAYS += ["2026-01-01 10:00", "2026-01-01T10:00:59.123456789", "2026-01-01T10", "2026-01-01 10:00:00Z", "", "20260101"]


def test_numbers_and_days_of_bytes_are_those_of_single_texts() -> None:
    numbers = numbers_of_bytes(fields_of([text.encode() for text in NUMBERS]))
    wanted = [number_of(text) for text in NUMBERS]
    near = np.where(np.abs(numbers) <= 2**53 - 1, numbers, np.nan)
    assert [None if np.isnan(found) else found for found in near.tolist()] == wanted
    days = days_of_bytes(fields_of([text.encode() for text in DAYS]))
    assert days.known is not None
    found = [day if known else None for day, known in zip(days.array.tolist(), days.known.tolist(), strict=True)]
    assert found == [day_of(text) for text in DAYS]


def test_texts_are_looked_up_byte_by_byte() -> None:
    long = b"the same first forty bytes, and then the e"
    texts = [b"a", b"", b"eight by", b"eight byt", long + b"nd", long + b"st", "é".encode()]
    codes = {text: code for code, text in enumerate(texts)}
    undeclared = [b"a\0", b"A", b"eight bx", long + b"nz", long, long * 3, b"\xc3", b"\xe9", b"\0"]
    found = looked_up(fields_of(texts + undeclared), codes, 99)
    assert found.tolist() == [*range(len(texts)), *[99] * len(undeclared)]


def test_only_an_open_quote_refuses_a_file_and_check_can_say_where(tmp_path: Path) -> None:
    path = tmp_path / "open.csv"
    path.write_text('x,y\na,1\nb,2\n"a,3\nb,4\n')
    source = dc.read(path)
    assert isinstance(source, DelimitedSource)
    with pytest.raises(OpenQuoteError, match="never closed") as failure:
        source.count_families([[Column("x", ("a", "b"), outside="other")]])
    assert "3" not in str(failure.value)
    assert source.open_quote() == "Record 3 of 'open.csv'"
    path.write_text('x,y\na,1\n"b",2\n')
    again = dc.read(path)
    assert isinstance(again, DelimitedSource)
    assert again.open_quote() is None
