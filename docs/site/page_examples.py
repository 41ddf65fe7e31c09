"""Examples on pages: the blocks of a page, run in order in the folder one stands in.

    python docs/site/page_examples.py docs/cookbook/*.md

writes what each block printed into the `text` block below it, and the pictures that a page shows into the folder where
the page looks for them.

What a page shows can be drawn again: while a page is written, its noise comes from a seed, the CRC-32 of the page's
file name. The rule leaves nothing to choose, so nobody can draw until the figures look good. Only this tool does that,
from outside: the library has no such switch, and the tests run the same blocks with secure bits, as users do.

A `python` block is run. On pages of the cookbook and in the tutorial, lines of a `sh` block that call `discreet` are
run as well (with `# exit code 3` behind them, they must be refused so), and a `toml` block whose first line is
`# NAME.toml` is written to that file.
"""

import contextlib
import io
import os
import re
import shlex
import shutil
import sys
import tempfile
import warnings
import zlib
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

FENCED = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PRINTED = re.compile(r"\A\n\n```text\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_PICTURE = re.compile(r"!\[[^\]]*\]\((images/[^)]+)\)")
_EXIT = re.compile(r"# exit code (\d)$")
FILE = re.compile(r"\A# (\S+\.toml)\n")


def run_python(page: str, number: int, block: str, names: dict[str, object]) -> None:
    """Run one block of Python, with warnings as errors."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("default", "Pooling draws")  # said to everyone who pools, whatever the records
        exec(compile(block, f"{page}, block {number}", "exec"), names)


def run_commands(block: str) -> None:
    """Run the lines of a shell block that call `discreet`, in this process."""
    from discreet.cli._main import main

    for line in block.replace("\\\n", " ").splitlines():
        if line.startswith("discreet "):
            code = 0
            try:
                main(shlex.split(line, comments=True)[1:], standalone_mode=False)
            except SystemExit as stop:
                code = int(stop.code or 0)
            wanted = _EXIT.search(line)
            assert code == (int(wanted[1]) if wanted else 0), f"{line!r} ended with {code}"


def write_file(block: str) -> None:
    """Write a block that names its file in the first line."""
    if named := FILE.match(block):
        Path(named[1]).write_text(block)


def seed_of(page: Path) -> int:
    """Return the seed that a page is drawn with: the CRC-32 of its file name."""
    return zlib.crc32(page.name.encode())


@contextlib.contextmanager
def repeatable_noise(seed: int) -> Iterator[None]:
    """Let what is published inside the block be drawn by a seed. For figures on pages only: this is not private."""
    from discreet.noise.randomness._samplers import SeededBits, SystemBits

    seeded = SeededBits(seed)
    with patch.object(SystemBits, "words", lambda _, count: seeded.words(count)):
        yield


def run_page(page: Path) -> Iterator[tuple[re.Match[str], str]]:
    """Run the blocks of a page; yield each, once it has run, with what it printed."""
    names: dict[str, object] = {"__name__": "example"}
    is_recipe = page.parent.name == "cookbook" or page.name == "tutorial.md"
    for number, found in enumerate(FENCED.finditer(page.read_text("utf-8")), start=1):
        kind, block = found.groups()
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            if kind == "python":
                run_python(page.name, number, block, names)
            elif kind == "sh" and is_recipe:
                run_commands(block)
            elif kind == "toml" and is_recipe:
                write_file(block)
            else:
                continue
        yield found, printed.getvalue()


def written_anew(page: Path) -> str:
    """Run a page in an empty folder by its seed, and return its text with what was printed; its pictures are kept."""
    page = page.resolve()
    text, here = page.read_text("utf-8"), Path.cwd()
    parts, end = [], 0
    with tempfile.TemporaryDirectory() as folder, repeatable_noise(seed_of(page)):
        os.chdir(folder)
        try:
            for found, printed in run_page(page):
                parts.append(text[end : found.end()])
                end = found.end()
                if shown := PRINTED.match(text[end:]):
                    lines = "\n".join(line.rstrip() for line in printed.strip("\n").splitlines())
                    parts.append(f"\n\n```text\n{lines}\n```")
                    end += shown.end()
            for picture in _PICTURE.findall(text):
                if (made := Path(picture).name) and Path(made).exists():
                    (page.parent / picture).parent.mkdir(exist_ok=True)
                    shutil.copy(made, page.parent / picture)
        finally:
            os.chdir(here)
    return "".join([*parts, text[end:]])


if __name__ == "__main__":
    for name in sys.argv[1:]:
        Path(name).write_text(written_anew(Path(name)), "utf-8")
        print(name)
