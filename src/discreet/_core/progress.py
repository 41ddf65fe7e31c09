"""Progress of long work: a bar in a terminal or a notebook, and nothing anywhere else.

Only work on public things (plans, simulated studies, inference) is shown; counting and publishing records never is,
as its speed could reveal something about somebody. A bar appears after a moment, so that quick work shows
none, and goes away when the work is done. Of work inside other work only the outer is shown. `DISCREET_PROGRESS=off` in
the environment silences all of it.
"""

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from html import escape
from threading import current_thread, main_thread
from time import monotonic
from typing import Any, ClassVar, Protocol, Self, TypeVar

Item = TypeVar("Item")

PATIENCE = 1.5
"""Seconds after which a bar appears."""
_OFTEN = 0.2  # seconds between two changes of a bar in a notebook


class Bar(Protocol):
    """What shows how far work has come."""

    def show(self, words: str, done: int, total: int) -> None:
        """Show how many of all steps are done."""

    def close(self) -> None:
        """Take the bar away."""


class TerminalBar:
    """A bar of rich on standard error, so that what is printed can still be piped."""

    def __init__(self, words: str = "") -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

        words_column = TextColumn("{task.description}", markup=False)
        columns = (words_column, BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
        self._progress = Progress(*columns, console=Console(stderr=True), transient=True)
        self._task = self._progress.add_task(words, total=None)
        if words:
            self._progress.start()

    def show(self, words: str, done: int, total: int) -> None:
        """Show how many of all steps are done."""
        self._progress.start()
        self._progress.update(self._task, description=words, completed=done, total=total)

    def close(self) -> None:
        """Take the bar away."""
        self._progress.stop()


class NotebookBar:
    """A bar of HTML in the output of a notebook's cell; it needs no widgets."""

    def __init__(self) -> None:
        self._handle: Any = None
        self._changed = 0.0

    def show(self, words: str, done: int, total: int) -> None:
        """Show how many of all steps are done."""
        if monotonic() < self._changed + _OFTEN:
            return
        self._changed = monotonic()
        from IPython.display import HTML, display

        words = f'<progress max="{total}" value="{done}"></progress> {escape(words)}: {done} of {total}'
        bar = HTML(words)  # type: ignore[no-untyped-call]
        if self._handle is None:
            self._handle = display(bar, display_id=True)  # type: ignore[no-untyped-call]
        else:
            self._handle.update(bar)

    def close(self) -> None:
        """Take the bar away."""
        from IPython.display import HTML

        if self._handle is not None:
            self._handle.update(HTML(""))  # type: ignore[no-untyped-call]


class StepCounter:
    """Work that counts its steps: `with StepCounter("Reading", 80) as steps: ...; steps.done(40)`."""

    around: ClassVar[Bar | None] = None
    """The bar of a whole command, on which the long work inside it is shown."""
    _is_shown: ClassVar[bool] = False

    def __init__(self, words: str, total: int) -> None:
        self._words, self._total = words, total
        self._bar: Bar | None = None
        self._start = monotonic()

    def __enter__(self) -> Self:
        if not StepCounter._is_shown:
            self._bar = StepCounter.around or bar_here()
            StepCounter._is_shown = self._bar is not None
        return self

    def done(self, number: int) -> None:
        """Set how many steps are done in all."""
        if self._bar is not None and monotonic() > self._start + PATIENCE:
            with suppress(OSError, ValueError):  # a screen that is gone stops no work
                self._bar.show(self._words, number, self._total)

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            StepCounter._is_shown = False
            if self._bar is not StepCounter.around:
                with suppress(OSError, ValueError):
                    self._bar.close()


@contextmanager
def working(words: str, silent: bool = False) -> Iterator[None]:
    """Show in a terminal that a command is at work, and how far the long parts of it have come."""
    bar = None if silent or not is_terminal() else TerminalBar(words)
    StepCounter.around, StepCounter._is_shown = bar, bar is None
    try:
        yield
    finally:
        StepCounter.around, StepCounter._is_shown = None, False
        if bar is not None:
            bar.close()


def shown(items: Iterable[Item], words: str, total: int) -> Iterator[Item]:
    """Yield items one by one, and show how many are done.

    >>> sum(shown([1, 2, 3], "Adding", 3))
    6
    """
    with StepCounter(words, total) as steps:
        for number, item in enumerate(items, start=1):
            yield item
            steps.done(number)


def bar_here() -> Bar | None:
    """Return the bar that suits this terminal or notebook; none where nobody looks on."""
    if is_off() or current_thread() is not main_thread():  # a server's threads have no screen
        return None
    if is_notebook():
        return NotebookBar()
    return TerminalBar() if is_terminal() else None


def is_off() -> bool:
    """Return whether the environment asks for silence."""
    return os.environ.get("DISCREET_PROGRESS", "").lower() in ("off", "0", "no")


def is_terminal() -> bool:
    """Return whether somebody looks at standard error."""
    try:
        return sys.stderr.isatty() and not is_off()
    except (AttributeError, ValueError):  # no such stream, or one that is closed
        return False


def is_notebook() -> bool:
    """Return whether a notebook's kernel runs this; nothing is imported to find out."""
    shell = sys.modules.get("IPython")
    return shell is not None and getattr(shell.get_ipython(), "kernel", None) is not None
