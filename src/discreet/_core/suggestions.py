"""The declared names that a misspelt one probably meant. Only declared names are ever suggested, never data."""

from collections.abc import Iterable
from difflib import get_close_matches

_PART = 4  # letters from which a part of a name is meant as such


def meant(name: object, declared: Iterable[object]) -> str:
    """Return a question that names the nearest declared names, or nothing if none is near.

    >>> meant("smokng", ["smoking", "age"])
    " Did you mean 'smoking'?"
    >>> meant("income", ["smoking", "age"])
    ''
    >>> meant("Laplace", ["DiscreteLaplaceCounts", "TreeTable"])
    " Did you mean 'DiscreteLaplaceCounts'?"
    """
    texts = {str(each).casefold(): str(each) for each in declared}
    written = str(name).casefold()
    near = get_close_matches(written, texts, n=3, cutoff=0.7)
    if not near and len(written) >= _PART:
        near = sorted((text for text in texts if written in text), key=len)[:3]
    return f" Did you mean {' or '.join(repr(texts[each]) for each in near)}?" if near else ""
