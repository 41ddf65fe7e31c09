"""Turn whatever a user holds into a source."""

from collections.abc import Mapping
from typing import Any

from discreet.sources.frames import FrameSource
from discreet.sources.lists import ListSource


def as_source(data: Any) -> Any:
    """Return a source: one that is a source already, a frame of any engine, or a mapping from names to lists."""
    if hasattr(data, "count_families"):
        return data
    return ListSource(data) if isinstance(data, Mapping) else FrameSource(data)
