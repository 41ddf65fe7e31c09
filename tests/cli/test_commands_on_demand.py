"""Commands are loaded when they are called, others can be added, and one that is missing says what to install."""

import subprocess
import sys
from importlib import metadata
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from discreet.cli import _commands as commands
from discreet.cli._main import main

CONTEXT = click.Context(main)
OURS = [
    "ask",
    "check",
    "completion",
    "criticise",
    "infer",
    "init",
    "key",
    "ledger",
    "plan",
    "predict",
    "publish",
    "rehearse",
]
OURS += ["serve", "serve-account", "serve-front", "serve-publisher", "synthesize", "verify"]


def installed(monkeypatch: pytest.MonkeyPatch, **places: str) -> None:
    """Pretend that these commands are installed by other distributions, and no others."""
    found = EntryPoints(EntryPoint(name, place, commands.ENTRY_POINTS) for name, place in places.items())
    monkeypatch.setattr(metadata, "entry_points", lambda group: found.select(group=group))


def run(*words: str, code: int = 0) -> Result:
    result = CliRunner().invoke(main, list(words))
    assert result.exit_code == code, result.output
    assert "Traceback" not in result.output
    return result


@pytest.mark.parametrize("name", OURS)
def test_the_line_about_a_command_is_the_first_sentence_of_its_help(name: str) -> None:
    command = main.get_command(CONTEXT, name)
    assert command is not None
    assert command.help is not None
    first = " ".join(command.help.split("\n\n")[0].split()).split(". ")[0].rstrip(".") + "."
    assert first in " ".join(run("--help").output.split())


def test_help_loads_no_command() -> None:
    code = (
        "import sys; from discreet.cli import main; main(['--help'], standalone_mode=False); "
        "heavy = {'numpy', 'scipy', 'duckdb', 'sqlalchemy', 'rich', 'discreet.cli._holder'}; "
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_planning_loads_no_library_that_it_does_not_need() -> None:
    code = (
        "import sys; import discreet.cli._holder; from discreet._core.on_demand import KINDS, load_all_kinds; "
        "list(map(load_all_kinds, KINDS)); heavy = {'scipy.stats', 'scipy.optimize', 'scipy.interpolate', "
        "'scipy.signal', 'duckdb', 'narwhals', 'sqlalchemy', 'dp_accounting'}; "
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_without_other_distributions_our_commands_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    installed(monkeypatch)
    assert main.list_commands(CONTEXT) == OURS


def test_a_command_of_another_distribution_is_listed_and_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "greeting_for_a_test.py").write_text(
        "from click import command, echo\n@command()\ndef greet(): echo('hello')\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    installed(monkeypatch, greet="greeting_for_a_test:greet")
    assert "greet" in main.list_commands(CONTEXT)
    assert "From greeting_for_a_test:greet." in run("--help").output
    assert run("greet").output == "hello\n"


def test_a_command_of_ours_cannot_be_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in OURS:
        ours = main.get_command(CONTEXT, name)
        installed(monkeypatch, **{name: "no_such_module:greet"})
        assert main.get_command(CONTEXT, name) is ours
        assert "no_such_module" not in run("--help").output


def test_a_command_that_cannot_be_loaded_is_refused_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    installed(monkeypatch, greet="no_such_module:greet", number="math:pi")
    assert "could not be loaded" in run("greet", code=1).output
    assert "not a command" in run("number", code=1).output


def test_without_the_papers_their_command_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    installed(monkeypatch)
    refused = run("reproduce", "004-figure-1", code=1).output
    assert "discreet-papers" in refused
    assert "Nothing was done" in refused
    assert "No such command" in run("reproduced", code=2).output
