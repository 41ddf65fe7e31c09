"""Priors of a network that outweigh what was measured: the warning, and its twin, which reads the release again."""

import warnings
from typing import Any

import numpy as np
import pytest
from scipy.special import logsumexp

import discreet as dc
from discreet.networks import CubeCounts, Network
from discreet.networks._prior_conflict import FEATURE_PARAMETERS

YES_NO = ("no", "yes")
RARE = Network.from_edges(
    "a -> rare", "b -> rare", "c -> rare", levels=dict.fromkeys(["a", "b", "c", "rare"], YES_NO), outside="no"
)
FEATURES = tuple("abcdef")
CLASS = Network.naive_bayes("y", FEATURES, dict.fromkeys("yabcdef", YES_NO), outside="no")


def release_of(mechanism: Any, chances: dict[str, Any], seed: int) -> dc.Release:
    """Return a release of records whose P(yes), given the levels of a variable's parents, are stated."""
    model, generator = mechanism.model, np.random.default_rng(seed)
    codes: dict[str, Any] = {}
    for column, above in zip(model.variables, model.parents, strict=True):
        chance = np.broadcast_to(np.asarray(chances[column.name])[tuple(codes[each] for each in above)], mechanism.size)
        codes[column.name] = (generator.random(mechanism.size) < chance).astype(np.int64)
    tables = []
    for family in model.maximal_families:
        table = np.zeros(model.shape(family), dtype=np.int64)
        np.add.at(table, tuple(codes[name] for name in family), 1)
        tables.append(table.ravel())
    return dc.simulate(mechanism, np.concatenate(tables), dc.SeededBits(seed))


def told(release: dc.Release, **options: Any) -> list[str]:
    """Return what `infer` warns of a prior."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        dc.infer(release, **options)
    return [str(each.message) for each in caught if each.category is dc.PriorOutweighsWarning]


RARE_CHANCES = {"a": 0.3, "b": 0.2, "c": 0.1, "rare": 0.003 * 3.0 ** np.indices((2, 2, 2)).sum(axis=0)}


def test_a_prior_that_adds_records_with_every_parent_is_told_by_the_name_of_its_variable() -> None:
    release = release_of(dc.FamilyHistograms(RARE, 500, 1), RARE_CHANCES, 3)
    (words,) = told(release, prior=1)
    assert words.startswith("The prior of 'rare' (16 records in all) outweighs the data: P(rare=")
    assert "prior='none'" in words
    assert told(release) == told(release, prior=dc.EquivalentSize(2)) == []


def test_the_stated_mean_without_a_declared_prior_is_that_of_reading_again() -> None:
    release = release_of(dc.FamilyHistograms(RARE, 500, 1), RARE_CHANCES, 3)
    words = told(release, prior=1)[0]
    event, stated = words.split("P(")[1].split(")")[0], float(words.split("would be about ")[1].split(" ")[0])
    again = dc.infer(release, prior={"a": 1, "b": 1, "c": 1, "rare": 1 / 8})  # two records for eight rows of two levels
    assert stated == pytest.approx(again.probability(event).mean, abs=0.006)


def test_no_prior_is_told_where_records_outweigh_it() -> None:
    release = release_of(dc.FamilyHistograms(RARE, 50_000, 5), RARE_CHANCES, 4)
    assert told(release, prior=1) == []
    assert told(release, prior=500) != []


def test_own_records_are_no_mere_prior() -> None:
    release = release_of(dc.FamilyHistograms(RARE, 500, 1), RARE_CHANCES, 3)
    own = {name: ["no"] * 400 for name in ("a", "b", "c", "rare")}
    assert told(release, own=own) == []


GIVEN = [[0.3, 0.6], [0.2, 0.6], [0.4, 0.7], [0.1, 0.4], [0.5, 0.8], [0.25, 0.5]]


def learnt_share(release: dc.Release) -> float:
    """Return P(y=yes) with one strength of the prior of all features, learnt by reading the release under each."""
    found = [dc.infer(release, prior={"y": 1, **dict.fromkeys(FEATURES, each)}) for each in FEATURE_PARAMETERS]
    logs = np.array([each.log_evidence for each in found])
    return float(np.exp(logs - logsumexp(logs)) @ [each.probability("y=yes").mean for each in found])


@pytest.mark.parametrize(("seed", "is_pulled"), [(6, False), (7, True)])
def test_a_class_that_its_features_pull_is_told_with_the_share_that_reading_again_gives(
    seed: int, is_pulled: bool
) -> None:
    release = release_of(CubeCounts(CLASS, 200, 1), {"y": 0.08, **dict(zip(FEATURES, GIVEN, strict=True))}, seed)
    learnt, shown, words = learnt_share(release), dc.infer(release).probability("y=yes").mean, told(release)
    assert (abs(shown / learnt - 1) > 0.05) == bool(words) == is_pulled
    for each in words:
        assert each.startswith(f"P(y=yes) is {shown:.3f}")
        assert float(each.split("would be about ")[1].split(" ")[0]) == pytest.approx(learnt, abs=0.001)


def test_a_class_whose_size_is_well_known_is_not_told() -> None:
    chances = {"y": 0.08, **dict(zip(FEATURES, GIVEN, strict=True))}
    assert told(release_of(dc.FamilyHistograms(CLASS, 4_000, 20), chances, 7)) == []
