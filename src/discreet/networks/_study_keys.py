"""How a study asks for a network: by its edges, by a BIF file, or by a target and its features."""

from collections.abc import Mapping, Sequence

from discreet._core.errors import DeclarationError
from discreet.mechanism import Declared, DeclaredPrior
from discreet.networks._model import Network
from discreet.networks._prior import EquivalentSize, NetworkPrior
from discreet.records import Column

_EQUIVALENT_SIZE = "equivalent_size"


def asked_naive_bayes(declared: Declared, target: str, features: Sequence[str], prior: DeclaredPrior = None) -> Network:
    """Return the naive Bayes network of a target and its features."""
    levels = declared.levels("target", [target]) | declared.levels("features", features)
    return Network.naive_bayes(target, features, levels, _prior(prior, levels))


def asked_network(
    declared: Declared,
    edges: Sequence[str] | None = None,
    bif: str | None = None,
    prior: DeclaredPrior = None,
) -> Network:
    """Return the network of these edges, or of a file; the study's own columns go before those of the file."""
    if (edges is None) is (bif is None):
        raise DeclarationError(
            "a network needs either edges, such as ['smoker -> cancer'], or bif, the name of a file; not both."
        )
    if edges is not None:
        names = [part.strip() for edge in edges for part in edge.split("->") if part.strip()]
        levels = declared.levels("edges", names)
        return Network.from_edges(*edges, levels=levels, prior=_prior(prior, levels))
    if declared.folder is None:
        raise DeclarationError("a question sent to a server cannot name a file: use edges instead of bif.")
    graph = Network.from_bif(declared.folder / str(bif))
    levels = {column.name: declared.columns.get(column.name, column) for column in graph.variables}
    return Network(list(levels.values()), graph.parents, _prior(prior, levels))


def _prior(prior: DeclaredPrior, levels: Mapping[str, Column]) -> NetworkPrior:
    """Return the prior of a network: a number, a table by variable, an equivalent size, or none."""
    if isinstance(prior, Sequence):
        raise DeclarationError(
            "The prior of a network must be one number, a table by variable, or { equivalent_size = 1 }."
        )
    if not isinstance(prior, Mapping) or set(prior) != {_EQUIVALENT_SIZE} or _EQUIVALENT_SIZE in levels:
        return prior
    return EquivalentSize(prior[_EQUIVALENT_SIZE])  # type: ignore[arg-type]  # it looks itself at what it is given
