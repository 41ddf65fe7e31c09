"""Canonical JSON: one text for one document, and strict reading.

Keys are sorted, there is no white space, numbers are finite, and a document with a repeated key is refused, so that two
programs can never read the same text differently.
"""

import json
from typing import Any

from discreet.errors import DocumentError


def canonical_json(document: Any) -> str:
    """Return the one canonical text of a document.

    >>> canonical_json({"b": 1, "a": [1.5, "x"]})
    '{"a":[1.5,"x"],"b":1}'
    """
    return json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def read_json(text: str) -> Any:
    """Read JSON, refusing repeated keys, NaN and infinities."""
    try:
        return json.loads(text, object_pairs_hook=_without_repetition, parse_constant=_no_constant)
    except (ValueError, RecursionError, TypeError) as problem:
        raise DocumentError(f"This is not a JSON document that can be read: {str(problem).rstrip('.')}.") from None


def _without_repetition(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    keys = [key for key, _ in pairs]
    if len(set(keys)) < len(keys):
        raise DocumentError("A key stands twice in the same object.")
    return dict(pairs)


def _no_constant(name: str) -> None:
    raise DocumentError(f"{name} is not a number that a document may hold.")
