"""The site: Sphinx with furo and MyST over the pages of docs/, and a reference that is made of the docstrings.

    sphinx-build -W --keep-going -c docs/site docs build/site

The pages stay as they are read in the repository. What the site needs beyond them is added while they are read: the
table of contents is made of the headings and links of index.md, and pages at the root of the repository are shown
where docs/ has a page that points to them.
"""

import re
import sys
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.addnodes import desc
from sphinx.application import Sphinx

HERE = Path(__file__).parent
DOCS = HERE.parent.resolve()
sys.path.insert(0, str(HERE))

from api_pages import pages, places_of_names  # noqa: E402 - this folder must be known first
from discreet._core.version import __version__  # noqa: E402
from docstrings import as_restructured_text, readable_types  # noqa: E402
from faster import OnePlaceForEachName, keep_contents  # noqa: E402
from notebooks import is_recipe, link_to_notebook, write_notebooks  # noqa: E402
from synonyms import index_entries  # noqa: E402

project = "discreet"
author = "the authors of discreet"
release = version = __version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.viewcode"]
exclude_patterns = ["site"]
root_doc = "index"

html_theme = "furo"
html_title = f"discreet {__version__}"
html_static_path = ["static"]
html_css_files = ["discreet.css"]
html_js_files = [("pages.js", {"defer": "defer"})]
html_favicon = "static/favicon.svg"
html_search_scorer = str(HERE / "search.js")
html_show_sourcelink = False
html_theme_options = {"sidebar_hide_name": False}
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
pygments_style = "xcode"
pygments_dark_style = "monokai"

myst_heading_anchors = 4
myst_enable_extensions = ["deflist"]
suppress_warnings = ["myst.header"]  # a page of the changelog begins at the second level

highlight_language = "text"  # what names no language is an equation or what a program prints
default_role = "code"
autodoc_member_order = "groupwise"
autodoc_typehints_format = "short"
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 100

