"""What a posterior hands to other tools: draws, how well each explains every release, and what it predicts.

The groups are those of ArviZ. `posterior` holds the parameters, by chain where they come from chains; `sample_stats`
holds what is known about every draw; `log_likelihood` is log P(release | what is behind it) of every release;
`posterior_predictive` holds releases of further records, with their own noise; `prior` and `prior_predictive` are the
same before anything was read; `observed_data` is what was released. A group that cannot be computed is left out, and
`left_out` says why.
"""

from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING

import numpy as np

from discreet.arrays import Counts, Floats
from discreet.errors import DeclarationError
from discreet.inference.posteriors.states import States
from discreet.inference.posteriors.trees import Group, Travelling
from discreet.models.model import Model, tables_of
from discreet.randomness import SeededBits
from discreet.reading.counts.fits import margins_of
from discreet.reading.problem import Observed
from discreet.releases.release import Release

if TYPE_CHECKING:
    from discreet.inference.posteriors.posterior import Posterior

_NUMBERS = 200_000  # noisy numbers simulated for a predictive group
_FEWEST, _MOST = 100, 1_000  # draws in such a group
_OPERATIONS = 2e10  # a group that takes more is left out
_KNOWN = ("r_hat", "effective_size", "tail_effective_size", "accepted", "pareto_shape")
Groups = dict[str, Group]


def travelling(posterior: "Posterior", draws: int, seed: int) -> Travelling:
    """Return all groups of a posterior that can be computed, and why others cannot."""
    names = _names(posterior.releases, {*posterior.dims, *posterior.coords})
    states = posterior.states(draws, seed)
    groups: Groups = {"posterior": {name: states.chained(values) for name, values in states.parameters.items()}}
    left_out: dict[str, str] = {}

    def add(group: str, make: Callable[[], Group]) -> None:
        try:
            groups[group] = make()
        except DeclarationError as problem:
            left_out[group] = str(problem)

    add("log_likelihood", lambda: _likelihoods(posterior, states, names))
    statistics = dict(states.statistics)
    if "log_likelihood" in groups:
        statistics["log_likelihood"] = np.sum(list(groups["log_likelihood"].values()), axis=0).ravel()
    if statistics:
        groups["sample_stats"] = {name: states.chained(np.asarray(own)) for name, own in statistics.items()}
    few = states.some(_most(posterior.releases))
    generator = np.random.default_rng([seed, 1])
    add("posterior_predictive", lambda: _published(posterior, few, names, generator, seed))
    add("prior", lambda: _before(posterior.prior_states(min(draws, states.count), generator)))
    if "prior" in groups:
        before = States({name: values[0] for name, values in groups["prior"].items()})
        own = before.some(_most(posterior.releases))
        add("prior_predictive", lambda: _published(posterior, own, names, generator, seed + 1))
    groups |= posterior.further_groups(states)
    groups["observed_data"] = {n: np.array(r.output) for n, r in zip(names, posterior.releases, strict=True)}
    axes = {name: (f"{name} number",) for name in names}
    dims = {group: dict(posterior.dims) for group in ("posterior", "prior")}
    coords = dict(posterior.coords) | {
        axis: tuple(str(place) for place in range(1, len(release.output) + 1))
        for (axis,), release in zip(axes.values(), posterior.releases, strict=True)
    }
    return Travelling(groups, {**dims["posterior"], **axes}, coords, _words(posterior, left_out))


def _words(posterior: "Posterior", left_out: dict[str, str]) -> dict[str, str | float]:
    """Return how the release was read, and the figures known about all draws together."""
    facts = posterior.facts()
    figures = {name: float(own) for name in _KNOWN if isinstance(own := facts.get(name), int | float)}
    words = "; ".join(f"{group}: {why}" for group, why in left_out.items())
    return {"inference_library": "discreet", "method": posterior.method, "left_out": words, **figures}


def _names(releases: Sequence[Release], taken: Collection[str]) -> list[str]:
    """Return a name for every release that a tree can hold: its label, numbered if another release has the same."""
    plain = [release.label.replace("/", "|") for release in releases]
    labels = [f"release {own}" if own in {*taken, "chain", "draw"} else own for own in plain]
    return [f"{own} ({place + 1})" if labels.count(own) > 1 else own for place, own in enumerate(labels)]


def _most(releases: Sequence[Release]) -> int:
    return min(_MOST, max(_FEWEST, _NUMBERS // sum(len(release.output) for release in releases)))


def _likelihoods(posterior: "Posterior", states: States, names: Sequence[str]) -> Group:
    found = posterior.log_likelihoods(states)
    return {name: states.chained(np.asarray(own)) for name, own in zip(names, found, strict=True)}


def _before(states: States) -> Group:
    return {name: states.chained(values) for name, values in states.parameters.items()}


def _published(
    posterior: "Posterior", states: States, names: Sequence[str], generator: np.random.Generator, seed: int
) -> Group:
    """Return what the mechanism of each release would publish about further records."""
    _check_work(posterior.releases, states.count)
    further, found = posterior.further(states, generator), {}
    for place, (name, release) in enumerate(zip(names, posterior.releases, strict=True)):
        counts = seen_by(release, posterior.model, further)
        found[name] = release.mechanism.sample(counts, SeededBits(seed + 1_000 * place))[None]
    return found


def likelihoods_of(releases: Sequence[Release], model: Model, hidden: Counts | Floats) -> list[Floats]:
    """Return log P(output | counts) of every release, for rows of counts of a model's tables."""
    _check_work(releases, len(hidden))
    found = []
    for release in releases:
        counts = seen_by(release, model, hidden)
        found.append(release.mechanism.log_prob(np.array(release.output, dtype=np.int64), counts))
    return found


def _check_work(releases: Sequence[Release], rows: int) -> None:
    """Refuse outputs whose likelihood takes too long or cannot be computed numerically."""
    for release in releases:
        cost = Observed(release.mechanism, np.array(release.output, dtype=np.int64), release.label).costs
        if (why := next((each.refusal for each in cost if each.refusal is not None), None)) is not None:
            raise DeclarationError(f"{release.label!r}: {why}")
        if (operations := rows * sum(each.operations for each in cost)) > _OPERATIONS:
            raise DeclarationError(
                f"{release.label!r} would take about {operations:.0e} operations, and at most {_OPERATIONS:.0e} are "
                "allowed; fewer draws need fewer"
            )


def seen_by(release: Release, model: Model, counts: Counts | Floats) -> Counts:
    """Return the counts that a release is about, which may be margins of a model's."""
    own = release.mechanism.model
    if own.counted == model.counted:
        return np.asarray(counts)
    wide = [set(table) for table in tables_of(model)]
    if not all(any(set(table) <= each for each in wide) for table in tables_of(own)):
        raise DeclarationError(f"{release.label!r} is about more columns than this reading")
    return np.asarray(counts @ margins_of(tables_of(own), tables_of(model)).T)
