"""ConeMoments: what it adds noise to, that noise never looks at records, and its documents."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import discreet as dc
from discreet.regression import BoxMoments, ConeMoments, LinearRegression
from discreet.release import mechanism_document, read_mechanism

WARD = dc.Column("ward", ("A", "B", "C"), outside="A")
SEX = dc.Column("sex", ("m", "f"), outside="m")
MODELS = [
    dc.LinearRegression(
        "y", ["x", WARD, SEX], {"x": (0, 10), "y": (0, 5)}, noise=noise, intercept=intercept, missing="middle"
    )
    for noise in ("0.2", dc.regression.InverseGamma(1, 1))
    for intercept in (True, False)
]
MODELS += [
    dc.LinearRegression(
        "y", ["x", WARD, SEX], {"x": (0, 10), "y": (0, 5)}, noise=dc.regression.InverseGamma(1, 1), intercept=intercept,
        terms=[("x", "x"), ("x", "ward"), ("ward", "sex")], missing="middle")
    for intercept in (True, False)
]  # fmt: skip
MODELS += [each.changed(bounds=tuple(replace(b, leaves_missing_out=True) for b in each.bounds)) for each in MODELS]
NAMED = ["known", "known, no intercept", "unknown", "unknown, no intercept", "terms", "terms, no intercept"]
NAMED += [f"{each}, gaps left out" for each in NAMED]
every = pytest.mark.parametrize("model", MODELS, ids=NAMED)


def record_of(generator: np.random.Generator) -> dict[str, list[object]]:
    return {
        "x": [float(generator.uniform(-1, 11))],
        "y": [float(generator.uniform(-1, 6))],
        "ward": ["ABC"[generator.integers(3)]],
        "sex": ["mf"[generator.integers(2)]],
    }


@every
def test_the_released_numbers_are_the_stated_sums_of_products_up_to_known_constants(model: dc.LinearRegression) -> None:
    """What a record contributes, less the same terms of its matrix vv' that the noise is made of, is a constant."""
    mechanism, generator = ConeMoments(model, 100, 1), np.random.default_rng(5)
    constants = set()
    for _ in range(40):
        row = model.rehearse(record_of(generator))
        matrix = mechanism.coding.matrix(row)
        known = [
            int(number) - sum((factor * matrix[i][j] for i, j, factor in terms), Fraction(0)) / model.grid**2
            for number, terms in zip(row.tolist(), mechanism.noise.terms, strict=True)
        ]
        constants.add(tuple(known))
    assert len(constants) == 1


@pytest.mark.parametrize("model", MODELS[6:], ids=NAMED[6:])
def test_a_record_with_a_gap_contributes_0_and_the_others_are_counted(model: dc.LinearRegression) -> None:
    generator, names = np.random.default_rng(8), ("x", "y")
    records = [record_of(generator) for _ in range(12)]
    gaps: list[dict[str, list[object]]] = [{**record_of(generator), name: [None]} for name in names for _ in range(3)]
    assert not any(model.rehearse(record).any() for record in gaps)
    together = {name: [v for record in (*records, *gaps) for v in record[name]] for name in records[0]}
    found = model.rehearse(together)
    assert np.array_equal(found, sum(model.rehearse(record) for record in records))
    assert model.cells[0] == "records with all values"
    assert float(model.layout.unpack(found, 18).count) == 12
    assert ConeMoments(model, 100, 1).proof_assumption().holds(np.zeros_like(found))
    assert not all(row.any() for row in ConeMoments(model, 100, 1).proof_assumption().probes)


@every
def test_every_record_lies_in_the_body_exactly(model: dc.LinearRegression) -> None:
    mechanism, generator = ConeMoments(model, 100, 1), np.random.default_rng(6)
    for _ in range(40):
        row = model.rehearse(record_of(generator))
        assert mechanism.proof_assumption().holds(row)
        matrix = mechanism.coding.matrix(row)
        products = [[matrix[0][i] * matrix[0][j] for j in range(len(matrix))] for i in range(len(matrix))]
        if mechanism.coding.is_signed:  # vv' = (M^2 v)(M^2 v)' / M^4, wherever it is released
            released = [(i, j) for terms in mechanism.noise.terms for i, j, _ in terms]
            assert all(matrix[i][j] * model.grid**2 == products[i][j] for i, j in released)


def test_products_that_are_one_number_share_their_noise() -> None:
    """The sum of x over ward B is both x times the indicator and the interaction alone: the mean of both entries."""
    model = MODELS[4]
    mechanism = ConeMoments(model, 100, 1)
    factors = [place for place in mechanism.noise.terms if len(place) > 2]
    assert factors
    for terms in mechanism.noise.terms:
        assert 0 < sum(abs(factor) for _, _, factor in terms) <= 2 * model.grid**2


