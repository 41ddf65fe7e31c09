"""Questions as forms: a model, mechanism or query describes itself as fields, and filled-in fields become keys again.

No kind is listed here. A model states its keys by the parameters of what makes it, and may say in words how each is
asked for (`Asked.keys`); a field's shape follows from the declared type. What is filled in becomes the keys of
[questions.NAME], which the parser of study files reads: it alone decides what is right.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from inspect import Parameter, getdoc
from types import NoneType, UnionType
from typing import Union, get_args, get_origin

from discreet.mechanism import Declared, Key
from discreet.records import text_of
from discreet.study._keys import Made, Maker
from discreet.study._mechanisms import own_maker
from discreet.study._models import asked_models, model_maker
from discreet.study._queries import KINDS

ONE, SEVERAL, TEXT, LIST, TABLE = "one", "several", "text", "list", "table"
"""The shapes of fields: one or several choices, a text, texts with commas or lines between, lines of NAME: TEXT."""
_LISTS, _TABLES = (Sequence, tuple, list), (Mapping, dict)
_YES_OR_NO = ("true", "false")


@dataclass(frozen=True)
class Field:
    """One key as a field of a form. `kinds` are the types that a single value may have."""

    key: str
    words: str
    shape: str
    choices: tuple[str, ...]
    is_needed: bool
    usual: str
    example: str
    is_main: bool
    kinds: frozenset[object]

    def value(self, texts: Sequence[str]) -> object:
        """Return what was filled in, as a study file would hold it; None if the field is empty."""
        given = [text.strip() for text in texts if text.strip()]
        if not given or self.shape == SEVERAL:
            return given or None
        if self.shape == LIST:
            return [self._plain(part.strip()) for part in re.split(r"[,\n]", given[0]) if part.strip()]
        if self.shape == TABLE:
            lines = [line.rpartition(":") for line in given[0].splitlines() if line.strip()]
            return {name.strip(): self._plain(text.strip()) for name, _, text in lines}
        parts = [part.strip() for part in given[0].split(",")]
        if list in self.kinds and len(parts) > 1 and all(map(_is_number, parts)):
            return [float(part) for part in parts]
        return self._plain(given[0])

    def _plain(self, text: str) -> object:
        """Return a text as a number if the key takes no texts; anything else stays a text and is refused later."""
        if bool in self.kinds and text in _YES_OR_NO:
            return text == "true"
        if int in self.kinds and str not in self.kinds and re.fullmatch(r"-?\d{1,18}", text):
            return int(text)
        return float(text) if float in self.kinds and str not in self.kinds and _is_number(text) else text

    def texts(self, value: object) -> list[str]:
        """Return a value of a study file as it would be filled in."""
        if self.shape == SEVERAL:
            return [str(text_of(each)) for each in (value if isinstance(value, list) else [value])]
        if isinstance(value, list):
            return [", ".join(map(str, value))]
        if isinstance(value, dict):
            return ["\n".join(f"{name}: {each}" for name, each in value.items())]
        return [str(value).lower() if isinstance(value, bool) else str(value)]

    def document(self) -> dict[str, object]:
        """Return it as a document for programs."""
        found: dict[str, object] = {"key": self.key, "words": self.words, "shape": self.shape, "needed": self.is_needed}
        more = {"choices": list(self.choices), "usual": self.usual, "example": self.example}
        return found | {name: each for name, each in more.items() if each}


@dataclass(frozen=True)
class Form:
    """What a kind of question asks for."""

    name: str
    title: str
    about: str
    fields: tuple[Field, ...]

    def keys(self, filled: Mapping[str, Sequence[str]]) -> dict[str, object]:
        """Return the keys that were filled in."""
        found = {field.key: field.value(filled.get(field.key, ())) for field in self.fields}
        return {key: value for key, value in found.items() if value is not None}

    def document(self) -> dict[str, object]:
        """Return it as a document for programs."""
        keys = [field.document() for field in self.fields]
        return {"name": self.name, "title": self.title, "about": self.about, "keys": keys}


def model_forms(declared: Declared, files: Iterable[str] = ()) -> dict[str, Form]:
    """Return a form for every model that can be asked for over these declarations; `files` are keys that name files."""
    found = {}
    for name, asked in asked_models().items():
        fields = _fields(model_maker(name, declared), asked.keys, declared, (*files, *asked.called.values()))
        if all(field.choices for field in fields if field.is_needed and field.shape in (ONE, SEVERAL)):
            about = asked.about or _first_line(asked.make)
            found[name] = Form(name, asked.title or name.replace("-", " ").capitalize(), about, fields)
    return dict(sorted(found.items(), key=lambda each: not asked_models()[each[0]].title))


def mechanism_form(written: str) -> Form:
    """Return a form for the own keys of a mechanism; without fields if there is no such mechanism."""
    maker = own_maker(written)
    if maker is None:
        return Form(written, written, "", ())
    fields = _fields(maker, {}, None, ("delta",))
    return Form(written, written, _first_line(maker.make), fields)


def query_forms() -> dict[str, Form]:
    """Return a form for every kind of query that a fresh draw answers."""
    words = {
        "event": Key("Event", example="ward=North, fall=yes"),
        "given": Key("Only among records with", example="ward=North"),
        "values": Key("A number for each event, one in each line", example="fall=yes: 1"),
        "records": Key("Number of further records", example="100"),
    }
    return {
        name: Form(name, name.replace("-", " ").capitalize(), _first_line(kind), _fields(Maker(name, kind, {}), words))
        for name, kind in KINDS.items()
    }


def _fields(
    maker: Maker[Made], words: Mapping[str, Key], declared: Declared | None = None, without: Sequence[str] = ()
) -> tuple[Field, ...]:
    """Return the fields of all keys, those with words first and in their order."""
    order = [key for key in words if key in maker.keys]
    order += [key for key in maker.keys if key not in words and key not in without]
    made = [_field(key, maker.keys[key], words.get(key), declared) for key in order]
    return tuple(field for field in made if field.is_needed or field.choices or field.shape not in (ONE, SEVERAL))


def _field(key: str, parameter: Parameter, words: Key | None, declared: Declared | None) -> Field:
    kinds = _parts(parameter.annotation)
    lists = [each for each in kinds if get_origin(each) in _LISTS]
    tables = [each for each in kinds if get_origin(each) in _TABLES]
    plain = [each for each in kinds if each not in (*lists, *tables)]
    choices: tuple[str, ...] = _YES_OR_NO if plain == [bool] and not lists else ()
    if words is not None and words.among is not None and declared is not None:
        choices = tuple(words.among(declared))
    if choices or (words is not None and words.among is not None):
        shape = SEVERAL if lists else ONE
    else:
        shape = TEXT if plain else LIST if lists else TABLE
    holding = (*lists, *tables) if shape in (LIST, TABLE) else ()
    inside = [part for each in holding for part in _parts(get_args(each)[-1])]
    own = frozenset([*plain, *inside, *([list] if lists and shape == TEXT else [])])
    usual = parameter.default
    is_needed = usual is Parameter.empty
    shown = "" if is_needed or usual is None or usual == () else str(usual)
    named = key.replace("_", " ").capitalize() if words is None else words.words
    example = "" if words is None else words.example
    return Field(key, named, shape, choices, is_needed, shown, example, words is not None or is_needed, own)


def _parts(kind: object) -> list[object]:
    parts = get_args(kind) if get_origin(kind) in (UnionType, Union) else (kind,)
    return [each for each in parts if each is not NoneType]


def _is_number(text: str) -> bool:
    return re.fullmatch(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d{1,3})?", text) is not None


def _first_line(make: Callable[..., object]) -> str:
    return (getdoc(make) or "").split("\n")[0]
