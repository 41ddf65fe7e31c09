"""The site, without Sphinx: every public name has a page, docstrings stay readable, pages show what was measured."""

import ast
import inspect
import json
import re
import zlib
from importlib import import_module
from pathlib import Path

import pytest

import discreet as dc
from api_pages import folders, front_door, own_names, pages, places_of_names, public_names
from check_links import problems
from discreet.noise.randomness._samplers import SystemBits
from docstrings import as_restructured_text, escaped, readable_types, summary
from notebooks import is_recipe, link_to_notebook, notebook_of, write_notebooks
from page_examples import written_anew
from synonyms import SYNONYMS, index_entries

PAGES = pages()
PROJECT = Path(__file__).parent.parent
INDEX = PROJECT / "docs" / "index.md"


def described(text: str) -> set[str]:
    return set(re.findall(r"^\.\. auto(?:class|exception|function|data):: (\S+)", text, re.MULTILINE))


def test_every_name_of_the_front_door_has_a_page_and_a_line_in_one_group() -> None:
    listed = [name for names in front_door().values() for name in names]
    assert sorted(listed) == sorted(name for name in dc.__all__ if name != "__version__")
    for name in listed:
        assert described(PAGES[name]) == {f"discreet.{name}"}
        assert f":doc:`{name} <{name}>`" in PAGES["index"]


def test_every_name_of_every_room_has_a_page_or_leads_to_that_of_the_front_door() -> None:
    for folder in folders():
        for name in public_names(import_module(f"discreet.{folder}")):
            own = name in own_names(folder)
            assert f":doc:`{name} <{name if own else '../' + name}>`" in PAGES[f"{folder}/index"]
            assert described(PAGES[f"{folder}/{name}" if own else name]) == {
                f"discreet.{folder}.{name}" if own else f"discreet.{name}"
            }
        assert f"<{folder}/index>" in PAGES["index"]


def test_all_folders_that_the_front_door_shows_are_there() -> None:
    stub = ast.parse(Path(dc.__file__).with_suffix(".pyi").read_text("utf-8"))
    shown = {
        alias.name
        for node in stub.body
        if isinstance(node, ast.ImportFrom) and node.module == "discreet"
        for alias in node.names
    }
    with_names = {folder.split(".")[0] for folder in folders()}
    assert shown <= with_names
    assert {"report", "sklearn", "study", "release"} <= with_names


def test_every_class_and_function_has_a_sentence_in_the_lists() -> None:
    for folder in folders():
        module = import_module(f"discreet.{folder}")
        for name in public_names(module):
            what = getattr(module, name)
            if inspect.isclass(what) or inspect.isroutine(what):
                assert summary(what), f"discreet.{folder}.{name} has no docstring"


def test_mathematics_in_docstrings_is_no_markup_and_code_is() -> None:
    assert escaped("|u| * v_1 and `a_b` or *never*") == "\\|u\\| \\* v\\_1 and ``a_b`` or *never*"
    assert escaped("`names`s") == "``names``\\ s"
    lines = ["One.", "", "    H = |a|_2", "", "Then:", "- `x_1`,", "- y_2.", "", ">>> f(*a)", "3"]
    assert as_restructured_text(lines) == [
        *("One.", "", "::", "", "    H = |a|_2", "", "Then:", "", "- ``x_1``,", "- y\\_2.", "", ">>> f(*a)", "3", ""),
    ]


def test_every_page_of_the_guide_is_in_the_contents() -> None:
    listed = set(re.findall(r"\]\(([^)#\s]+)", INDEX.read_text()))
    written = {path.relative_to(INDEX.parent).as_posix() for path in INDEX.parent.rglob("*.md")}
    shown_from_the_root = {"contributing.md", "changelog.md"}
    assert written - shown_from_the_root - {"index.md"} <= listed
    assert {"../CONTRIBUTING.md", "../CHANGELOG.md"} <= listed


def test_faulty_links_of_a_site_are_found(tmp_path: Path) -> None:
    (tmp_path / "other.html").write_text('<h1 id="here">Other</h1>')
    good = '<a href="other.html#here">x</a><a href="https://example.org/">y</a><a href="#top" id="top">z</a>'
    (tmp_path / "index.html").write_text(good)
    assert problems(tmp_path) == []
    (tmp_path / "index.html").write_text(
        '<a href="gone.html">x</a><a href="other.html#gone">y</a><script src="https://example.org/a.js"></script>'
    )
    assert problems(tmp_path) == [
        "index.html loads https://example.org/a.js from elsewhere",
        "index.html links to gone.html, which is not there",
        "index.html links to other.html#gone; the page has no such place",
    ]


def test_the_page_of_performance_shows_the_figures_that_were_collected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(PROJECT / "benchmarks"))
    collect = import_module("collect")
    page, kept = collect.PAGE.read_text("utf-8"), json.loads(collect.KEPT.read_text("utf-8"))
    assert collect.page_with(kept, page) == page
    assert set(kept) <= set(collect.RUNS)
    name, found = next((name, found) for name, found in kept.items() if found["figures"])
    changed = {"what": "another", "value": 1.0, "unit": "s", "beside": "", "goal": ""}
    assert collect.page_with(kept | {name: found | {"figures": [changed]}}, page) != page


