"""The table of the road: complete, up to date, and each cell what a trial finds."""

from pathlib import Path

import pytest

from discreet.mechanism import Mechanism
from discreet_papers.claims.page import items
from discreet_papers.road import WAYS, road_page
from discreet_papers.road.page import kept, key_of
from discreet_papers.road.tried import VERBS, WORKS, tried
from discreet_papers.road.ways import ways

PROJECT = Path(__file__).parents[2]
CLAIMED = ("HellingerLocal", "HellingerTable")
UNREADABLE = ("BallDraw",)
FAST = ("RoundedLaplace", "HellingerLocal", "HellingerGlobal")


def test_the_page_of_the_road_is_up_to_date() -> None:
    written = (PROJECT / "docs" / "papers.md").read_text(encoding="utf-8")
    assert written == road_page(), "run: python -m discreet_papers.road > docs/papers.md"


def test_every_algorithm_of_the_papers_is_on_the_road() -> None:
    listed = {
        (paper, place) for paper, places in items()["numbered"].items() for place in places if "Algorithm" in place
    }
    assert len(listed) == 4
    assert listed <= {(way.paper, way.place) for way in WAYS}
    assert {way.paper for way in WAYS} == set(items()["numbered"])


def test_every_mechanism_of_the_papers_is_on_the_road() -> None:
    """What is kept as published, choices by a distance, and draws: all of these come from a paper."""
    rooms = ("discreet_papers.as_published", "discreet.choices._hellinger")
    named = {way.mechanism.partition(".")[0] for way in WAYS}
    for kind, made in Mechanism.registered().items():
        if made.__module__.startswith(rooms) or kind.endswith(("Sampling", "Draw", "Updates", "Maximum")):
            assert kind in named


@pytest.mark.parametrize("name", sorted(kept()))
def test_what_does_not_work_says_why(name: str) -> None:
    found = kept()[name]
    assert tuple(found) == VERBS
    assert not any("unforeseen" in words for words in found.values())
    kind = name[:-1].rpartition("(")[2]
    failing = {verb for verb, words in found.items() if not words.startswith(WORKS)}
    if kind in CLAIMED:
        assert failing == set(VERBS) - {"study"}
        assert "only claimed" in found["publish"]
    elif kind in UNREADABLE:
        assert failing == {"infer"}
        assert "has no posterior" in found["infer"]
    else:
        assert not failing


@pytest.mark.parametrize("way", [way for way in ways() if way.mechanism in FAST], ids=lambda way: way.mechanism)
def test_a_trial_finds_what_is_kept(way: object) -> None:
    assert tried(way) == kept()[key_of(way)]  # type: ignore[arg-type]
