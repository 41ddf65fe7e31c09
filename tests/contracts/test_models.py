"""Every kind of model keeps the small contract, and what only some models have is found by protocols alone."""

import numpy as np
import pytest

import discreet as dc
from discreet._core.kinds import KINDS
from discreet.mechanism import Model
from discreet.mechanism import _model as contract
from discreet.records import Bounds
from discreet.verification._audit import KnowsNeighbours
from discreet.verification._enumerate import HasParts, parts_of
from every_pair import CROSSED, FAMILIES, LINES, LOOP, MODELS, NAIVE, NUMBERS

PROGRAM = dc.Logistic("x=a ~ y", columns=CROSSED.columns).table
ALL: tuple[Model, ...] = (*MODELS, PROGRAM)
MEMBERS = {
    "statistics", "contributions", "simulate", "simulation_cost", "exact",  # what is measured of the records
    "is_prior_declared", "protects", "counted",  # priors, units, and which releases are read together
    "registered", "kinds", "asked_as", "canonical_document",  # studies and documents
}  # fmt: skip
NUMBER_KINDS, FAMILY_KINDS = {type(each).__name__ for each in NUMBERS}, {type(each).__name__ for each in FAMILIES}
TABLE_KINDS = {"Categories", "ModelledTable"}
HAVE: dict[type, set[str]] = {
    contract.HasTables: TABLE_KINDS | {"Network", "NumberTable", "Synthesis"} | FAMILY_KINDS,
    contract.HasConditionals: {"Network"},
    contract.HasMissingValue: {"LinearRegression", "WeightedRegression"} | NUMBER_KINDS | FAMILY_KINDS,
    contract.DecidedByMetric: TABLE_KINDS | {"NumberTable"},
    contract.TakesPrior: TABLE_KINDS | {"Network", "LinearRegression", "WeightedRegression"},
    contract.StrengthensPrior: TABLE_KINDS | {"Network"},
    contract.LearnsPrior: TABLE_KINDS | {"Network"},
    contract.HasStrengths: {"Network"},
    contract.TakesOwnRecords: TABLE_KINDS | {"Network", "LinearRegression"},
    contract.HasOwnRows: set(),
    contract.HasProgram: {"ModelledTable"},
    contract.HasMainRows: {"LinearRegression", "WeightedRegression"} | NUMBER_KINDS,
    contract.HasRowScales: {"LinearRegression", "WeightedRegression"},
    contract.HasParameters: TABLE_KINDS | {"Network", "LinearRegression", "WeightedRegression"} | FAMILY_KINDS,
    contract.HasEventChances: TABLE_KINDS | {"Network"},
    contract.HasExpectations: TABLE_KINDS,
    HasParts: TABLE_KINDS | {"Network", "LinearRegression", "Synthesis"} | NUMBER_KINDS,
    KnowsNeighbours: TABLE_KINDS | {"WeightedRegression"},
}


def test_every_kind_of_model_is_tried_here() -> None:
    assert {type(model).__name__ for model in ALL} == set(KINDS["model"])


def test_the_contract_holds_what_all_models_are_asked_for() -> None:
    assert {name for name in vars(Model) if not name.startswith(("_", "document_"))} == MEMBERS


@pytest.mark.parametrize("model", ALL, ids=repr)
def test_columns_are_declared_each_once(model: Model) -> None:
    assert all(isinstance(column, dc.Column | Bounds) for column in model.columns)
    names = [column.name for column in model.columns]
    assert names
    assert len(set(names)) == len(names)
    split = (*contract.columns_of_levels(model), *contract.columns_of_numbers(model))
    assert split == model.columns
    assert {column for table in contract.tables_of(model) for column in table} <= set(model.columns) or (
        isinstance(model, dc.NumberTable)  # whose cells are bands of a column of numbers
    )


@pytest.mark.parametrize("model", ALL, ids=repr)
def test_simulated_statistics_are_possible_and_exact_rows_are_those_of_the_truth(model: Model) -> None:
    size = 40
    made = model.simulate(size, np.random.default_rng(6))
    again = model.simulate(size, np.random.default_rng(6))
    assert made.truth == again.truth
    assert np.array_equal(made.statistics, again.statistics)
    rows, _ = model.contributions(64)
    records = size if isinstance(model, dc.WeightedRegression) else 1  # whose statistics are the records themselves
    assert made.statistics.shape == (records * rows.shape[1],)
    exact = model.exact(made.statistics, size, 0.9)
    assert len(exact) == len(made.truth)
    assert np.isfinite(made.truth).all()
    assert np.isfinite(exact).all()
    assert all(width >= 0 for _, width in exact)
    operations, numbers = model.simulation_cost(size)
    assert operations > 0
    assert numbers >= 0


@pytest.mark.parametrize("protocol", HAVE, ids=lambda protocol: protocol.__name__)
def test_who_asks_for_a_protocol_finds_the_kinds_that_have_it(protocol: type) -> None:
    assert {type(model).__name__ for model in ALL if isinstance(model, protocol)} == HAVE[protocol]


def test_what_is_not_there_is_answered_in_one_place() -> None:
    (line, *_), (sums, *_), (family, *_) = LINES, NUMBERS, FAMILIES
    assert not contract.tables_of(line)
    assert not contract.conditionals_of(line)
    assert not contract.conditionals_of(CROSSED)
    assert [names for names, _ in contract.conditionals_of(LOOP)] == list(LOOP.families)
    assert contract.decided_by(line) is None
    assert not contract.is_prior_open(family)
    assert contract.is_prior_open(CROSSED)
    assert not contract.is_prior_open(PROGRAM)  # the program has a prior of its own
    assert not list(parts_of(family))
    assert list(parts_of(sums))
    own = NAIVE.informed_by([0] * NAIVE.cells).models
    assert all(isinstance(model, contract.HasOwnRows) for model in own)
