"""Docstrings of the library as pages: plain text in, reStructuredText out.

The docstrings are written for the eye, with backticks around code, equations indented, and doctests; `|u|`, `*` and `_`
are mathematics in them. So everything is escaped except code between backticks, lists, tables, doctests and equations.
"""

import inspect
import re
from collections.abc import Mapping

_CODE = re.compile(r"``?([^`]+)``?")
_EMPHASIS = re.compile(r"(?<![\w*])\*([A-Za-z][\w ,-]*)\*(?![\w*])")
_SECTIONS = {"Args:": "Parameters", "Returns:": "Returns", "Raises:": "Raises"}
_NAMED = re.compile(r"^    (\*{0,2}\w+): (.*)$")
_ITEM = re.compile(r"^(\s*)(-|\d+\.) (.*)$")


_ARRAY_LIKE = (
    r"~numpy\._typing\._array_like\._Buffer \| .+?~numpy\._typing\._nested_sequence\._NestedSequence"
    r"\[(?:complex \| bytes \| str|int|float)[^\]]*\]"
)
_ARRAY = r"~numpy\.ndarray\[tuple\[~typing\.Any, \.\.\.\], ~numpy\.dtype\[(?:~numpy|~typing)\.(\w+)\]\]"
_SIMPLER = (
    (re.compile(_ARRAY_LIKE), "ArrayLike"),
    (re.compile(_ARRAY), r"ndarray[\1]"),
    (re.compile(r"~discreet\.mechanism\._model\.ModelT"), "~discreet.mechanism.Model"),
    (re.compile(r"~discreet\.inference\._infer\.AnyPosterior"), "~discreet.inference.Posterior"),
    (re.compile(r"<factory>|\{<class [^}]*\}|<object object[^>]*>"), "..."),
)
_FULL_NAME = re.compile(r"~(discreet[\w.]*)")


def readable_types(signature: str | None, public: Mapping[str, str]) -> str | None:
    """Return a signature without the inside of numpy, in which names of the library are those that have a page."""
    if signature is None:
        return None
    for long, short in _SIMPLER:
        signature = long.sub(short, signature)
    return _FULL_NAME.sub(lambda name: f"~{public.get(name[1], name[1])}", signature)


def summary(what: object) -> str:
    """Return the first sentence of a docstring, on one line; values have none of their own."""
    if not (inspect.isclass(what) or inspect.isroutine(what) or inspect.ismodule(what)):
        return ""
    first = (inspect.getdoc(what) or "").split("\n\n")[0]
    return " ".join(first.split())


def escaped(text: str) -> str:
    """Return a line in which only code between backticks and words between single stars are markup."""
    parts, end = [], 0
    for found in _CODE.finditer(text):
        parts += [_plain(text[end : found.start()]), f"``{found.group(1)}``"]
        if found.end() < len(text) and text[found.end()].isalnum():
            parts.append("\\ ")  # markup must end before a letter begins
        end = found.end()
    return "".join([*parts, _plain(text[end:])])


def _plain(text: str) -> str:
    parts, end = [], 0
    for found in _EMPHASIS.finditer(text):
        parts += [_without_markup(text[end : found.start()]), f"*{found.group(1)}*"]
        end = found.end()
    return "".join([*parts, _without_markup(text[end:])])


def _without_markup(text: str) -> str:
    return re.sub(r"([\\*|_`])", r"\\\1", text)


def as_restructured_text(lines: list[str]) -> list[str]:
    """Return the lines of a docstring as reStructuredText, block by block; blocks are parted by empty lines."""
    found: list[str] = []
    for block in "\n".join(lines).strip("\n").split("\n\n"):
        found += [*_block(block.strip("\n").split("\n")), ""]
    return found


def _section(title: str, lines: list[str]) -> list[str]:
    """Return what goes in, comes out or goes wrong: a heading, and its names as a list."""
    items: list[tuple[str, str]] = []
    for line in lines:
        named = _NAMED.match(line)
        if named:
            items.append((f"- ``{named[1]}``: ", named[2]))
        elif items:
            items[-1] = items[-1][0], f"{items[-1][1]} {line.strip()}"
        else:
            items.append(("", line.strip()[:1].upper() + line.strip()[1:]))
    return [f".. rubric:: {title}", "", *(name + escaped(words) for name, words in items)]


def _block(lines: list[str]) -> list[str]:
    if lines[0] in _SECTIONS:
        return _section(_SECTIONS[lines[0]], lines[1:])
    if lines[0].lstrip().startswith(">>>"):
        return lines
    if all(line.startswith("    ") or not line for line in lines):
        return ["::", "", *lines]
    if lines[0].startswith("|") and lines[0].endswith("|"):
        return ["::", "", *("    " + line for line in lines)]
    found: list[str] = []
    for line in lines:
        item = _ITEM.match(line)
        if item:
            found += [*([""] if found and not _ITEM.match(found[-1]) else []), f"{item[1]}{item[2]} {escaped(item[3])}"]
        else:
            found.append(escaped(line))
    return found
