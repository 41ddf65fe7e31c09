"""Commands that are loaded when they are called, from this package and from others that are installed beside it.

`discreet --help` shows a line about each command without loading any. A command of this package is a `Command`: where
to find it, and that line. Another distribution adds a command by an entry point in the group `discreet.commands`, and
its line is the summary of that distribution. An entry point cannot replace a command of this package.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, ClassVar, cast

import click

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

ENTRY_POINTS = "discreet.commands"
KNOWN_ELSEWHERE = {"distinguish": "discreet-papers", "reproduce": "discreet-papers"}
"""Our commands in other distributions, so that one that is not installed can be told from one that is misspelt."""


@dataclass(frozen=True)
class Command:
    """A command: the module and the name of its function or group, and one line that says what it does."""

    module: str
    name: str
    line: str

    def load(self) -> click.Command:
        """Return the command itself."""
        return cast(click.Command, getattr(import_module(self.module), self.name))


class CommandsOnDemand(click.Group):
    """A group that loads a command only when it is called. A subclass lists its commands in `on_demand`."""

    on_demand: ClassVar[Mapping[str, Command]] = {}

    def list_commands(self, context: click.Context) -> list[str]:
        """Return the names of all commands, including those of other distributions, without loading any."""
        return sorted({*super().list_commands(context), *self.on_demand, *_added()})

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        """Load one command."""
        if name in self.on_demand:
            return self.on_demand[name].load()
        known = super().get_command(context, name)
        return known if known is not None or name not in _added() else _loaded(_added()[name])

    def resolve_command(
        self, context: click.Context, words: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find a command, and say what to install if it belongs to a distribution that is not installed."""
        name = words[0] if words else ""
        if name in KNOWN_ELSEWHERE and name not in self.list_commands(context):
            raise click.ClickException(_refusal(name, KNOWN_ELSEWHERE[name]))
        return super().resolve_command(context, words)

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        """Write a line about each command."""
        width = formatter.width - 6 - max(map(len, self.list_commands(context)))
        lines = [(name, self._line(context, name, width)) for name in self.list_commands(context)]
        with formatter.section("Commands"):
            formatter.write_dl(lines)

    def _line(self, context: click.Context, name: str, width: int) -> str:
        if name in self.on_demand:
            return self.on_demand[name].line
        known = super().get_command(context, name)
        return known.get_short_help_str(width) if known is not None else _summary(_added()[name])


def _added() -> "dict[str, EntryPoint]":
    """Return the commands of other distributions."""
    from importlib.metadata import entry_points  # slow to import

    return {found.name: found for found in entry_points(group=ENTRY_POINTS)}


def _summary(found: "EntryPoint") -> str:
    return (found.dist.metadata["Summary"] if found.dist is not None else None) or f"From {found.value}."


def _loaded(found: "EntryPoint") -> click.Command:
    """Load the command of another distribution; one that cannot be loaded is refused in words."""
    origin = found.dist.name if found.dist is not None else found.value
    try:
        command = found.load()
    except (ImportError, AttributeError) as problem:
        raise click.ClickException(
            f"The command {found.name!r} of {origin} could not be loaded: {problem}. Nothing was done. "
            f"Install {origin} again, in the version that belongs to this discreet."
        ) from None
    if not isinstance(command, click.Command):
        raise click.ClickException(f"{origin} announces {found.name!r}, which is not a command. Nothing was done.")
    return command


def _refusal(name: str, distribution: str) -> str:
    return (
        f"`discreet {name}` is in a distribution of its own, {distribution}, which is not installed. "
        f"Nothing was done. Install it with: pip install {distribution}, "
        "or from a checkout of the source: pip install ./papers"
    )
