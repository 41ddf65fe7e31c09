"""A recipe as a notebook to download: its text in cells of text, its blocks in cells that run.

A block of `toml` that names its file becomes a cell that writes the file, a command becomes a line for the shell, and
what a block printed is left out, as the notebook prints its own.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path

from page_examples import FENCED, FILE

_LINK = re.compile(r"(?<!!)\[([^\]]+)\]\((?!https?:)[^)]*\)")
_PICTURE = re.compile(r"(!\[[^\]]*\]\()images/")
_TITLE = re.compile(r"\A(# .+?)\n\n")
FOLDER = "notebooks"


def is_recipe(page: str) -> bool:
    """Return whether a page of the site, such as `cookbook/mean`, can be taken along as a notebook."""
    return page.startswith("cookbook/") and page != "cookbook/index"


def link_to_notebook(page: str, text: str) -> str:
    """Return the text of a recipe with a link to its notebook below the title."""
    link = (
        f'<a class="take-along" href="{FOLDER}/{page.rpartition("/")[2]}.ipynb" download>Take along as a notebook</a>'
    )
    return _TITLE.sub(lambda title: f"{title[1]}\n\n{link}\n\n", text, count=1)


def notebook_of(page: str, text: str) -> dict[str, object]:
    """Return a recipe as a notebook in the format 4.5."""
    cells = [_cell(number, *what) for number, what in enumerate(_parts(text))]
    about = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "title": page,
    }
    return {"cells": cells, "metadata": about, "nbformat": 4, "nbformat_minor": 5}


def write_notebooks(recipes: Path, site: Path) -> None:
    """Write the notebooks of all recipes of a folder beside the pages of the site."""
    folder = site / recipes.name / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    for recipe in sorted(recipes.glob("*.md")):
        if is_recipe(f"{recipes.name}/{recipe.stem}"):
            made = notebook_of(recipe.stem, recipe.read_text("utf-8"))
            (folder / f"{recipe.stem}.ipynb").write_text(json.dumps(made, indent=1) + "\n", "utf-8")


def _parts(text: str) -> Iterator[tuple[str, str]]:
    """Yield the kind and the text of each cell."""
    needs = 'This notebook needs `pip install "discreet[plots]" statsmodels`. It writes its files into its own folder.'
    title, _, rest = text.partition("\n\n")
    yield "markdown", f"{title}\n\n{needs}"
    end = 0
    for found in FENCED.finditer(rest):
        yield from _words(rest[end : found.start()])
        end = found.end()
        kind, block = found.groups()
        if kind == "python":
            yield "code", block
        elif kind == "sh":
            yield "code", "".join(f"!{line}\n" for line in block.replace("\\\n", " ").splitlines() if line)
        elif kind == "toml" and (file := FILE.match(block)):
            yield "code", f"%%writefile {file[1]}\n{block[file.end() :]}"
        elif kind != "text":
            yield "markdown", found[0]
    yield from _words(rest[end:])


def _words(text: str) -> Iterator[tuple[str, str]]:
    if text.strip():
        yield "markdown", _PICTURE.sub(r"\1", _LINK.sub(r"\1", text)).strip()


def _cell(number: int, kind: str, text: str) -> dict[str, object]:
    lines = text.rstrip("\n").splitlines(keepends=True)
    cell = {"cell_type": kind, "id": f"cell-{number}", "metadata": {}, "source": lines}
    return cell | ({"execution_count": None, "outputs": []} if kind == "code" else {})