def test_every_recipe_says_what_it_costs_runs_and_compares_with_the_truth() -> None:
    recipes = sorted(path for path in (PROJECT / "docs" / "cookbook").glob("*.md") if path.name != "index.md")
    listed = (PROJECT / "docs" / "cookbook" / "index.md").read_text("utf-8")
    assert len(recipes) >= 15
    for recipe in recipes:
        text = recipe.read_text("utf-8")
        assert f"({recipe.name})" in listed, f"{recipe.name} is not in the list of recipes"
        assert "| **Cost** |" in text
        assert "```python" in text
        assert "\n## Before you " in text or "\n## If your question" in text
        assert "```text\n```" not in text, f"{recipe.name} lacks what a block printed"


def test_what_a_page_prints_is_written_below_the_block(tmp_path: Path) -> None:
    page = tmp_path / "cookbook" / "page.md"
    page.parent.mkdir()
    study = "```toml\n# a.toml\n[x]\n```\n\n"
    reading = "```python\nfrom pathlib import Path\n\nprint(Path('a.toml').read_text())\n```\n\n"
    page.write_text(study + reading + "```text\nold\n```\nend\n")
    assert written_anew(page).endswith("```text\n# a.toml\n[x]\n```\nend\n")


@pytest.mark.secure_bits(false_alarms=2**-61)
def test_a_page_is_drawn_by_the_seed_of_its_name_and_the_library_by_secure_bits(tmp_path: Path) -> None:
    block = "from discreet.noise.randomness import SystemBits\n\nprint(SystemBits().words(4))\n"
    pages = [tmp_path / name for name in ("one.md", "two.md")]
    for page in pages:
        page.write_text(f"```python\n{block}```\n\n```text\n\n```\n")
    first, second = (written_anew(page) for page in pages)
    assert first == written_anew(pages[0])
    assert str(dc.SeededBits(zlib.crc32(b"one.md")).words(4)) in first
    assert first != second
    outside = SystemBits().words(4)
    assert (outside != dc.SeededBits(zlib.crc32(b"one.md")).words(4)).all()
    assert (outside != SystemBits().words(4)).all()


def test_a_recipe_becomes_a_notebook_whose_cells_are_its_blocks() -> None:
    text = (
        "# A title\n\nWords with a [link](../ledger.md) and one [outside](https://example.org).\n\n"
        "```toml\n# study.toml\n[data]\n```\n\n```python\nprint(1)\n```\n\n```text\n1\n```\n\n"
        "![x](images/a.svg)\n\n```sh\ndiscreet publish a \\\n  b\n```\n"
    )
    cells = notebook_of("made", text)["cells"]
    assert isinstance(cells, list)
    found = [(each["cell_type"], "".join(each["source"])) for each in cells]
    assert found[1:] == [
        ("markdown", "Words with a link and one [outside](https://example.org)."),
        ("code", "%%writefile study.toml\n[data]"),
        ("code", "print(1)"),
        ("markdown", "![x](a.svg)"),
        ("code", "!discreet publish a    b"),
    ]


def test_every_recipe_is_a_valid_notebook_with_a_link_to_it(tmp_path: Path) -> None:
    import nbformat

    write_notebooks(PROJECT / "docs" / "cookbook", tmp_path)
    made = sorted((tmp_path / "cookbook" / "notebooks").glob("*.ipynb"))
    recipes = [path for path in (PROJECT / "docs" / "cookbook").glob("*.md") if is_recipe(f"cookbook/{path.stem}")]
    assert [path.stem for path in made] == sorted(path.stem for path in recipes)
    for path in made:
        nbformat.validate(json.loads(path.read_text("utf-8")))
    shown = link_to_notebook("cookbook/mean", (PROJECT / "docs" / "cookbook" / "mean.md").read_text("utf-8"))
    assert 'href="notebooks/mean.ipynb" download' in shown.split("##")[0]


def test_words_to_search_for_lead_to_pages_that_are_there() -> None:
    assert all((PROJECT / "docs" / f"{page}.md").exists() for page in SYNONYMS)
    words = [word for listed in SYNONYMS.values() for word in listed]
    assert len(words) == len(set(words))
    assert all("," not in word and ";" not in word for word in words)  # these part entries
    assert "! k-anonymity" in index_entries("comparison")
    assert index_entries("no page") == ""


def test_signatures_name_types_as_people_do() -> None:
    seen = (
        "(a: ~numpy.ndarray[tuple[~typing.Any, ...], ~numpy.dtype[~numpy.int64]], "
        "b: ~discreet.release._release.Release, c: dict = <factory>)"
    )
    public = {"discreet.release._release.Release": "discreet.Release"}
    assert readable_types(seen, public) == "(a: ndarray[int64], b: ~discreet.Release, c: dict = ...)"
    assert readable_types(None, public) is None
    assert places_of_names()["discreet.release._release.Release"] == "discreet.Release"


def test_what_goes_in_and_out_is_shown_as_lists() -> None:
    lines = [
        "Do it.",
        "",
        "Args:",
        "    a: one",
        "        and more `x",
        "        y`.",
        "",
        "Returns:",
        "    what it is.",
    ]
    assert as_restructured_text(lines)[2:] == [
        *(".. rubric:: Parameters", "", "- ``a``: one and more ``x y``.", "", ".. rubric:: Returns", "", "What it is."),
        "",
    ]
