"""What users rely on stands in text files beside this one; `make golden` writes them again if a change is meant."""

import copy
from typing import Any

import pytest

import discreet as dc
from discreet.inference import Posterior
from discreet.mechanism import Model
from write_golden import GOLDEN, MORE, TEXTS, asked, differences, is_own, kept_readings, path_of, reading, text_of

KEPT = kept_readings()


@pytest.mark.parametrize("name", TEXTS)
def test_names_keys_commands_and_kinds_are_as_they_are_written(name: str) -> None:
    assert text_of(name) == (GOLDEN / name).read_text("utf-8"), "if this is meant, run `make golden`"


@pytest.mark.parametrize("name", asked())
def test_a_reading_is_as_it_is_written_within_its_stated_error(name: str) -> None:
    assert name in KEPT, "a reading is not written yet: run `make golden`"
    assert differences(reading(name), KEPT[name]) == []


def test_no_reading_is_written_that_is_no_longer_made() -> None:
    assert list(KEPT) == list(asked())


@pytest.mark.filterwarnings("ignore::discreet._core.errors.LittleInformationWarning")
def test_every_model_and_every_posterior_is_read() -> None:
    releases = [dc.Release.from_json(path_of(words[0]).read_text("utf-8")) for words in asked().values()]
    assert {kind for kind, made in Model.registered().items() if is_own(made)} == {
        kind for kind, made in Model.registered().items() if any(type(each.model) is made for each in releases)
    }
    first = {type(each.model): each for each in releases if each.reading != "none"}
    read = {type(dc.infer(each)).__mro__ for each in first.values()}
    public = {made for made in vars(dc.inference).values() if isinstance(made, type) and issubclass(made, Posterior)}
    pooled = {dc.tables.PooledRates}  # of "rates in groups"
    assert public - pooled - {Posterior} <= {each for ancestors in read for each in ancestors}


@pytest.fixture
def now() -> dict[str, Any]:
    """Return a reading as it is on file, to be spoilt."""
    return copy.deepcopy(KEPT["geometric-one"])


def test_a_number_that_is_off_by_more_than_its_error_is_told(now: dict[str, Any]) -> None:
    assert differences(now, KEPT["geometric-one"]) == []
    now["rows"][0]["low"] += 1e-10
    assert "low of no" in differences(now, KEPT["geometric-one"])[0]


def test_other_words_fields_quantities_and_evidence_are_told(now: dict[str, Any]) -> None:
    kept = KEPT["geometric-one"]
    assert "method" in differences(now | {"method": "guessed"}, kept)[0]
    assert "holds" in differences(now | {"holds": [*now["holds"], "colour"]}, kept)[0]
    assert "quantities" in differences(now | {"rows": now["rows"][:1]}, kept)[0]
    assert "log_evidence" in differences(now | {"log_evidence": now["log_evidence"] + 1e-5}, kept)[0]


def test_a_drawn_reading_may_differ_by_its_monte_carlo_error_and_no_more() -> None:
    kept = KEPT["simulated-log-linear"]
    row = kept["rows"][0]
    for errors, is_told in ((2, False), (10, True)):
        now = copy.deepcopy(kept)
        now["rows"][0]["mean"] = row["mean"] + errors * row["monte_carlo_error"]
        assert bool(differences(now, kept)) is is_told


def test_options_are_read_and_not_refused() -> None:
    assert [name for name in MORE if "error" in KEPT[name]] == []
