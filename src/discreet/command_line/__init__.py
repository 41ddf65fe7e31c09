"""The command line: from a file and a declared study to a release and a picture, without writing Python."""

from discreet.command_line.main import main

__all__ = ["main"]
