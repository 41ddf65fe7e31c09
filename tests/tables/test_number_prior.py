"""What a reader knows of a secret number of records: a range, chances, or that number, beside brute force."""

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import discreet as dc
from discreet.cli._main import main
from discreet.inference import SecretNumber
from discreet.mathematics.distributions import CountDistribution
from discreet.release import Release
from discreet.tables import DiscreteLaplaceCounts

COIN = dc.Categories("coin", levels=("no", "yes"), outside="no", prior=1)
PRIORS = {
    "number": (5, {5: 1.0}),
    "range": ((3, 6), dict.fromkeys(range(3, 7), 1.0)),
    "chances": ({2: 0.1, 9: 0.2, 4: 0.7}, {2: 0.1, 4: 0.7, 9: 0.2}),
    "distribution": (CountDistribution(4, np.array([0.25, 0.5, 0.25])), {4: 0.25, 5: 0.5, 6: 0.25}),
}


def released(model: dc.Categories, output: tuple[int, ...], total: object = None) -> Release:
    return Release(dc.LaplaceTable(model, 1, total), output, "coins", simulated=True)  # type: ignore[arg-type]


def by_hand(output: tuple[int, int], weights: dict[int, float]) -> tuple[float, dict[int, float]]:
    """Return the mean share of the second cell, and the chances of all numbers, at epsilon = 1 under Beta(1, 1)."""
    share, chances = 0.0, dict.fromkeys(weights, 0.0)
    for number, weight in weights.items():
        for second in range(number + 1):
            likelihood = np.exp(-abs(output[0] - number + second) - abs(output[1] - second))
            here = weight * likelihood / (number + 1)  # shares are uniform, so all second counts are as likely
            chances[number] += here
            share += here * (1 + second) / (2 + number)
    mass = sum(chances.values())
    return share / mass, {number: chance / mass for number, chance in chances.items()}


@pytest.mark.parametrize("output", [(3, -1), (2, 3)])
@pytest.mark.parametrize("known", PRIORS)
def test_shares_are_those_of_the_sum_over_all_tables(known: str, output: tuple[int, int]) -> None:
    number, weights = PRIORS[known]
    share, _ = by_hand(output, weights)
    found = dc.infer(released(COIN, output), number=number)
    assert found.mean["yes"] == pytest.approx(share, abs=1e-9)
    plain = dc.infer(released(COIN.with_prior(None), output), number=number)
    assert plain.probability("coin=yes").mean == pytest.approx(share, abs=2e-5)  # rests are put together on nodes


@pytest.mark.parametrize("known", PRIORS)
def test_the_number_itself_is_read_under_what_is_known_of_it(known: str) -> None:
    number, weights = PRIORS[known]
    found = dc.infer(released(COIN, (2, 3)), number=number).number_of_records
    assert set(found.values[found.probabilities > 0].tolist()) <= set(weights)


def test_a_range_that_holds_all_numbers_changes_nothing() -> None:
    release = released(dc.Categories("x", levels=tuple(range(30)), outside=0), (*range(30), 440))
    flat, wide = dc.infer(release), dc.infer(release, number=(0, 100_000))
    assert wide.table.mean[29] == pytest.approx(flat.table.mean[29], rel=1e-9)
    assert wide.number_of_records.mean == pytest.approx(flat.number_of_records.mean, rel=1e-9)
    assert wide.interval(29, 0.9) == pytest.approx(flat.interval(29, 0.9), rel=1e-6)


def test_a_known_number_reads_as_a_public_one_with_the_same_noise() -> None:
    output = (40, 61, 17)
    die = dc.Categories("x", levels=("a", "b", "c"), outside="a", prior=1)
    public = Release(DiscreteLaplaceCounts(die, 120, 2), output, "dice", simulated=True)
    secret = dc.infer(released(die, output), number=120)
    for level in ("a", "b", "c"):
        assert secret.mean[level] == pytest.approx(dc.infer(public).mean[level], rel=1e-9)


