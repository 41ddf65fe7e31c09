"""Formulas, in one grammar for all models: `income ~ age*ward + age^2`, `falls=yes ~ age + (1 | ward)`, `~ age:ward`.

    formula = [column [= level]] ~ summand + ... + summand
    summand = 1,  (1 | column),  (1 | column, t),  or  term * ... * term       a*b stands for a + b + a:b
    term    = factor : ... : factor                          an interaction
    factor  = column,  column^power,  or  I(column^power)

There is always an intercept, which `1` names. Intercepts of `(1 | column)` vary around it normally, those of
`(1 | column, t)` with the heavy tails of a t distribution. A model refuses what it cannot use: a linear regression has
no intercepts that vary and no level of its target, levels have no powers. Nothing of this comes from the data.
"""

import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import combinations

from discreet._core.errors import DeclarationError

Names = tuple[str, ...]
"""The columns of a term, one to a power as often as the power says."""

_PIECE = re.compile(r"`[^`]*`|[~+:*^()|=]|[^`~+:*^()|=]+")
_SIGNS = frozenset("~+:*^()|=")


@dataclass(frozen=True)
class Formula:
    """What a formula names: the outcome, the level of it that is asked for, terms, and the column of intercepts.

    Each term stands here once, as it is written first. The outcome is empty if nothing is to the left of ~.
    """

    outcome: str
    event: str | None
    terms: tuple[Names, ...]
    varying: str | None
    has_tails: bool = False
    """Whether the intercepts vary with heavy tails, (1 | column, t)."""

    @property
    def covariates(self) -> Names:
        """Return every column on the right, each once: single columns first, that of varying intercepts last."""
        last = () if self.varying is None else (self.varying,)
        return tuple(dict.fromkeys([name for term in sorted(self.terms, key=len) for name in term] + list(last)))

    @property
    def canonical(self) -> str:
        """Return the formula with its terms, and the columns of each, in the order of their names.

        >>> read_formula("falls=yes ~ ward*age + (1 | home)").canonical
        'falls=yes ~ age + age:ward + ward + (1 | home)'
        """
        left = f"{_quoted(self.outcome)} " if self.event is None else f"{_quoted(self.outcome)}={self.event} "
        right = sorted(":".join(map(_quoted, sorted(term))) for term in self.terms)
        tails = ", t" if self.has_tails else ""
        right += [] if self.varying is None else [f"(1 | {_quoted(self.varying)}{tails})"]
        return f"{left.lstrip()}~ {' + '.join(right or ['1'])}"


def read_formula(text: str, declared: Collection[str] = ()) -> Formula:
    """Return what a formula names, or refuse it in words. Odd names stand between backquotes.

    A summand, or a left side, that is the name of a declared column is that column, whatever signs are in it.

    >>> read_formula("income ~ age*ward + age^2 + `blood + sugar`").terms
    (('age',), ('ward',), ('age', 'ward'), ('age', 'age'), ('blood + sugar',))
    >>> read_formula("falls=yes ~ 1 + (1 | ward)")
    Formula(outcome='falls', event='yes', terms=(), varying='ward', has_tails=False)
    >>> read_formula("falls ~ (1 | ward, t)").canonical
    'falls ~ (1 | ward, t)'
    """
    pieces = _PIECE.findall(text) if isinstance(text, str) else []
    if pieces.count("~") != 1 or "".join(pieces) != text:
        raise misread(text, text)
    cut = pieces.index("~")
    outcome, event = _left(pieces[:cut], text, declared)
    terms: dict[Names, Names] = {}
    varying: list[tuple[str, bool]] = []
    for summand in _split([piece.strip() for piece in pieces[cut + 1 :] if piece.strip()], "+", text):
        if summand[:3] == ["(", "1", "|"] and summand[-1] == ")":
            varying.append(_varying(summand[3:-1], text))
            continue
        name = "".join(summand)
        for term in [(name,)] if name in declared else _expanded(summand, text):
            terms.setdefault(tuple(sorted(term)), term)
    if len(varying) > 1:
        raise DeclarationError(f"A formula may have at most one (1 | column); got {len(varying)}.")
    for term in terms.values():
        if missing := [name for name in term if (name,) not in terms]:
            raise DeclarationError(
                f"The formula has {written(term)!r} but not {missing[0]!r} itself, so its meaning would depend on "
                f"where zero lies, or which level is the first. Add '+ {missing[0]}', or write a*b for a + b + a:b."
            )
    return Formula(outcome, event, tuple(terms.values()), *(varying[0] if varying else (None,)))


