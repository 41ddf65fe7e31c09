"""Turn whatever a user holds into a source."""

from collections.abc import Mapping

from discreet.sources.frames import FrameSource
from discreet.sources.lists import ListSource


def as_source(data: object) -> FrameSource | ListSource:
    """Return a source for a frame of any engine, or for a mapping from column names to lists."""
    if isinstance(data, FrameSource | ListSource):
        return data
    return ListSource(data) if isinstance(data, Mapping) else FrameSource(data)