def test_margins_and_the_table_keep_what_is_known() -> None:
    crossed = dc.Categories([dc.Column("a", ("x", "y"), "x"), dc.Column("b", ("x", "y"), "x")])
    release = released(crossed, (10, 21, 9, 14))
    known = dc.infer(release, number=(60, 70))
    for each in (known, known.table, known.margin("a")):
        assert (each.number_of_records.values >= 60).all()
    assert known.true_count("a=x").values.max() <= 70


def test_what_contradicts_the_release_or_says_nothing_is_refused() -> None:
    release = released(COIN, (200, 300))
    for far in (100, (0, 10), {3: 1}, (2000, 3000)):
        with pytest.raises(dc.DeclarationError, match="contradicts this release"):
            dc.infer(release, number=far)
    for odd in ("many", (5, 3), {}, {3: -1}, {3: float("nan")}, -4, (1, 2, 3), True):
        with pytest.raises(dc.DeclarationError, match=r"Nothing was read"):
            dc.infer(release, number=odd)
    public = Release(dc.GeometricHistogram(COIN, 500, 1), (200, 300), "coins", simulated=True)
    with pytest.raises(dc.DeclarationError, match="public, 500"):
        dc.infer(public, number=(400, 600))
    with pytest.raises(dc.DeclarationError, match="given twice"):
        dc.infer(release, release, number=500)
    sums = dc.LaplaceSums(dc.NumberSums("pay", (0, 100)), 1)
    made = dc.simulate(sums, sums.model.rehearse({"pay": [10.0, 50.0]}), dc.SeededBits(1))
    with pytest.raises(dc.DeclarationError, match="tables of shares only; leave number out"):
        dc.infer(made, number=2)


def test_two_releases_of_one_table_are_read_together_and_a_margin_is_refused_with_the_way_out() -> None:
    both = dc.infer(released(COIN, (3, 4)), released(COIN, (2, 5)), number=(5, 8))
    weights = {n: sum(_likelihood(n, k, (3, 4)) * _likelihood(n, k, (2, 5)) / (n + 1) for k in range(n + 1))
               for n in range(5, 9)}  # fmt: skip
    share = sum(
        _likelihood(n, k, (3, 4)) * _likelihood(n, k, (2, 5)) / (n + 1) * (1 + k) / (2 + n)
        for n in weights
        for k in range(n + 1)
    )
    assert both.mean["yes"] == pytest.approx(share / sum(weights.values()), abs=1e-9)
    columns = [dc.Column(name, ("x", "y"), "x") for name in "ab"]
    table, margin = released(dc.Categories(columns), (1, 2, 3, 4)), released(dc.Categories(columns[:1]), (3, 7))
    with pytest.raises(dc.DeclarationError, match="read each by itself"):
        dc.infer(table, margin)


def _likelihood(number: int, second: int, output: tuple[int, int]) -> float:
    return float(np.exp(-abs(output[0] - number + second) - abs(output[1] - second)))


def test_the_command_line_takes_a_number_or_a_range(tmp_path: Path) -> None:
    path = tmp_path / "coins.release.json"
    path.write_text(released(COIN, (200, 300)).to_json(), "utf-8")
    for written, low, high in (("500", 500, 500), ("505,520", 505, 520)):
        found = CliRunner().invoke(main, ["infer", str(path), "--number", written, "--json"])
        assert found.exit_code == 0, found.output
        number = json.loads(found.stdout)["number_of_records"]
        assert low <= number["mean"] <= high
    odd = CliRunner().invoke(main, ["infer", str(path), "--number", "some"])
    assert odd.exit_code != 0
    assert "4000,6000" in odd.output


def test_nothing_known_is_the_default() -> None:
    assert SecretNumber().is_open
    assert SecretNumber(0, 5).log_weights(np.array([0, 5, 6])).tolist() == [0, 0, -np.inf]