_SHOWN = {"CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}
"""Pages at the root of the repository, and the pages of the site that show them."""
_LINK = re.compile(r"\]\(([^)#\s]+)")
_LINK_TO_PAGE = re.compile(r"\[([^\]]+)\]\(([^)#\s:]+\.md)(#[^)\s]*)?\)")
_NAMED_FILE = re.compile(r"^```toml\n# (\S+\.toml)\n", re.MULTILINE)
_GROUPS = {
    "attribute": "Attributes",
    "property": "Attributes",
    "method": "Methods",
    "classmethod": "Methods",
    "staticmethod": "Methods",
}
_PUBLIC = places_of_names()
_BACK_LINK = re.compile(r'<a class="viewcode-back"[^>]*>.*?</a>|<li><a href="builtins.html">.*?</li>', re.DOTALL)
_SECTION = re.compile(r"^### (.+?)\n(.*?)(?=^##)", re.MULTILINE | re.DOTALL)


def write_reference(app: Sphinx) -> None:
    """Write the pages of the API reference, where they differ, and remove those of names that are gone."""
    folder = DOCS / "reference"
    wanted = {folder / f"{place}.rst": text for place, text in pages().items()}
    for path in set(folder.rglob("*.rst")) - set(wanted):
        path.unlink()
    for path, text in wanted.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text("utf-8") != text:
            path.write_text(text, "utf-8")


def read_page(app: Sphinx, page: str, source: list[str]) -> None:
    """Complete a page as it is read: contents, pages of the root, links, names of files, words to search for."""
    folder = (DOCS / page).parent
    for file, place in _SHOWN.items():
        if f"{page}.md" == place:
            source[0] = _LINK.sub(_link_from_root, (DOCS.parent / file).read_text("utf-8"))
    source[0] = _LINK_TO_PAGE.sub(lambda link: _link_within_the_site(folder, link), source[0])
    if page == "index":
        source[0] += "\n\n" + contents(source[0])
    if is_recipe(page):
        source[0] = link_to_notebook(page, source[0])
    if not page.startswith("reference/"):
        source[0] = _NAMED_FILE.sub(r"```{code-block} toml\n:caption: \1\n\n", source[0]) + index_entries(page)


def _link_from_root(link: re.Match[str]) -> str:
    target = link[1]
    if "://" in target:
        return link[0]
    return f"]({target.removeprefix('docs/')}" if target.startswith("docs/") else f"](../{target}"


def _link_within_the_site(folder: Path, link: re.Match[str]) -> str:
    """Return a link to a page of the site; a page of the repository that is not on the site is named in words."""
    text, target, place = link[1], (folder / link[2]).resolve(), link[3] or ""
    if target.is_relative_to(DOCS):
        return link[0]
    in_repository = target.relative_to(DOCS.parent).as_posix()
    if in_repository in _SHOWN:
        return f"[{text}]({'../' * len(folder.relative_to(DOCS).parts)}{_SHOWN[in_repository]}{place})"
    return f"{text} (`{in_repository}` in the repository)"


def contents(index: str) -> str:
    """Return a hidden table of contents for each heading of the third level, of the pages linked below it."""
    found = []
    for title, text in _SECTION.findall(index):
        places = [target.removesuffix(".md") for target in dict.fromkeys(_LINK.findall(text)) if "://" not in target]
        extra = ["reference/index"] if title == "Look up" else []
        found.append("\n".join(["```{toctree}", ":hidden:", f":caption: {title}", "", *places, *extra, "```"]))
    return "\n\n".join(found)


def write_docstring(app: Sphinx, what: str, name: str, thing: object, options: object, lines: list[str]) -> None:
    """Turn a docstring, which is plain text, into what Sphinx reads; a value has none but its own."""
    of_its_type = what == "data" and " ".join(lines).split() == (getattr(thing, "__doc__", None) or "").split()
    lines[:] = [] if of_its_type else as_restructured_text(lines)


def write_signature(
    app: Sphinx, what: str, name: str, thing: object, options: object, signature: str | None, returned: str | None
) -> tuple[str | None, str | None]:
    """Name types as they are written in the library, not as numpy spells them out."""
    return readable_types(signature, _PUBLIC), readable_types(returned, _PUBLIC)


def group_members(app: Sphinx, tree: nodes.document) -> None:
    """Put a heading above the first attribute and the first method of each class."""
    for described in list(tree.findall(desc)):
        group = _GROUPS.get(str(described.get("objtype")))
        before = described.parent.children[: described.parent.index(described)]
        if group and not any(isinstance(other, desc) and _GROUPS.get(other["objtype"]) == group for other in before):
            heading = nodes.rubric("", group, classes=["members"])
            described.parent.insert(described.parent.index(described), heading)


def simplify_sources(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: object) -> None:
    """Leave out links from the source back to the reference: it has many names under those of the front door."""
    if page.startswith("_modules/"):
        context["body"] = _BACK_LINK.sub("", context["body"])


def name_levels(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: object) -> None:
    """Say of which level the headings of the contents are, for those who listen to the page."""
    tree = context.get("furo_navigation_tree", "")
    context["furo_navigation_tree"] = tree.replace('role="heading"', 'role="heading" aria-level="2"')


def take_along(app: Sphinx, failure: Exception | None) -> None:
    """Write the notebooks beside the recipes."""
    if failure is None:
        write_notebooks(DOCS / "cookbook", Path(app.outdir))


def setup(app: Sphinx) -> None:
    """Hang the steps above into the build."""
    app.add_domain(OnePlaceForEachName, override=True)
    app.connect("builder-inited", write_reference)
    app.connect("source-read", read_page)
    app.connect("autodoc-process-docstring", write_docstring)
    app.connect("autodoc-process-signature", write_signature)
    app.connect("doctree-read", group_members)
    app.connect("html-page-context", keep_contents, priority=400)
    app.connect("html-page-context", simplify_sources)
    app.connect("html-page-context", name_levels, priority=900)
    app.connect("build-finished", take_along)
