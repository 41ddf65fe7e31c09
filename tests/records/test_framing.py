"""Where a record of a CSV file ends is decided by quotes and line ends alone, never by what its fields hold."""

import csv
import gzip
import io
import traceback
from itertools import product
from pathlib import Path

import pandas as pd
import pytest

import discreet as dc
from conformance.counting import counts_of

LEVEL = dc.Column("level", ("a", "b"), outside="other")
HEADER = b"level,note\n"


def counted(content: bytes, folder: Path, name: str = "records.csv") -> list[int]:
    path = folder / name
    path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    return counts_of(LEVEL, dc.read(path))


@pytest.mark.parametrize("name", ["records.csv", "records.csv.gz"])
@pytest.mark.parametrize("ending", [b"\n", b"\r\n"], ids=["LF", "CRLF"])
@pytest.mark.parametrize("text", [b"z\ra", b"z\ra\ra\ra", b"\r", b"\r\r", b"a\r"])
def test_a_lone_carriage_return_is_data(text: bytes, ending: bytes, name: str, tmp_path: Path) -> None:
    lines = [b"level,note", b"a,x", b"b," + text, b"a,x"]
    assert counted(ending.join(lines) + ending, tmp_path, name) == [2, 1, 0]
    lines = [b"level,note", b"a,x", text + b",x", b"b,x"]
    expected = [1, 1, 1]
    assert counted(ending.join(lines) + ending, tmp_path, name) == expected


def test_a_table_written_by_pandas_keeps_its_records(tmp_path: Path) -> None:
    notes = ["plain", "z\ra\ra\ra", "two\nlines", 'a "quoted" word', "comma, comma", "", None, "\r\n", "end\r"]
    pd.DataFrame({"level": ["a"] * len(notes), "note": notes}).to_csv(tmp_path / "records.csv", index=False)
    assert counts_of(LEVEL, dc.read(tmp_path / "records.csv")) == [9, 0, 0]


@pytest.mark.parametrize("size", [10**5, 3 * 10**6, 2**21 + 1, 2**24 + 1])
@pytest.mark.parametrize("quoted", [True, False])
def test_a_long_field_is_one_field(size: int, quoted: bool, tmp_path: Path) -> None:
    mark = b'"' if quoted else b""
    assert counted(HEADER + b"a,x\nb," + mark + b"z" * size + mark + b"\na,x\n", tmp_path) == [2, 1, 0]
    assert counted(HEADER + b"a,x\n" + mark + b"z" * size + mark + b",x\na,x\n", tmp_path) == [2, 0, 1]


def test_many_lines_inside_quotes_are_one_field(tmp_path: Path) -> None:
    assert counted(HEADER + b'b,"' + b"a,x\n" * 10**5 + b'"\na,x\n', tmp_path) == [1, 1, 0]


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        (b"", [2, 0, 1]),  # a blank line of a table of several columns is a record of gaps
        (b"b", [2, 1, 0]),
        (b"b,x,y,z", [2, 1, 0]),
        (b",", [2, 0, 1]),
        (b'"b"', [2, 1, 0]),
        (b'"",""', [2, 0, 1]),
        (b'b,"x"y', [2, 1, 0]),
        (b'b,x"y', [2, 1, 0]),
        (b'b,x"y"', [2, 1, 0]),
        (b'"b"x,y', [2, 0, 1]),
        (b'b,"x""y"', [2, 1, 0]),
        (b'b,""', [2, 1, 0]),
        (b"b,\xff", [2, 1, 0]),
        (b"\xff,x", [2, 0, 1]),
        (b"\xc3,x", [2, 0, 1]),
        (b"a\xff,x", [2, 0, 1]),
        (b"\xed\xa0\x80,x", [2, 0, 1]),
        (b"\x00,x", [2, 0, 1]),
        (b"b,\x00", [2, 1, 0]),
        (b"a\x00,x", [2, 0, 1]),
        (b"\xef\xbb\xbfa,x", [2, 0, 1]),
        (b"# b,x", [2, 0, 1]),
        (b"\\,b", [2, 0, 1]),
        (b"b,\\", [2, 1, 0]),
        (b'b,\\"', [2, 1, 0]),
        (b" b,x", [2, 0, 1]),
        (b"b ,x", [2, 0, 1]),
        (b"NULL,x", [2, 0, 1]),
        (b"b,NULL", [2, 1, 0]),
        (b"b,\xe2\x80\xa8", [2, 1, 0]),
        (b"b,\x0b\x0c\x1c\x1d\x1e\xc2\x85", [2, 1, 0]),
        (b"b,\x1a", [2, 1, 0]),
    ],
)
def test_whatever_a_line_holds_it_is_one_record(record: bytes, expected: list[int], tmp_path: Path) -> None:
    for place, ending in product((0, 1, 2), (b"\n", b"\r\n")):
        lines = [b"a,x", b"a,y"]
        lines.insert(place, record)
        assert counted(ending.join([b"level,note", *lines]) + ending, tmp_path) == expected, (place, ending)


