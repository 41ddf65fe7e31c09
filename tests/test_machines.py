"""The settings of `make test-machines`: a failure is one, and what cannot be had is said in words."""

import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).parent.parent
sys.path.append(str(PROJECT / "release"))

import try_machines  # noqa: E402 - of a folder that is no package
from try_machines import NUMERIC, NotHereError, Setting, environment, failure, main, processors  # noqa: E402


def table_of(
    settings: list[Setting], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], folder: Path
) -> tuple[int, str]:
    """Return how a run of these settings ends, and what it prints; every run of tests but in `bad` passes."""
    monkeypatch.setattr(try_machines, "KEPT", folder)
    monkeypatch.setattr(try_machines, "settings", lambda _: settings)
    monkeypatch.setattr(try_machines, "state", lambda: "a commit")
    monkeypatch.setattr(try_machines, "run", lambda setting, *_: "one failed" if setting.name == "bad" else "")
    monkeypatch.setattr(sys, "argv", ["try_machines.py", "--only", "bad,good,missing"])
    with pytest.raises(SystemExit) as ended:
        main()
    return int(str(ended.value.code)), capsys.readouterr().out


def test_a_failure_ends_with_an_error_and_what_cannot_be_had_does_not(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    good, missing = Setting("good"), Setting("missing", cannot="there is none")
    assert table_of([good, missing], monkeypatch, capsys, tmp_path)[0] == 0
    code, shown = table_of([good, missing, Setting("bad")], monkeypatch, capsys, tmp_path)
    assert code == 1
    assert "one failed" in shown
    assert "missing  cannot be had here: there is none" in shown
    assert "good     passed before, at this commit" in shown


@pytest.mark.parametrize("printed", ["", "Haswell", None])
def test_every_processor_is_tried_or_its_absence_explained(
    printed: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(try_machines, "said", lambda *_: printed)
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    found = {setting.name: setting.cannot for setting in processors()}
    assert len(found) == 4
    wanted = {
        "": ("", "NumPy uses nothing beyond its baseline on this processor"),
        "Haswell": ("linear algebra uses the kernels of Haswell whatever is asked for", ""),
        None: ("this processor lacks instructions that the kernels of Nehalem use", "NumPy uses nothing beyond"),
    }[printed]
    assert found["OpenBLAS for Nehalem"] == wanted[0]
    assert found["NumPy without dispatch"].startswith(wanted[1])


def test_the_numeric_part_is_there() -> None:
    assert all((PROJECT / each).exists() for each in NUMERIC)


def test_what_failed_is_shown_even_if_it_cannot_be_decoded(tmp_path: Path) -> None:
    program = r"import sys; sys.stdout.buffer.write(b'planted \xff'); sys.exit(3)"
    assert failure([sys.executable, "-c", program], tmp_path, {}).startswith("planted")
    assert failure([sys.executable, "-c", "import sys; sys.exit(3)"], tmp_path, {}) == "it ended with 3"
    assert failure([sys.executable, "-c", "pass"], tmp_path, {}) == ""


def test_an_interpreter_without_libraries_is_said_not_to_be_had(tmp_path: Path) -> None:
    with pytest.raises(NotHereError, match="cannot be installed for"):
        environment("/bin/false", tmp_path)
