"""The declared names that a misspelt one probably meant. Only declared names are ever suggested, never data."""

from collections.abc import Iterable
from difflib import get_close_matches


def meant(name: object, declared: Iterable[object]) -> str:
    """Return a question that names the nearest declared names, or nothing if none is near.

    >>> meant("smokng", ["smoking", "age"])
    " Did you mean 'smoking'?"
    >>> meant("income", ["smoking", "age"])
    ''
    """
    texts = {str(each).casefold(): str(each) for each in declared}
    near = get_close_matches(str(name).casefold(), texts, n=3, cutoff=0.7)
    return f" Did you mean {' or '.join(repr(texts[each]) for each in near)}?" if near else ""
