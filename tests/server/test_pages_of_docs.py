"""What the documentation says of the server is what the server says of itself."""

from pathlib import Path

from discreet.server._app import RULES
from discreet.server._guard import Rule
from discreet.server._roles import RIGHTS

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "serving-operating.md"


def line_of(rule: Rule) -> str:
    roles = [role for role in RIGHTS if rule.right in RIGHTS[role]]
    who = "everybody" if rule.right is None else ", ".join(roles)
    return f"| `{rule.method} {rule.path}` | {who} | {rule.words} |"


def test_the_table_of_routes_is_that_of_the_routes() -> None:
    written = [line for line in PAGE.read_text().splitlines() if line.startswith(("| `GET", "| `POST"))]
    assert written == [line_of(rule) for rule in RULES]


def test_the_page_shows_the_files_that_are_deployed() -> None:
    text, files = PAGE.read_text(), sorted((ROOT / "deploy").iterdir())
    assert len(files) == 4
    for file in files:
        assert f"\n{file.read_text()}```" in text, file.name
