"""Forecasts of programs, suggestions and rankings: pinned figures, and what the readings themselves give."""

import numpy as np
import pytest
from scipy.special import polygamma

import discreet as dc
from discreet.planning.forecast import forecast

VISITS = dc.Column("visits", tuple(range(7)), outside=6)
POISSON = dc.programs.Poisson(VISITS, rate="Gamma(4, 3)")


@pytest.mark.parametrize(("epsilon", "sd"), [(2, 0.0842), ("0.5", 0.1107)])
def test_the_pinned_forecast_of_a_rate(epsilon: str | int, sd: float) -> None:
    found = forecast(dc.GeometricHistogram(POISSON.table, 200, epsilon), at={"rate": 4 / 3}, releases=100)
    assert found.sds["rate"] == pytest.approx(sd, rel=0.02 if epsilon == 2 else 0.12)  # 100 releases
    prior = 1 / float(polygamma(1, 4)) / (4 / 3) ** 2  # the precision of the logarithm of a Gamma(4, 3) number
    assert found.exact_sds["rate"] == pytest.approx(1 / np.sqrt(200 / (4 / 3) + prior), rel=0.01)  # .0811


def test_noise_takes_information_and_more_epsilon_gives_it_back() -> None:
    strong, weak = (POISSON.forecast(200, epsilon, at={"rate": 4 / 3}) for epsilon in (4, "0.3"))
    assert strong.sds["rate"] < weak.sds["rate"]
    assert 0.9 < strong.kept <= 1
    assert weak.kept < 0.6
    assert "exact counts" in str(strong)
    assert strong.document()["size"] == 200


def test_a_program_knows_its_table_and_its_mechanism() -> None:
    found = dc.suggest(POISSON, 200, 2)
    assert found.mechanism == dc.GeometricHistogram(POISSON.table, 200, 2)
    assert "visits" in found.reason
    assert POISSON.mechanism(200, 2) == found.mechanism


def test_a_family_is_ranked_by_draw_and_by_table() -> None:
    ranking = dc.compare(dc.Poisson("visits", most=6, shape=4, rate=3), 200, 2, "1e-4", repeats=2)
    names = [entry.name for entry in ranking.entries]
    assert "PosteriorSampling" in " ".join(names)
    table = next(entry for entry in ranking.entries if entry.name == "GeometricHistogram of the table")
    draw = next(entry for entry in ranking.entries if entry.name == "PosteriorSampling")
    assert 1.5 < draw.sds[0] / table.sds[0] < 5  # .221 against .082
    assert "GeometricHistogram of the table" in str(ranking)
    assert ranking.document()["size"] == 200


def test_what_has_no_program_has_no_forecast() -> None:
    with pytest.raises(dc.DeclarationError, match="of a program"):
        forecast(dc.GeometricHistogram(dc.Categories(VISITS), 200, 1))
    with pytest.raises(dc.DeclarationError, match="the parameters are rate"):
        POISSON.forecast(200, 1, at={"speed": 1})
    with pytest.raises(dc.DeclarationError, match="outside"):
        POISSON.forecast(200, 1, at={"rate": -1})
