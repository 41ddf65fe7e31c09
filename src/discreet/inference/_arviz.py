"""A posterior for ArviZ, the common format of Bayesian tools: a data tree of groups, and the same as a netCDF file.

The groups are those of ArviZ. `posterior` holds the parameters, by chain where they come from chains; `sample_stats`
holds what is known about every draw; `log_likelihood` is log P(release | what is behind it) of every release;
`posterior_predictive` holds releases of further records, with their own noise; `prior` and `prior_predictive` are the
same before anything was read; `observed_data` is what was released. A group that cannot be computed is left out, and
`left_out` says why.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet._core.arrays import Counts, Floats
from discreet._core.errors import DeclarationError, DiscreetError
from discreet.inference._fits import margins_of
from discreet.inference._posterior_sample import Group, PosteriorSample
from discreet.inference._problem import Observed
from discreet.inference._protocols import (
    HasFacts,
    HasFurtherGroups,
    HasLogLikelihoods,
    HasPrior,
    HasReplicates,
    HasSample,
)
from discreet.mechanism import Model, tables_of
from discreet.noise.randomness import SeededBits
from discreet.release import Release

if TYPE_CHECKING:
    from discreet.inference._posterior import Posterior

_NUMBERS = 200_000  # noisy numbers simulated for a predictive group
_FEWEST, _MOST = 100, 1_000  # draws in such a group
_OPERATIONS = 2e10  # a group that takes more is left out
_KNOWN = ("r_hat", "effective_size", "tail_effective_size", "accepted", "pareto_shape")
Groups = dict[str, Group]
Names = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, eq=False)
class ArvizExport:
    """What goes into a tree: groups of arrays, the names of their axes and entries, and attributes."""

    groups: Mapping[str, Group]
    dims: Names
    coords: Names
    words: Mapping[str, str | float]


def arviz_export(posterior: "Posterior", draws: int, seed: int) -> ArvizExport:
    """Return all groups of a posterior that can be computed, and why others cannot."""
    names = _names(posterior.releases, {*posterior.dims, *posterior.coords})
    sample = sample_of(posterior, draws, seed)
    groups: Groups = {"posterior": {name: sample.chained(values) for name, values in sample.parameters.items()}}
    left_out: dict[str, str] = {}

    def add(group: str, make: Callable[[], Group]) -> None:
        try:
            groups[group] = make()
        except DeclarationError as problem:
            left_out[group] = str(problem)

    add("log_likelihood", lambda: _likelihoods(posterior, sample, names))
    statistics = dict(sample.statistics)
    if "log_likelihood" in groups:
        statistics["log_likelihood"] = np.sum(list(groups["log_likelihood"].values()), axis=0).ravel()
    if statistics:
        groups["sample_stats"] = {name: sample.chained(np.asarray(own)) for name, own in statistics.items()}
    few = sample.some(_most(posterior.releases))
    generator = np.random.default_rng([seed, 1])
    add("posterior_predictive", lambda: _published(posterior, few, names, generator, seed))
    add("prior", lambda: _before(_prior_sample(posterior, min(draws, sample.count), generator)))
    if "prior" in groups:
        before = PosteriorSample({name: values[0] for name, values in groups["prior"].items()})
        own = before.some(_most(posterior.releases))
        add("prior_predictive", lambda: _published(posterior, own, names, generator, seed + 1))
    if isinstance(posterior, HasFurtherGroups):
        groups |= posterior.further_groups(sample)
    groups["observed_data"] = {n: np.array(r.output) for n, r in zip(names, posterior.releases, strict=True)}
    axes = {name: (f"{name} number",) for name in names}
    dims = {group: dict(posterior.dims) for group in ("posterior", "prior")}
    coords = dict(posterior.coords) | {
        axis: tuple(str(index) for index in range(1, len(release.output) + 1))
        for (axis,), release in zip(axes.values(), posterior.releases, strict=True)
    }
    return ArvizExport(groups, {**dims["posterior"], **axes}, coords, _words(posterior, left_out))


def sample_of(posterior: "Posterior", count: int, seed: int | None = None) -> PosteriorSample:
    """Draw the parameters, with the hidden numbers behind the releases where these are drawn too."""
    if isinstance(posterior, HasSample):
        return posterior.sample(count, seed)
    return PosteriorSample(posterior.draws(count, seed))


def log_likelihoods_of(posterior: "Posterior", sample: PosteriorSample) -> list[Floats]:
    """Return for every release log P(output | hidden numbers) of each draw; refuse in words if it is not known."""
    if isinstance(posterior, HasLogLikelihoods):
        return posterior.log_likelihoods(sample)
    if sample.hidden is None:
        raise DeclarationError(f"the hidden numbers behind a release cannot be drawn for {posterior.text.subject}")
    return likelihoods_of(posterior.releases, posterior.model, sample.hidden)


def _prior_sample(posterior: "Posterior", count: int, generator: np.random.Generator) -> PosteriorSample:
    if not isinstance(posterior, HasPrior):
        raise DeclarationError(f"the prior cannot be drawn from for {posterior.text.subject}")
    return posterior.prior_sample(count, generator)


def _words(posterior: "Posterior", left_out: dict[str, str]) -> dict[str, str | float]:
    """Return how the release was read, and the figures known about all draws together."""
    facts = posterior.facts() if isinstance(posterior, HasFacts) else {}
    figures = {name: float(own) for name in _KNOWN if isinstance(own := facts.get(name), int | float)}
    words = "; ".join(f"{group}: {why}" for group, why in left_out.items())
    return {"inference_library": "discreet", "method": posterior.method, "left_out": words, **figures}


def _names(releases: Sequence[Release], taken: Collection[str]) -> list[str]:
    """Return a name for every release that a tree can hold: its label, numbered if another release has the same."""
    plain = [release.label.replace("/", "|") for release in releases]
    labels = [f"release {own}" if own in {*taken, "chain", "draw"} else own for own in plain]
    return [f"{own} ({index + 1})" if labels.count(own) > 1 else own for index, own in enumerate(labels)]


def _most(releases: Sequence[Release]) -> int:
    return min(_MOST, max(_FEWEST, _NUMBERS // sum(len(release.output) for release in releases)))


def _likelihoods(posterior: "Posterior", sample: PosteriorSample, names: Sequence[str]) -> Group:
    found = log_likelihoods_of(posterior, sample)
    return {name: sample.chained(np.asarray(own)) for name, own in zip(names, found, strict=True)}


def _before(sample: PosteriorSample) -> Group:
    return {name: sample.chained(values) for name, values in sample.parameters.items()}


def _published(
    posterior: "Posterior", sample: PosteriorSample, names: Sequence[str], generator: np.random.Generator, seed: int
) -> Group:
    """Return what the mechanism of each release would publish about further records."""
    _check_work(posterior.releases, sample.count)
    if not isinstance(posterior, HasReplicates):
        raise DeclarationError(f"further records cannot be drawn for {posterior.text.subject}")
    further, found = posterior.replicate(sample, generator), {}
    for index, (name, release) in enumerate(zip(names, posterior.releases, strict=True)):
        counts = seen_by(release, posterior.model, further)
        found[name] = release.mechanism.sample(counts, SeededBits(seed + 1_000 * index))[None]
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
        raise DeclarationError(f"{release.label!r} is about more columns than this posterior")
    return np.asarray(counts @ margins_of(tables_of(own), tables_of(model)).T)


def data_tree(content: ArvizExport) -> Any:
    """Return an ArviZ data tree."""
    try:
        from arviz_base import from_dict
    except ImportError:
        raise DiscreetError('ArviZ output needs the arviz extra: pip install "discreet[arviz]".') from None
    _check_names(content)
    where = {name: list(axes) for name, axes in content.dims.items() if axes}
    groups = {name: dict(group) for name, group in content.groups.items()}
    coords = {name: list(known) for name, known in content.coords.items()}
    tree = from_dict(groups, dims=where, coords=coords)
    tree.attrs |= dict(content.words)
    return tree


def write_netcdf(content: ArvizExport, path: Path) -> None:
    """Write a tree as a netCDF file."""
    tree = data_tree(content)
    try:
        tree.to_netcdf(path)
    except OSError as problem:
        raise DiscreetError(f"Cannot write the draws to {str(path)!r}: {problem.strerror or problem}.") from None


def _check_names(content: ArvizExport) -> None:
    """Refuse names that a tree cannot hold: a slash leads to another group, and the name of an axis is reserved."""
    names = dict.fromkeys(name for group in content.groups.values() for name in group)
    for name in (*names, *content.coords):
        if "/" in name:
            raise DiscreetError(
                f"A data tree cannot hold a variable called {name!r}, because the name contains a slash."
            )
        if name in ("chain", "draw") or (name in names and name in content.coords):
            raise DiscreetError(
                f"A data tree cannot hold a variable called {name!r}: one of its axes has that name. `draws` gives the "
                "same numbers."
            )
