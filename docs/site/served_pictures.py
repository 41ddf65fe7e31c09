"""Pictures of the server's pages for the guides, taken in Chromium of the hospital of the demonstration.

    python docs/site/served_pictures.py

The noise is drawn by a seed, as on all pages; see `page_examples`.
"""

import os
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "examples")]

import hospital  # noqa: E402 - the folders must be known first

from browsing import Visitor, chromium  # noqa: E402
from discreet.server._questions import read_declaration  # noqa: E402
from page_examples import repeatable_noise  # noqa: E402
from serving import Served, listening, served  # noqa: E402

IMAGES = ROOT / "docs" / "images"
SERVE = '\n[serve]\npolicy = "steward"\ntime_limit = 10\nvisible_after = 12\n'
ASKED: tuple[tuple[dict[str, object], str, bool], ...] = (
    ({"columns": ["smoking"], "epsilon": "0.1", "label": "Smoking, 2026"}, "", True),
    ({"columns": ["ward", "fall"], "epsilon": "0.5", "label": "Falls by ward, 2026"}, "", True),
    (
        {"columns": ["fall"], "epsilon": "0.2", "label": "Falls, all wards"},
        "For the annual report of the board.",
        False,
    ),
)


def ask(server: Served, keys: dict[str, object], reason: str, is_approved: bool) -> str:
    """Ask a question, let it be answered if it is approved, and return its id."""
    asked, declared = server.front.questions, server.front.declarations
    read = read_declaration(declared, {"question": keys})
    found, _ = asked.ask(server.person("analyst"), declared, read, None, reason)
    if is_approved:
        asked.decide(server.person("steward"), found.id, True, "")
        server.publish_all()
    return found.id


def main() -> None:
    """Ask, decide, and take the pictures."""
    with tempfile.TemporaryDirectory() as folder, repeatable_noise(7):
        os.chdir(folder)
        hospital.FOLDER = Path(folder)
        hospital.write_survey()
        survey = Path(folder, "survey.csv").read_text()
        with served(Path(folder), serve=SERVE, study=hospital.STUDY, survey=survey) as server:
            *_, waiting = [ask(server, *each) for each in ASKED]
            with listening(server) as address, chromium() as browser:
                take(server, address, browser, waiting)
        os.chdir(ROOT)


def take(server: Served, address: str, browser: object, waiting: str) -> None:
    """Take a picture of a release, of the form, and of a question that waits."""
    size = {"viewport": {"width": 1000, "height": 760}}
    ann, sam = (Visitor(browser, address, **size) for _ in range(2))  # type: ignore[arg-type]  # a browser
    ann.sign_in("ann")
    page = ann.go(f"/releases/{server.front.published()[0].id}?event=fall%3Dyes&by=ward")
    page.wait_for_selector("[data-drawn=yes] svg")
    page.screenshot(path=IMAGES / "served-release.png", full_page=True)
    page = ann.go("/ask")
    page.fill("#label", "Smoking by ward")
    page.check("input[value=smoking]")
    page.check("input[value=ward]")
    page.fill("#epsilon", "0.3")
    page.wait_for_selector("#width .plainly")
    page.click("#show-curve")
    page.wait_for_selector("figure.curve")
    page.screenshot(path=IMAGES / "served-ask.png", full_page=True)
    sam.sign_in("sam")
    page = sam.go(f"/questions/{waiting}")
    page.wait_for_selector("#decision-plan")
    page.screenshot(path=IMAGES / "served-question.png", full_page=True)


if __name__ == "__main__":
    main()
