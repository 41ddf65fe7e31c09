"""The one chooser: which mechanism suits a model, and why. Declarations alone decide, never records.

What is chosen can be read. Where the mechanism with the least noise would be read less exactly than another one, the
other is chosen, and the reason says so.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import singledispatch
from math import prod
from typing import Any

import numpy as np

from discreet._core.errors import DeclarationError
from discreet._core.exact import Exact, exact_text, positive, probability, whole
from discreet._core.notebook import NotebookRepr, html_table
from discreet.inference import Exactness, Problem, exactness_of, why_not_exact, why_unreadable
from discreet.mechanism import Mechanism, Model, Sized
from discreet.networks import (
    CubeCounts,
    FamilyGaussians,
    FamilyHistograms,
    JointHistograms,
    Network,
    NetworkCounts,
    cube_refusal,
    joint_refusal,
)
from discreet.noise import simulated_noise
from discreet.numbers import (
    ChosenCounts,
    ChosenTable,
    GeometricSums,
    GroupPaths,
    MetricSums,
    NumberQuantiles,
    NumberSums,
    NumberTable,
    PathTable,
    TreeTable,
    suitable_cells,
    suitable_path_cells,
    why_table,
)
from discreet.planning._candidates import candidate_mechanisms, free_parameter, kinds_for, rivals_of, size_or_guess
from discreet.planning._compare import compare
from discreet.programs import Program
from discreet.regression import (
    BallMoments,
    BoxMoments,
    ConeMoments,
    GaussianBallMoments,
    GaussianMoments,
    LinearRegression,
    NoisyMoments,
    WeightedRegression,
    why_unweighted,
)
from discreet.synthesis import PairGaussians, Synthesis
from discreet.tables import Categories, GeometricHistogram, TreeLevels

_DRAWS = 4000  # of noise, by which mechanisms for a regression are compared
_LITTLE, _MUCH = Fraction(1, 5), 2  # epsilon, below and above which AIM was closer for many columns: docs/synthesis.md


@dataclass(frozen=True)
class Suggestion(NotebookRepr):
    """A mechanism, and why it was chosen."""

    mechanism: Mechanism
    reason: str

    def _repr_html_(self) -> str:
        """Return both for a notebook."""
        return html_table(repr(self.mechanism), (), [("chosen because", self.reason)], words=2)


def suggest(
    model: Model | Program,
    size: int | None = None,
    epsilon: Exact | None = None,
    delta: Exact = 0,
    about: int | None = None,
) -> Suggestion:
    """Return the mechanism that suits a model, a number of records and a guarantee, with the reason in words.

    >>> smoking = Categories("smoking", levels=("never", "former", "current"), outside="never")
    >>> type(suggest(smoking, size=1000, epsilon=1).mechanism).__name__
    'GeometricHistogram'
    >>> type(suggest(smoking, about=1000, epsilon=1).mechanism).__name__
    'LaplaceTable'

    Args:
        model: what is to be learnt, or the program by which a table will be read.
        size: the public number of records; left out where that is secret.
        epsilon: the guarantee.
        delta: the guarantee.
        about: where the number of records is secret, a guess of it that does not come from the data. If several
            mechanisms suit the model, studies of so many records are simulated, and the most informative is chosen.

    Returns:
        a suggestion with its `mechanism` and, in words, why it was chosen.

    Raises:
        DeclarationError: if no mechanism can publish the model under this guarantee.
    """
    number, stated = size_or_guess(size, about, epsilon)
    if size is None:
        return _of_secret_number(model, number, positive(stated, "epsilon"), probability(delta, "delta"))
    found = chosen_mechanism(model, number, stated, delta)
    if (why := why_unreadable(found.mechanism)) is not None:
        raise DeclarationError(
            f"{type(found.mechanism).__name__} would suit this, but `publish` refuses it, because no inference method "
            f"supports the release: {why}. Nothing was suggested. Use a larger epsilon, fewer levels or columns, or a "
            "model with fewer parameters; or construct a mechanism yourself, for a release without a posterior."
        )
    return found


def chosen_mechanism(model: Model | Program, size: int, epsilon: Exact, delta: Exact = 0) -> Suggestion:
    """Return what suits a model even if no release of it could be read: for studies, which say so when they are asked.

    A study may declare that there will be no posterior.
    """
    return _suggestion(model, size, epsilon, probability(delta, "delta"))


def _of_secret_number(model: Model | Program, about: int, epsilon: Fraction, delta: Fraction) -> Suggestion:
    """Choose what tells most at about so many records, of all that keeps their number secret and can be read."""
    if isinstance(model, Program):
        found = _of_secret_number(model.table, about, epsilon, delta)
        return Suggestion(found.mechanism, f"{_read_from_table(model)}; {found.reason}")
    made, refusals = dict[str, Mechanism](), list[str]()
    for name, kind in kinds_for(is_secret=True).items():
        if not kind.accepts_model(model):
            continue
        try:
            candidate = next(rivals_of(kind, model, None, epsilon, delta), None)
        except DeclarationError as problem:
            refusals.append(f"{name}: {problem}")
            continue
        why = f"it needs {'more settings' if delta else 'a delta'}" if candidate is None else why_unreadable(candidate)
        if candidate is None or why is not None:
            refusals.append(f"{name}: {why}")
        else:
            made[name] = candidate
    if not made:
        why_not = f" ({'; '.join(refusals)})" if refusals else ""
        raise DeclarationError(
            f"Nothing publishes a {type(model).__name__} and keeps the number of records secret with epsilon = "
            f"{exact_text(epsilon)} and delta = {exact_text(delta)}{why_not}. Nothing was suggested. Tables of shares, "
            "sums and tables of numbers, yes/no features of classes and, with a delta, synthetic records can be "
            "published so; or state the number of records as public: size instead of about."
        )
    if len(made) == 1:
        (only,) = made.values()
        return Suggestion(only, f"it is what keeps the number of records of a {type(model).__name__} secret")
    ranking = compare(model, epsilon=epsilon, delta=delta, about=about)
    if not ranking.entries:
        raise DeclarationError(
            f"{' and '.join(made)} would suit this, but studies of about {about:,} records are too much work to tell "
            f"which is better: {'; '.join(ranking.left_out.values())} Nothing was suggested. Construct one of them."
        )
    best, *others = ranking.entries
    beside = [f"{entry.accuracy.width:.3g} with {entry.name}" for entry in others]
    against = f", {' and '.join(beside)}" if beside else ""
    width = f"90 % intervals are about {best.accuracy.width:.3g} wide{against}"
    how = f"by simulated studies of about {about:,} records"
    return Suggestion(best.mechanism, f"it keeps the number of records secret and tells most, {how}: {width}")


def _read_from_table(model: Program) -> str:
    named = ", ".join(column.name for column in model.table.columns)
    return f"the model is read from the cross table of {named}"


def suggest_for_fitting(network: Network, size: int, epsilon: Exact) -> Suggestion:
    """Return a suggestion for estimators, which are fitted again and again: never one radius for all tables.

    With few records and levels that takes seconds to read, and separate tables a fraction of one.
    """
    return Suggestion(*_without_shared_radius(network, size, epsilon))


def suggest_per_unit(model: Model, size: int, epsilon_per_unit: Exact, **keys: Any) -> Suggestion:
    """Return what publishes a model with this epsilon for each unit of its metric; `keys` are those of a tree."""
    return _per_unit(model, size, epsilon_per_unit, **keys)


@singledispatch
def _per_unit(model: Model, size: int, epsilon_per_unit: Exact, **keys: Any) -> Suggestion:
    raise DeclarationError(
        'epsilon_per_unit goes with model = "number", or with the levels of one column that form a tree (hangs_on).'
    )


@_per_unit.register
def _(model: NumberTable, size: int, epsilon_per_unit: Exact, **keys: Exact) -> Suggestion:
    why = f"it promises this epsilon for each unit of {model.column}, between cells of the table"
    if model.by is not None:
        return Suggestion(GroupPaths.per_unit(model, size, epsilon_per_unit, **keys), why)
    if keys:
        raise DeclarationError("between is the distance between two groups, so it goes with `by`.")
    made = PathTable.per_unit(model, size, epsilon_per_unit)
    if model.count >= 3 * (usual := suitable_path_cells(size, made.epsilon)):
        why += f"; its noise grows with the number of cells: cells = {usual} would give narrower intervals than these "
        why += f"{model.count}"
    return Suggestion(made, why)


@_per_unit.register
def _(model: NumberSums, size: int, epsilon_per_unit: Exact) -> Suggestion:
    why = f"it promises this epsilon for each unit of {model.column}, between values on a grid of {model.unit:,}"
    return Suggestion(MetricSums.per_unit(model, size, epsilon_per_unit), why)


@_per_unit.register
def _(model: Categories, size: int, epsilon_per_unit: Exact, **keys: Any) -> Suggestion:
    if "hangs_on" not in keys:
        raise DeclarationError(
            "Levels have distances if they form a tree. Name for each the level on which it hangs, hangs_on = { east "
            "= 'north' }, and the lengths of edges that are not 1, lengths = { east = 2 }."
        )
    why = "it promises this epsilon for each unit of length on the tree of levels"
    return Suggestion(TreeLevels.per_unit(model, size, epsilon_per_unit, **keys), why)


@singledispatch
def _suggestion(model: Any, size: int, epsilon: Exact, delta: Fraction) -> Suggestion:
    """Choose the first registered kind that publishes such a model under the guarantee and can be read."""
    kinds = [made for made in Sized.registered().values() if made.accepts_model(model)]
    if not kinds:
        raise DeclarationError(
            "suggest knows mechanisms for Categories, a Network, a LinearRegression or a family such as PoissonRate; "
            f"got a {type(model).__name__}. Nothing was suggested. Name a mechanism yourself."
        )
    refusals = []
    for kind in kinds:
        try:
            made = next(
                candidate_mechanisms(kind, model, whole(size, "size"), positive(epsilon, "epsilon"), delta), None
            )
        except DeclarationError as problem:
            refusals.append(str(problem))
            continue
        if made is not None and (why := why_unreadable(made)) is None:
            free = free_parameter(kind)
            chosen = "" if free is None else f", with the largest {free} that the guarantee allows"
            return Suggestion(made, f"it is the mechanism for a {type(model).__name__}{chosen}")
        refusals.append(
            f"{kind.__name__} cannot be read here: {why}" if made else f"{kind.__name__} needs more settings"
        )
    raise DeclarationError(f"No mechanism was found for a {type(model).__name__}: {'; '.join(refusals)}")


@_suggestion.register
def _(model: Categories, size: int, epsilon: Exact, delta: Fraction) -> Suggestion:
    why = "every cell gets the same amount of noise, and the noise adds up to zero"
    return Suggestion(GeometricHistogram(model, size, epsilon), f"{why}; no delta is needed" if delta else why)


@_suggestion.register
def _(model: Synthesis, size: int, epsilon: Exact, delta: Fraction) -> Suggestion:
    why = "noisy scores of all pairs of columns say which of them are worth measuring, and how finely"
    made = PairGaussians(model, size, epsilon, delta)
    if made.epsilon < _LITTLE:
        why += "; where columns nearly follow from each other, AIM (elsewhere) is closer with so small an epsilon"
    elif made.epsilon > _MUCH:
        why += "; tables of three columns are closer by AIM (elsewhere) with so large an epsilon"
    return Suggestion(made, why)


@_suggestion.register
def _(model: Program, size: int, epsilon: Exact, delta: Fraction) -> Suggestion:
    found = _suggestion(model.table, size, epsilon, delta)
    return Suggestion(found.mechanism, f"{_read_from_table(model)}; {found.reason}")


@_suggestion.register
def _(model: NumberSums, size: int, epsilon: Exact, delta: Fraction) -> Suggestion:
    made = GeometricSums(model, size, epsilon)
    values, spread = (f"{100 * float(part / made.epsilon):.3g} %" for part in made.parts)
    who, share = (
        model.protects.removeprefix("one "),
        f"values get {values} of epsilon, and their spread {spread}",
    )
    both = "" if sum(made.parts) == made.epsilon else f", because no {who} can change both fully at once"
    why = f"every {who} is one unit, divided between the two bounds, so groups and missing values cost nothing extra"
    why += f"; {share}{both}"
    return Suggestion(made, f"{why}; no delta is needed" if delta else why)


@_suggestion.register
def _(model: NumberTable, size: int, epsilon: Exact, delta: Fraction) -> Suggestion:
    made, usual = TreeTable(model, size, epsilon), suitable_cells(size, epsilon, len(model.groups))
    why = f"with {made.blocks} noisy blocks of cells, less noise adds up below an edge than with noisy cells alone"
    if model.count > 2 * usual or 2 * model.count < usual:
        why += f"; {usual} cells would suit size x epsilon = {float(size * made.epsilon):,.0f} better"
    if model.asks == ("quantiles",):
        better = why_table(model, size, made.epsilon) or (
            "places that are chosen would locate these quantiles better: ask without cells or edges"
        )
        why += f"; {better}"
    if "mean" in model.asks:
        why += "; a mean from this table is uncertain by a cell: ask for it in a question of its own"
    return Suggestion(made, f"{why}; no delta is needed" if delta else why)


@_suggestion.register
def _(model: NumberQuantiles, size: int, epsilon: Exact, delta: Fraction) -> Suggestion:
    one = len(model.quantiles) == 1
    made = ChosenCounts(model, size, epsilon) if one else ChosenTable(model, size, epsilon)
    what = "places near the quantile are" if one else "a place near each quantile is"
    why = f"{what} chosen first, then records are counted there, so that no cells limit how well it is located"
    if (better := why_table(model, size, made.epsilon)) is not None:
        why += f"; but {better}: declare cells for one"
    return Suggestion(made, f"{why}; no delta is needed" if delta else why)


@_suggestion.register
def _(model: LinearRegression, size: int, epsilon: Exact, delta: Fraction) -> Suggestion:
    """Choose the narrowest intervals for evenly spread records: cone noise, or Gaussian noise of many features."""
    rivals: list[NoisyMoments] = [ConeMoments(model, size, epsilon), BoxMoments(model, size, epsilon)]
    rivals += [GaussianMoments(model, size, epsilon, delta)] if delta else []
    readable = [rival for rival in rivals if why_unreadable(rival) is None] or rivals[:1]
    spreads = {rival: _effect_spread(rival) for rival in readable}
    best, *others = sorted(readable, key=spreads.__getitem__)
    beside = [f"{spreads[other] / spreads[best]:.2f} times as wide with {type(other).__name__}" for other in others]
    against = f"; they would be about {' and '.join(beside)}" if beside else ""
    needs = "" if delta else " of all that need no delta"
    why = f"its intervals for effects will be the narrowest{needs}{against}"
    if why_unweighted(model, size, epsilon) is None:
        why += "; where features fill little of their bounds, those of BallMoments are far narrower, but then "
        why += "a record far from the bulk counts less"
    return Suggestion(best, f"{why}; the stated delta is not needed" if delta and not best.guarantee.delta else why)


@_suggestion.register
def _(model: WeightedRegression, size: int, epsilon: Exact, delta: Fraction) -> Suggestion:
    """Choose the least noise of the last step: that of products in a ball, or with a delta perhaps Gaussian noise."""
    pure = BallMoments(model, size, epsilon)
    why = "records count by their distance from the bulk, in units that four cheap rounds learn"
    if (doubt := why_unweighted(model, size, pure.epsilon)) is not None:
        why += f"; but {doubt}: a LinearRegression suits them better"
    if not delta:
        return Suggestion(pure, why)
    gaussian = GaussianBallMoments(model, size, epsilon, delta)
    both = f"{gaussian.deviations[-1]:.3g} against {pure.deviations[-1]:.3g} with BallMoments"
    if gaussian.deviations[-1] < pure.deviations[-1]:
        less = "with the stated delta, Gaussian noise is smaller: the standard deviation of a product"
        return Suggestion(gaussian, f"{why}; {less} is {both}")
    return Suggestion(pure, f"{why}; the stated delta is not needed, because Gaussian noise would be larger ({both})")


def _effect_spread(mechanism: NoisyMoments) -> float:
    """Return the mean spread of effects, to compare mechanisms by: only ratios are meant.

    Around evenly spread records with moments A, noise (dA, db) moves coefficients w by about A^-1 (db - dA w). So their
    covariance is about ((sigma^2 A^-1 + A^-1 Cov(db - dA w) A^-1)^-1 + l I)^-1, l the precision of the prior and
    sigma^2 the declared variance or the median of its prior.
    """
    model, size, problem = mechanism.model, mechanism.size, Problem.before(mechanism)
    generator, layout = np.random.default_rng(0), model.layout
    inverse = np.linalg.inv(layout.unpack(layout.typical(size), size).squares)
    noise = layout.unpack(simulated_noise(problem.measurements[0].noise, _DRAWS, generator), 0)
    weights = generator.standard_normal((_DRAWS, model.dimension)) / np.sqrt(float(model.prior_precision))
    moved = (noise.products - np.einsum("nij,nj->ni", noise.squares, weights)) @ inverse
    spread = model.typical_variance * inverse + moved.T @ moved / _DRAWS
    covariance = np.linalg.inv(np.linalg.inv(spread) + float(model.prior_precision) * np.eye(model.dimension))
    jacobian = model.in_units(np.eye(model.dimension)) - model.in_units(np.zeros(model.dimension))
    deviations = np.sqrt(np.diag(jacobian.T @ covariance @ jacobian)) * np.array(model.row_scales)
    return float(deviations[list(model.main_rows(len(deviations)))].mean())


@_suggestion.register
def _(model: Network, size: int, epsilon: Exact, delta: Fraction) -> Suggestion:
    """Choose by noise; where one radius for all tables is read less exactly, take the best that is read better."""
    found = _least_noise(model, size, epsilon, delta)
    others: list[NetworkCounts] = [FamilyHistograms(model, size, epsilon)]
    others += [FamilyGaussians(model, size, epsilon, delta)] if delta else []
    best = min(others, key=lambda other: other.count_sd())
    exactness, usual = exactness_of(found.mechanism), type(found.mechanism).__name__
    if found.mechanism in others or exactness is exactness_of(best) is not Exactness.APPROXIMATE:
        return found
    refusal = why_not_exact(found.mechanism)
    return Suggestion(best, f"the usual choice, {usual}, could not be read exactly here: {refusal}")


def _least_noise(network: Network, size: int, epsilon: Exact, delta: Fraction) -> Suggestion:
    pure, why = _pure(network, size, epsilon)
    if not delta:
        return Suggestion(pure, why)
    gaussian = FamilyGaussians(network, size, epsilon, delta)
    sds = f"{gaussian.count_sd():.3g} against {pure.count_sd():.3g} with {type(pure).__name__}"
    if gaussian.count_sd() < pure.count_sd():
        return Suggestion(
            gaussian, f"with the stated delta, Gaussian noise is smaller: the standard deviation of a count is {sds}"
        )
    return Suggestion(pure, f"{why}; the stated delta is not needed, because Gaussian noise would be larger ({sds})")


def _pure(network: Network, size: int, epsilon: Exact) -> tuple[NetworkCounts, str]:
    cells = [prod(network.shape(family)) for family in network.maximal_families]
    are_alike = len(cells) > 1 and max(cells) <= 2 * min(cells)
    if are_alike and cube_refusal(network) is not None and joint_refusal(network) is None:
        joint, own = JointHistograms(network, size, epsilon), FamilyHistograms(network, size, epsilon)
        if joint.seen_noise() < own.seen_noise():
            return joint, "tables of similar size can share one radius of noise"
    return _without_shared_radius(network, size, epsilon)


def _without_shared_radius(network: Network, size: int, epsilon: Exact) -> tuple[NetworkCounts, str]:
    if cube_refusal(network) is None:
        return CubeCounts(network, size, epsilon), "all variables are yes/no, so one person's influence is a cube"
    return FamilyHistograms(network, size, epsilon), "each table gets its own share, so small ones are not drowned"
