"""Releases that are read together: of the same counts, or of a table or graph and margins of its tables."""

from collections.abc import Sequence

from discreet.errors import DeclarationError
from discreet.mechanisms import sized
from discreet.models.model import Model, tables_of
from discreet.reading.problem import are_same
from discreet.reading.published import Published


def widest_first(releases: Sequence[Published]) -> list[Published]:
    """Return releases of the same records, one whose tables hold those of all others first; refuse any others."""
    for place, release in enumerate(releases):
        if all(are_same(other, release) or _are_margins(other.model, release.model) for other in releases):
            found = [release, *releases[:place], *releases[place + 1 :]]
            break
    else:
        found = list(releases)
    first = found[0]
    for other in releases:
        facts = [(sized(r.mechanism).size, r.simulated) for r in (first, other)]
        if facts[0] != facts[1] or not (are_same(other, first) or _are_margins(other.model, first.model)):
            raise DeclarationError(
                f"{first.label!r} and {other.label!r} do not publish the same counts, moments of the same records, or "
                "a table and its margins: their columns, levels, graphs or sizes differ, or only one of them is "
                "simulated. Nothing was read."
            )
    return found


def _are_margins(model: Model, around: Model) -> bool:
    """Tell whether every table of a model is a margin of a table of another one."""
    wide, own = [set(table) for table in tables_of(around)], tables_of(model)
    return bool(own) and all(any(set(table) <= each for each in wide) for table in own)
