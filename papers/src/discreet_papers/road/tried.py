"""One way tried: a study of eight made-up records goes through the command line, verb by verb."""

import json
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from click.testing import CliRunner

from discreet.cli._main import main
from discreet_papers.road.ways import Way

VERBS = ("study", "plan", "publish", "verify", "infer", "show")
WORKS = "works"
_RECORDS = "a,b,x,y,z\n" + "no,no,0.1,0.2,0\nyes,no,0.5,0.4,2\nno,yes,0.9,0.8,1\nyes,yes,0.3,0.5,0\n" * 2
_STUDY = """\
[data]
path = "records.csv"
size = 8
[columns.a]
levels = ["no", "yes"]
outside = "no"
[columns.b]
levels = ["no", "yes"]
outside = "no"
[columns.x]
bounds = [0, 1]
missing = "middle"
[columns.y]
bounds = [0, 1]
missing = "middle"
[columns.z]
bounds = [0, 3]
whole = true
missing = 0
[budget]
epsilon = "1000"
delta = "0.5"
ledger = "study.db"
[questions.q]
epsilon = "2"
"""


def tried(way: Way) -> dict[str, str]:
    """Return for each verb that it works, or the words in which it was refused."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "records.csv").write_text(_RECORDS, encoding="utf-8")
        named = f'mechanism = "{way.mechanism}"'
        (folder / "study.toml").write_text(_STUDY + "\n".join([*way.keys, named]) + "\n", encoding="utf-8")
        return dict(zip(VERBS, _steps(folder), strict=True))


def _steps(folder: Path) -> Iterator[str]:
    study, release = folder / "study.toml", folder / "q.release.json"
    shown = ("--statement", folder / "s.md", "--csv", folder / "rows.csv")
    yield _word("check", study)
    yield _word("plan", study, "--ask", "q", "--epsilon", "2")
    yield _word("publish", study, "--ask", "q")
    for words in (("verify", release), ("infer", release)):
        yield _word(*words) if release.exists() else "nothing is published"
    yield _shown(release, shown, folder / "s.md") if release.exists() else "nothing is published"


def _shown(release: Path, options: tuple[object, ...], statement: Path) -> str:
    """Show rows and statement; of what has no posterior the statement alone, which says so."""
    found = _word("infer", release, *options)
    if found == WORKS:
        return WORKS
    return WORKS if _word("infer", release, "--statement", statement) == WORKS and statement.exists() else found


def _word(*words: object) -> str:
    """Call the command line; return that it works, or why not."""
    result = CliRunner().invoke(main, [*map(str, words), "--json"])
    try:
        said = json.loads(result.stdout)
    except ValueError:
        said = {}
    if result.exit_code == 0:
        return f"works; no posterior: {said['why']}" if said.get("why") and words[0] == "plan" else WORKS
    error = str(said.get("error", result.output.strip()))
    return " ".join(error.split())
