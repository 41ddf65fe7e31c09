"""A study file to begin with, written from column names alone."""

import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from discreet.mechanism import Declared
from discreet.study._models import asked_models, model_maker

_HEAD = """\
# A study for discreet. Everything in this file is public: write down what you declare, never what the data say.

[data]
{place}
size = 0                           # REQUIRED: the public number of records, of the whole table and not of a part
# neighbours = "add or remove"     # or, instead of size: that number is secret, and so is who is in the data
# about = 5000                     # then a guess of it for plans, which does not come from the data
{extra}unit = "one row per person"        # whom the guarantee protects
# unit_column = "id"               # or: all rows of one id are one person, and size is the number of persons
# rows_per_unit = 3                # if one person may have up to 3 rows: the stated epsilon is multiplied by 3

[budget]
epsilon = "1"                      # all that may ever be spent on these people
delta = "0"
ledger = "study.db"
# population = "patients of 2026"  # who these people are; one ledger for one population
# per = "quarter"                  # spread it: in each quarter, month or year at most ...
# allowance = "0.25"               # ... so much of epsilon; what is not used is not carried over
# groups = "ward"                  # with "add or remove": what is asked where ward has one level is charged to it alone

# Declare each column that a question uses: its levels, or bands or bounds for numbers.
# Values that are not declared, and missing values, go to a level called "other", or to the one that `outside` names.
"""

_COLUMN = """
# [columns.{name}]
# levels = ["no", "yes"]           # or: bands = [0, 18, 65, 120]; for means and regressions: bounds = [0, 120]
# expression = "a / b"             # if it is not stored, but derived from other columns
# outside = "other"                # with bounds: missing = 40, what a missing value counts as; else it is left out
"""

_TAIL = """
# Then ask. Several columns are crossed.
# [questions.first-question]
# model = "categories"
# columns = [{first}]
# mechanism = "GeometricHistogram"
# epsilon = "0.5"
# where = "ward = West"            # of some records only: declared levels or bands, joined by "and"
# label = "What readers will see"
#
# The mechanism may be left out: the one that suits is chosen. Models and their keys, those that are needed first:
{models}
# Edges are written as ["smoker -> cancer"], a formula as "income ~ age + education".

[columns]

[questions]
"""


def template(
    data: Path | str, study: Path, names: Sequence[str], table: str | None = None, separator: str | None = None
) -> str:
    """Return the text of a study file for a table with these columns."""
    columns = "".join(_COLUMN.format(name=_key(name)) for name in names)
    extra = "".join(
        f"{k} = {json.dumps(v)}\n" for k, v in (("table", table), ("separator", separator)) if v is not None
    )
    return (
        _HEAD.format(place=_place(data, study), extra=extra)
        + columns
        + _TAIL.format(first=json.dumps(names[0]) if names else "", models="\n".join(_models()))
    )


def _place(data: Path | str, study: Path) -> str:
    """Return the line that says where the records are: a file, relative to the study's folder, or a server."""
    if "://" in str(data):
        return f"source = {json.dumps(str(data))}"
    return f"path = {json.dumps(os.path.relpath(Path(data).resolve(), study.resolve().parent))}"


def _models() -> Iterator[str]:
    """Yield a line for each registered model."""
    nothing = Declared({}, {}, Path())
    for name in asked_models():
        keys = model_maker(name, nothing).keys
        needed = [key for key, each in keys.items() if each.default is each.empty]
        yield f"#   {json.dumps(name)}: {', '.join(needed + [key for key in keys if key not in needed])}"


def _key(name: str) -> str:
    """Return a name as a key: plain where TOML allows it, else quoted."""
    plain = name.isascii() and name.replace("_", "a").replace("-", "a").isalnum()
    return name if plain else json.dumps(name, ensure_ascii=False)
