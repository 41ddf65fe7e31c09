"""Expressions of derived columns, from text to a tree: `weight / (height * height)`, `days(born, admitted) / 365.25`.

The language is small and total: arithmetic, comparisons, and/or/not, case, coalesce, membership in a list, and a fixed
list of functions. There are no loops, no names that could be defined, and no code: a tree has a size that is known
before any record is read. What a tree means is said in `_expressions`.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from discreet._core.errors import DeclarationError

MOST_LETTERS, MOST_NESTED, DEEPEST = 20_000, 40, 60
"""How long an expression may be, how many brackets may be open at once, and how many operations may wait for each
other, as in a + b + c + ..."""


@dataclass(frozen=True)
class Node:
    """A part of an expression."""

    def parts(self) -> "tuple[Node, ...]":
        """Return the parts that it is made of."""
        return ()


@dataclass(frozen=True)
class Literal(Node):
    """A number, a text, or a truth value."""

    value: float | str | bool


@dataclass(frozen=True)
class Name(Node):
    """A column, stored or derived."""

    name: str


@dataclass(frozen=True)
class Call(Node):
    """A function or an operator, and what it is applied to."""

    function: str
    arguments: tuple[Node, ...]

    def parts(self) -> tuple[Node, ...]:
        return self.arguments


@dataclass(frozen=True)
class Case(Node):
    """The value of the first condition that is true; without one the last value, or a missing one."""

    branches: tuple[tuple[Node, Node], ...]
    otherwise: Node | None

    def parts(self) -> tuple[Node, ...]:
        last = () if self.otherwise is None else (self.otherwise,)
        return (*(part for branch in self.branches for part in branch), *last)


FUNCTIONS = {
    "abs": (1, 1), "floor": (1, 1), "ceiling": (1, 1), "round": (1, 1), "sqrt": (1, 1),
    "least": (2, 20), "greatest": (2, 20), "coalesce": (2, 20),
    "days": (2, 2), "months": (2, 2), "years": (2, 2), "year": (1, 1), "month": (1, 1), "weekday": (1, 1),
    "number": (1, 1), "text": (1, 1), "day": (1, 1), "truth": (1, 1), "lookup": (2, 2),
}  # fmt: skip
"""The functions, and how many arguments each takes at least and at most."""
COMPARISONS = ("=", "<>", "<", "<=", ">", ">=")
_WORDS = frozenset(["and", "or", "not", "in", "is", "missing", "case", "when", "then", "else", "end", "true", "false"])
_TOKENS = re.compile(
    r"\s*(?:(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)|(?P<text>'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\")"
    r"|(?P<quoted>`(?:[^`]|``)+`)|(?P<word>[^\W\d]\w*)|(?P<mark><=|>=|<>|!=|==|[-+*/()<>=,]))"
)
Token = tuple[str, str]


def parse(text: str) -> Node:
    """Return the tree of an expression, or say in words where it is wrong.

    >>> parse("1 + x")
    Call(function='+', arguments=(Literal(value=1.0), Name(name='x')))
    """
    if not isinstance(text, str) or not text.strip():
        raise DeclarationError("An expression must be a text that is not empty, such as 'weight / (height * height)'.")
    if len(text) > MOST_LETTERS:
        raise DeclarationError(f"An expression may have {MOST_LETTERS:,} letters; this one has {len(text):,}.")
    tree = _Reader(text).whole()
    if _depth(tree) > DEEPEST:
        raise DeclarationError(f"The expression has more than {DEEPEST} operations in a row. Derive its parts first.")
    return tree


def _depth(tree: Node) -> int:
    """Return how many parts of parts there are; level by level, as a long sum is deep."""
    found, level = 0, [tree]
    while level and found <= DEEPEST:
        found, level = found + 1, [part for node in level for part in node.parts()]
    return found


class _Reader:
    """Reads an expression from left to right, one rule of the grammar for each method, loosest first."""

    def __init__(self, text: str) -> None:
        self._tokens: list[Token] = [*_tokens(text), ("end", "")]
        self._place, self._depth = 0, 0

    def whole(self) -> Node:
        found = self._or()
        if self._kind != "end":
            raise DeclarationError(f"The expression goes on with {self._shown} where it should end.")
        return found

    @property
    def _kind(self) -> str:
        return self._tokens[self._place][0]

    @property
    def _value(self) -> str:
        return self._tokens[self._place][1]

    @property
    def _shown(self) -> str:
        return "its end" if self._kind == "end" else repr(self._value)

    def _is(self, *words: str) -> bool:
        return self._kind in ("word", "mark") and self._value in words

    def _taken(self, *words: str) -> str | None:
        """Go on if one of these comes next, and return which."""
        if not self._is(*words):
            return None
        self._place += 1
        return self._tokens[self._place - 1][1]

    def _require(self, word: str, what: str) -> None:
        if self._taken(word) is None:
            raise DeclarationError(f"{what} needs {word!r}, and {self._shown} stands there.")

    def _or(self) -> Node:
        self._depth += 1
        if self._depth > MOST_NESTED:
            raise DeclarationError(
                f"More than {MOST_NESTED} brackets are open at once in the expression. Derive its parts first."
            )
        found = self._and()
        while self._taken("or"):
            found = Call("or", (found, self._and()))
        self._depth -= 1
        return found

    def _and(self) -> Node:
        found = self._not()
        while self._taken("and"):
            found = Call("and", (found, self._not()))
        return found

    def _not(self) -> Node:
        nots = 0
        while self._taken("not"):
            nots += 1
        found = self._comparison()
        for _ in range(nots % 2):
            found = Call("not", (found,))
        return found

    def _comparison(self) -> Node:
        found = self._sum()
        while True:
            if mark := self._taken("=", "==", "<>", "!=", "<", "<=", ">", ">="):
                found = Call({"==": "=", "!=": "<>"}.get(mark, mark), (found, self._sum()))
            elif self._taken("is"):
                negated = self._taken("not") is not None
                self._require("missing", "'is'")
                found = _negated(Call("missing", (found,)), negated)
            elif self._is("in", "not"):
                negated = self._taken("not") is not None
                self._require("in", "'not' after a value")
                found = _negated(self._member_of(found), negated)
            else:
                return found

    def _member_of(self, item: Node) -> Node:
        self._require("(", "'in'")
        options = self._listed()
        if not options or not all(isinstance(option, Literal) for option in options):
            raise DeclarationError("'in' needs a list of numbers or texts, such as code in ('I21', 'I22').")
        return Call("in", (item, *options))

    def _listed(self) -> tuple[Node, ...]:
        """Read what stands between an opened bracket and its end."""
        found: list[Node] = []
        if self._taken(")"):
            return ()
        while True:
            found.append(self._or())
            if self._taken(")"):
                return tuple(found)
            self._require(",", "A list")

    def _sum(self) -> Node:
        found = self._product()
        while mark := self._taken("+", "-"):
            found = Call(mark, (found, self._product()))
        return found

    def _product(self) -> Node:
        found = self._signed()
        while mark := self._taken("*", "/"):
            found = Call(mark, (found, self._signed()))
        return found

    def _signed(self) -> Node:
        is_negative = False
        while mark := self._taken("+", "-"):
            is_negative ^= mark == "-"
        found = self._single()
        if not is_negative:
            return found
        is_number = isinstance(found, Literal) and isinstance(found.value, float)
        return Literal(-float(found.value)) if is_number else Call("negative", (found,))  # type: ignore[attr-defined]

    def _single(self) -> Node:
        kind, value = self._tokens[self._place]
        if kind == "end":
            raise DeclarationError("The expression ends where a column, a number or a text should stand.")
        self._place += 1
        if kind == "number":
            return Literal(float(value))
        if kind == "text":
            return Literal(value[1:-1].replace(value[0] * 2, value[0]))
        if kind == "quoted":
            return Name(value[1:-1].replace("``", "`"))
        if value == "(":
            found = self._or()
            self._require(")", "An open bracket")
            return found
        if value in ("true", "false"):
            return Literal(value == "true")
        if value == "case":
            return self._case()
        if kind == "mark" or value in _WORDS:
            raise DeclarationError(f"{value!r} stands where a column, a number or a text should be.")
        return self._called(value) if self._taken("(") else Name(value)

    def _called(self, function: str) -> Node:
        if function not in FUNCTIONS:
            raise DeclarationError(f"There is no function {function!r}. Functions are {', '.join(sorted(FUNCTIONS))}.")
        arguments = self._listed()
        least, most = FUNCTIONS[function]
        if not least <= len(arguments) <= most:
            wanted = str(least) if least == most else f"{least} to {most}"
            raise DeclarationError(f"{function} takes {wanted} arguments; it is given {len(arguments)}.")
        return Call(function, arguments)

    def _case(self) -> Node:
        branches: list[tuple[Node, Node]] = []
        while self._taken("when"):
            condition = self._or()
            self._require("then", "'when'")
            branches.append((condition, self._or()))
        if not branches:
            raise DeclarationError("'case' needs 'when CONDITION then VALUE', at least once.")
        otherwise = self._or() if self._taken("else") else None
        self._require("end", "'case'")
        return Case(tuple(branches), otherwise)


def _negated(node: Node, is_negated: bool) -> Node:
    return Call("not", (node,)) if is_negated else node


def _tokens(text: str) -> Iterator[Token]:
    place, end = 0, len(text.rstrip())
    while place < end:
        found = _TOKENS.match(text, place)
        if found is None:
            raise DeclarationError(
                f"The expression has {text[place:].lstrip()[:12]!r}, which is no column, number, text or operator. A "
                "column whose name is no plain word stands in `backquotes`, a text in 'quotes'."
            )
        kind = str(found.lastgroup)
        value = found[kind]
        yield kind, value.casefold() if kind == "word" and value.casefold() in _WORDS else value
        place = found.end()


_LEVELS = {"or": 1, "and": 2, "not": 3} | dict.fromkeys((*COMPARISONS, "in", "missing"), 4)
_LEVELS |= {"+": 5, "-": 5, "*": 6, "/": 6, "negative": 7}


def written(node: Node, around: int = 0) -> str:
    """Return an expression in its one canonical spelling.

    >>> written(parse("( weight/(height*height)  )>=30 and NOT smoker"))
    'weight / (height * height) >= 30 and not smoker'
    """
    if isinstance(node, Literal):
        return _literal(node.value)
    if isinstance(node, Name):
        is_plain = re.fullmatch(r"[^\W\d]\w*", node.name) and node.name.casefold() not in _WORDS
        return node.name if is_plain else f"`{node.name.replace('`', '``')}`"
    if isinstance(node, Case):
        branches = "".join(f" when {written(test)} then {written(value)}" for test, value in node.branches)
        last = "" if node.otherwise is None else f" else {written(node.otherwise)}"
        return f"case{branches}{last} end"
    assert isinstance(node, Call)
    own = _LEVELS.get(node.function, 9)
    return f"({_call(node, own)})" if own < around else _call(node, own)


def _call(node: Call, own: int) -> str:
    name, arguments = node.function, node.arguments
    if name in ("not", "negative"):
        return f"{'not ' if name == 'not' else '-'}{written(arguments[0], own + 1)}"
    if name == "missing":
        return f"{written(arguments[0], own + 1)} is missing"
    if name == "in":
        return f"{written(arguments[0], own + 1)} in ({', '.join(map(written, arguments[1:]))})"
    if name in _LEVELS:
        return f"{written(arguments[0], own)} {name} {written(arguments[1], own + 1)}"
    return f"{name}({', '.join(map(written, arguments))})"


def _literal(value: float | str | bool) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return str(int(value)) if value.is_integer() and abs(value) < 2**53 else repr(value)