def test_coordinates_are_counted_as_the_page_says() -> None:
    known, _, unknown, bare = (ConeMoments(model, 100, 1).coding.body for model in MODELS[:4])
    assert known.fixed == (True, False, True, True, True, True)  # 1, x, B, C, f, y
    assert unknown.fixed == (True, False, True, True, True, False)
    assert bare.fixed == (False,) * 5
    assert (known.dimension, unknown.dimension, bare.dimension) == (16, 17, 15)


def test_the_noise_does_not_depend_on_the_records() -> None:
    model = MODELS[0]
    mechanism, generator = ConeMoments(model, 100, 1), np.random.default_rng(7)
    rows = [model.rehearse(record_of(generator)) * 100 for _ in range(2)]
    first, second = (mechanism.sample(row, dc.SeededBits(9)) - row for row in rows)
    assert first.tolist() == second.tolist()


def test_it_has_less_noise_than_the_box() -> None:
    names = [f"x{k}" for k in range(4)]
    model = dc.LinearRegression(
        "y", names, dict.fromkeys((*names, "y"), (-1, 1)), noise=dc.regression.InverseGamma(1, 1), missing="middle"
    )
    cone, box = ConeMoments(model, 1000, 1), BoxMoments(model, 1000, 1)
    ratios = cone.scale / box.scale
    first = [model.cells.index(name) for name in (*names, "y")]
    products = [model.cells.index("x0 * x1"), model.cells.index("x2 * y")]
    squares = [model.cells.index("x0 * x0"), model.cells.index("y * y")]
    assert ratios[first].mean() == pytest.approx(17.56 / 24.82, rel=0.03)
    assert ratios[products].mean() == pytest.approx(15.95 / 24.82, rel=0.03)
    assert ratios[squares].mean() == pytest.approx(10.88 / 12.41, rel=0.03)


def test_the_charge_is_that_of_a_pure_epsilon() -> None:
    mechanism = ConeMoments(MODELS[0], 100, 1)
    assert mechanism.guarantee == dc.Guarantee(Fraction(1), reason=mechanism.reason)
    assert float(mechanism.rho) == pytest.approx(np.tanh(0.5), rel=1e-3)
    assert float(mechanism.rho) >= np.tanh(0.5)
    assert mechanism.privacy_loss().epsilon == mechanism.pure_epsilon == 1


def test_a_release_survives_its_document() -> None:
    mechanism = ConeMoments(MODELS[2], 100, "1/3")
    assert read_mechanism(mechanism_document(mechanism)) == mechanism
    row = MODELS[2].rehearse(record_of(np.random.default_rng(1))) * 100
    release = dc.simulate(mechanism, row, dc.SeededBits(1))
    assert dc.Release.from_json(release.to_json()) == release
    with pytest.raises(dc.DeclarationError, match="64 bits"):
        ConeMoments(MODELS[2], 100, "1e-5")


def test_the_audit_finds_a_radius_that_is_too_short() -> None:
    model = dc.LinearRegression("y", [], {"y": (0, 1)}, noise="0.5", missing="middle")

    class Short(ConeMoments):
        """Wrong on purpose: a third of the noise, with the promise of the whole."""

        def sample(self, counts, bits):  # type: ignore[no-untyped-def]
            return (super().sample(counts, bits) - counts) // 3 + counts

    for kind, violates in ((ConeMoments, False), (Short, True)):
        assert dc.audit(kind(model, 20, 1), draws=12_000, seed=5).violates == violates


def test_products_and_powers_are_columns_of_the_record_that_lie_in_the_body() -> None:
    """Each term is a whole number of its own before it is multiplied, so aa' stays in the body to the last digit."""
    ward = dc.Column("ward", ("A", "B", "C"), outside="A")
    terms = [("x", "x"), ("x", "ward"), ("x", "z"), ("x", "x", "ward")]
    for intercept in (True, False):
        bounds = {"x": (0, 1), "z": (-1, 5), "y": (0, 1)}
        model = LinearRegression(
            "y", ["x", "z", ward], bounds, terms=terms, grid=512, intercept=intercept, missing="middle"
        )
        mechanism = ConeMoments(model, 1000, 1)
        assumption = mechanism.proof_assumption()
        assert all(assumption.holds(contribution) for contribution in assumption.probes)
        moved = assumption.probes[0].copy()
        moved[int(np.argmax(model.layout.weights == 2))] += 2 * 512**2
        assert not assumption.holds(moved)
