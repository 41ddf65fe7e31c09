"""What a study declares of derived columns: what columns hold, and public tables that expressions look up."""

import csv
from collections.abc import Mapping
from pathlib import Path

from discreet._core.errors import DeclarationError
from discreet.records import day_of, number_of
from discreet.study._file import DeclaredColumn, DeclaredLookup

Entries = Mapping[str, str | float]


def kind_of(declared: DeclaredColumn) -> str | None:
    """Return what a declared column holds: numbers, days, texts or truth values; None if nothing is said of it."""
    if declared.levels is not None:
        if all(isinstance(level, bool) for level in declared.levels):
            return "truth"
        return "number" if all(isinstance(level, int) for level in declared.levels) else "text"
    ends = declared.bands if declared.bands is not None else declared.bounds
    if ends is None:
        return None
    return "day" if all(isinstance(end, str) and day_of(end) is not None for end in ends) else "number"


def entries_of(name: str, declared: DeclaredLookup, folder: Path | None) -> Entries:
    """Return the entries of a look-up table: those that are written, or two columns of a file that is public, too."""
    is_file = declared.path is not None
    if (
        is_file is (declared.entries is not None)
        or is_file is (declared.key is None)
        or is_file is (declared.value is None)
    ):
        raise DeclarationError(
            f"lookups.{name} needs either entries, such as entries = {{ I21 = 'heart' }}, or path, key and value: a "
            "CSV file and two of its columns."
        )
    if declared.entries is not None:
        return {key: value if isinstance(value, str) else float(value) for key, value in declared.entries.items()}
    if folder is None:
        raise DeclarationError(f"lookups.{name} names a file, and files are not read here.")
    path = folder / str(declared.path)
    try:
        with path.open(encoding="utf-8-sig", newline="") as opened:
            rows = list(csv.DictReader(opened))
    except (OSError, UnicodeDecodeError, csv.Error):
        raise DeclarationError(f"lookups.{name}: {str(path)!r} is not a readable CSV file.") from None
    key, value = str(declared.key), str(declared.value)
    if not rows or not {key, value} <= set(rows[0]):
        raise DeclarationError(f"lookups.{name}: {str(path)!r} has no columns {key!r} and {value!r}, or no lines.")
    found = {str(row[key]): str(row[value]) for row in rows}
    if len(found) < len(rows):
        raise DeclarationError(f"lookups.{name}: {str(path)!r} has the same {key!r} twice.")
    numbers = {each: number_of(text) for each, text in found.items()}
    if all(number is not None for number in numbers.values()):
        return {each: number for each, number in numbers.items() if number is not None}
    return found
