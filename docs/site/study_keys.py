"""The keys of each model in docs/studies.md, written from the registry that `discreet init` and the parser use.

python docs/site/study_keys.py
"""

from collections.abc import Iterator
from inspect import Parameter
from pathlib import Path

from discreet.mechanism import Declared
from discreet.study._keys import words_of_type
from discreet.study._models import asked_models, model_maker

PAGE = Path(__file__).resolve().parents[1] / "studies.md"
BEGIN, END = "<!-- keys: made by docs/site/study_keys.py -->\n", "<!-- end of keys -->\n"


def table() -> str:
    """Return a row for each key of each registered model: what it holds, and what is taken where it is left out."""
    rows = ["| model | key | holds | left out |", "| --- | --- | --- | --- |", *_rows()]
    return "\n".join(rows) + "\n"


def page_with(text: str) -> str:
    """Return the page with the table in its place."""
    before, rest = text.split(BEGIN)
    return before + BEGIN + table() + END + rest.split(END)[1]


def _rows() -> Iterator[str]:
    for name in asked_models():
        shown = f'`"{name}"`'
        keys = model_maker(name, Declared({}, {}, Path())).keys
        for key, each in sorted(keys.items(), key=lambda item: item[1].default is not Parameter.empty):
            yield f"| {shown} | `{key}` | {words_of_type(each.annotation)} | {_default(each.default)} |"
            shown = ""


def _default(value: object) -> str:
    if value is Parameter.empty:
        return "required"
    if value is None or value == ():
        return "-"
    return f"`{str(value) if not isinstance(value, str) else repr(value)}`".replace("'", '"')


if __name__ == "__main__":
    PAGE.write_text(page_with(PAGE.read_text("utf-8")), "utf-8")
