"""The command line: from a file and a declared study to a release and a picture, without writing Python."""

from discreet.cli._main import main

__all__ = ["main"]
