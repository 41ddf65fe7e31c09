"""Where records live: anything that can count declared families of columns, without handing out a row."""

from discreet.sources.files import read
from discreet.sources.frames import FrameSource
from discreet.sources.lists import ListSource
from discreet.sources.source import as_source

__all__ = ["FrameSource", "ListSource", "as_source", "read"]