def misread(formula: object, wrong: object) -> DeclarationError:
    """Return the refusal of a formula, some part of which cannot be read."""
    return DeclarationError(
        "A formula is written as 'income ~ age + education', with a:b for an interaction, a*b for a + b + a:b and "
        f"age^2 for a power; got {formula!r}, where {wrong!r} is none of these. Functions (log(a)), '.', '- 1' and "
        "'0 +' are not supported: there is always an intercept. Put unusual names in backquotes."
    )


def written(term: Sequence[str]) -> str:
    """Return a term as formulas write it.

    >>> written(("age", "age", "ward"))
    'age^2:ward'
    """
    return ":".join(name if times == 1 else f"{name}^{times}" for name, times in Counter(term).items())


def _left(pieces: Sequence[str], formula: str, declared: Collection[str]) -> tuple[str, str | None]:
    """Return the outcome and the level of it that is asked for, which may be any text."""
    whole = "".join(pieces).strip()
    if not whole or whole in declared:
        return whole, None
    if "=" not in pieces:
        return _name(pieces, formula), None
    cut = pieces.index("=")
    level = "".join(pieces[cut + 1 :]).strip()
    if not level:
        raise misread(formula, whole)
    return _name(pieces[:cut], formula), level


def _split(pieces: Sequence[str], sign: str, formula: str) -> list[list[str]]:
    """Return what stands between signs; something must."""
    parts: list[list[str]] = [[]]
    for piece in pieces:
        if piece == sign:
            parts.append([])
        else:
            parts[-1].append(piece)
    if not all(parts):
        raise misread(formula, sign)
    return parts


def _expanded(summand: Sequence[str], formula: str) -> list[Names]:
    """Return the products that a summand stands for: a*b is a, b and a:b."""
    if list(summand) == ["1"]:
        return []
    factors: list[Names] = []
    for part in _split(summand, "*", formula):
        names = [_power(piece, formula) for piece in _split(part, ":", formula)]
        factors.append(sum(names, ()))
    chosen = [some for size in range(1, len(factors) + 1) for some in combinations(factors, size)]
    return [sum(some, ()) for some in chosen]


def _power(pieces: Sequence[str], formula: str) -> Names:
    """Return a name as often as its power says: `age`, `age^2`, or `I(age^2)`."""
    inner = list(pieces)
    if inner[:2] == ["I", "("] and inner[-1] == ")":
        inner = inner[2:-1]
    if len(inner) == 3 and inner[1] == "^" and inner[2] in "123456789":
        return (_name(inner[:1], formula),) * int(inner[2])
    return (_name(inner, formula),)


def _varying(pieces: Sequence[str], formula: str) -> tuple[str, bool]:
    """Return the column of (1 | column) or (1 | column, t), and whether its intercepts have the tails of a t."""
    *before, last = pieces or [""]
    if "," not in last or last.startswith("`"):
        return _name(pieces, formula), False
    name, _, effects = last.rpartition(",")
    if effects.strip() != "t":
        raise DeclarationError(
            f"Intercepts vary as (1 | column), normally, or as (1 | column, t), with heavy tails; got "
            f"'(1 | {''.join(pieces)})'. A name with a comma stands in backquotes."
        )
    return _name([*before, name], formula), True


def _name(pieces: Sequence[str], formula: str) -> str:
    """Return the one name that stands here, without its backquotes."""
    found = [piece.strip().strip("`") for piece in pieces if piece not in _SIGNS and piece.strip()]
    if len(found) != 1 or not found[0] or any(piece in _SIGNS for piece in pieces):
        raise misread(formula, "".join(pieces).strip())
    return found[0]


def _quoted(name: str) -> str:
    return f"`{name}`" if (_SIGNS | {","}) & set(name) else name
