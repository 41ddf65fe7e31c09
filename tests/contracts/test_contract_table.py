"""Every mechanism that a document may name keeps its contract, at every listed setting; see conftest for the table."""

from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import discreet as dc
from discreet.privacy import Adjacency
from discreet.release import mechanism_document

MECHANISMS = dc.Mechanism.registered()

CHECKS = (
    "probabilities_sum_to_one",
    "samples_follow_the_likelihood",
    "the_promise_holds",
    "rho_holds",
    "the_stated_loss_dominates",
    "documents_keep_it",
    "nonsense_is_refused",
)


def test_every_kind_in_the_registry_has_its_entries_and_no_other(contracts: Any) -> None:
    assert contracts.unlisted(MECHANISMS) == set()
    assert set(contracts.TABLE) == set(MECHANISMS)
    assert tuple(check.__name__ for check in contracts.CHECKS) == CHECKS


def test_a_kind_without_an_entry_is_found(contracts: Any) -> None:
    class Bogus:
        """A mechanism that nobody has looked at."""

    assert contracts.unlisted({**MECHANISMS, "Bogus": Bogus}) == {"Bogus"}


@pytest.mark.parametrize("check", CHECKS)
def test_contract(contracts: SimpleNamespace, kind: str, number: int, check: str) -> None:
    held = {each.__name__: each for each in contracts.CHECKS}[check]
    listed = contracts.listed(kind, number)
    assert isinstance(listed.mechanism, dc.Mechanism)
    held(listed, contracts.TABLE[kind][number])


LOOSE = {
    "BallMoments": "on a grid this coarse, rounded records do not reach the edge of the body",
    "ChosenCounts": "few records in few places: the sum of the weights of a choice moves less than its bound",
    "ChosenTable": "as ChosenCounts",
    "GaussianBallMoments": "as BallMoments, and a sum of zCDP parameters",
    "FamilyGaussians": "its curve is proved for variances of 2 and more, and a small instance would do with less",
    "ContrastGaussians": "noise on whole numbers by the curve of real ones, which is above it where noise is small",
    "GaussianMoments": "as ContrastGaussians; and records on the coarsest grid do not reach the distance of real ones",
    "GaussianTable": "where the number of records has noise of another variance, the loss of both is bounded by rho",
    "LaplaceMoments": "kept for comparison: the sum of all ranges, which no record moves at once",
    "PosteriorSampling": "a range that holds for any number of records, or a draw rounded to a coarse grid here",
    "NetworkSampling": "as PosteriorSampling",
    "RateTruncation": "the loss of densities at the ends of its interval, and cells of a coarse grid here",
    "PairGaussians": "steps that follow each other are bounded by zCDP, whose bound on delta is not attained",
    "GaussianPairTables": "as PairGaussians",
    "BallDraw": "a range that holds for any records, and a coarse grid here",
}
"""Kinds that may state more than a hundredth above what is true at these small settings, and why."""


@pytest.mark.parametrize("kind", sorted(MECHANISMS))
def test_what_is_stated_is_never_below_what_is_true_and_at_most_a_hundredth_above(contracts: Any, kind: str) -> None:
    """Epsilon if the promise is pure, else delta at the stated epsilon and at 1/1.01 of it."""
    listed = [contracts.listed(kind, number) for number in range(len(contracts.TABLE[kind]))]
    ratios = [contracts.stated_over_true(each)[-1] for each in listed]
    assert min(ratios) >= 1 - 1e-9
    is_loose = not all(contracts.is_within(each, 1.01, ratio) for each, ratio in zip(listed, ratios, strict=True))
    assert is_loose == (kind in LOOSE), ratios  # nobody else, and nobody is excused without need


def test_the_table_of_stated_over_true_is_printed(contracts: Any, capsys: pytest.CaptureFixture[str]) -> None:
    lines = []
    for kind, number in contracts.CASES:
        listed = contracts.listed(kind, number)
        what, stated, true, ratio = contracts.stated_over_true(listed)
        mechanism, size = listed.mechanism, f"{len(listed.tables)} data sets, {len(listed.outputs)} outputs"
        facts = f"n = {getattr(mechanism, 'size', 'secret')}, epsilon = {float(mechanism.epsilon):g}"
        lines.append(f"{kind:26s} {facts:24s} {what:8s} {stated:<12.6g} / {true:<12.6g} = {ratio:<10.4g} {size}")
    with capsys.disabled():
        print("\nstated over true, by enumeration of the likelihood alone", *lines, sep="\n")


OTHERWISE = {
    "FourierUpdates": "the papers' noise, stated for their epsilon per number and charged what all of them cost",
    "PublishedHellingerGlobal": "the papers' scale, charged what comparison finds",
    "PublishedHellingerSmooth": "the papers' scale, charged what comparison finds",
    "RoundedLaplace": "the papers' sensitivity of 2, where one number moves by 1 and costs half",
    "FlooredLaplace": "as RoundedLaplace",
    "ClampedLaplace": "as RoundedLaplace",
    "TruncatedLaplace": "the papers' epsilon, which truncation breaks: charged what it costs",
    "PosteriorSampling": "a draw whose power is capped costs less than was allowed, and is charged that",
    "NetworkSampling": "as PosteriorSampling",
    "RateTruncation": "a draw within an interval loses less than was allowed, and is charged what it loses",
}
"""Kinds that charge another epsilon than they declare, and why."""


def test_a_ledger_is_charged_the_declared_fraction_exactly(contracts: Any, tmp_path: Path) -> None:
    """To the last digit, for every kind, on a ledger that adds; nobody is excused without need."""
    otherwise = set()
    for place, (kind, settings) in enumerate(contracts.TABLE.items()):
        mechanism = settings[0].make(MECHANISMS[kind])
        if mechanism.guarantee.evidence is dc.privacy.Evidence.CLAIMED:
            continue  # nothing is published by it
        neighbours = mechanism.guarantee.adjacency
        own = neighbours if neighbours is Adjacency.ADD_OR_REMOVE else Adjacency.REPLACE_ONE
        ledger = dc.Ledger.create(tmp_path / f"{place}.db", epsilon=10_000, delta="0.99", adjacency=own)
        ledger.charge(mechanism.guarantee, "x", mechanism_document(mechanism))
        spent = (ledger.spent.epsilon, ledger.spent.delta)
        assert spent == (mechanism.guarantee.epsilon, mechanism.guarantee.delta)
        assert isinstance(spent[0], Fraction)
        if spent != (mechanism.epsilon, getattr(mechanism, "delta", 0)):
            otherwise.add(kind)
    assert otherwise == set(OTHERWISE)