def test_a_blank_line_of_a_table_with_one_column_is_a_record_too(tmp_path: Path) -> None:
    (tmp_path / "one.csv").write_bytes(b"level\na\n\nb\n")
    assert counts_of(LEVEL, dc.read(tmp_path / "one.csv")) == [1, 1, 1]


@pytest.mark.parametrize("end", [b"", b"\n", b"\r\n"])
def test_the_last_line_end_may_be_missing(end: bytes, tmp_path: Path) -> None:
    assert counted(HEADER + b"a,x\nb,y" + end, tmp_path) == [1, 1, 0]


@pytest.mark.parametrize("name", ["one.csv", "one.csv.gz"])
@pytest.mark.parametrize("last", [b"b", b'"b"', b"b\r", b'""'])
def test_one_column_must_end_with_a_line_feed_whatever_the_last_record_holds(
    last: bytes, name: str, tmp_path: Path
) -> None:
    """Without that line feed an empty last record would be a file of one record less, as good as any other file."""
    content = b"level\na\n" + last
    path = tmp_path / name
    path.write_bytes(gzip.compress(content) if name.endswith("gz") else content)
    with pytest.raises(dc.SourceError, match="End every line with a line feed"):
        counts_of(LEVEL, dc.read(path))
    content += b"\n"
    path.write_bytes(gzip.compress(content) if name.endswith("gz") else content)
    assert sum(counts_of(LEVEL, dc.read(path))) == 2


def test_a_file_with_a_header_alone_has_no_records(tmp_path: Path) -> None:
    assert counted(HEADER, tmp_path) == [0, 0, 0]
    assert counted(HEADER.rstrip(), tmp_path) == [0, 0, 0]


@pytest.mark.parametrize("content", [b'a,x\nb,"Mrs Smith\na,x\n', b'a,x\n"b,Mrs Smith\n', b'a,x\nMrs Smith,"'])
@pytest.mark.parametrize("name", ["records.csv", "records.csv.gz"])
def test_only_a_quote_that_stays_open_refuses_the_file(content: bytes, name: str, tmp_path: Path) -> None:
    with pytest.raises(dc.SourceError) as refusal:
        counted(HEADER + content, tmp_path, name)
    words = "".join(traceback.format_exception(refusal.value))
    assert "quote" in str(refusal.value)
    assert "Smith" not in words


def test_the_reader_agrees_with_pythons_own_on_proper_files(tmp_path: Path) -> None:
    """Fields of every kind, written by the csv module and read back by it: the slow twin of the tokenizer."""
    letters = ["a", "b", "", "a,b", 'a"b', "a\nb", "\n", '"', '""', ",", "a\r\nb", " a", "é", "日本", "a;b\tc"]
    rows = [[first, second] for first in letters for second in letters]
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerows([["level", "note"], *rows])
    content = stream.getvalue().encode()
    firsts = [row[0] for row in list(csv.reader(io.StringIO(content.decode(), newline="")))[1:]]
    expected = [firsts.count("a"), firsts.count("b"), sum(first not in ("a", "b") for first in firsts)]
    assert counted(content, tmp_path) == expected
    assert sum(expected) == len(rows)
