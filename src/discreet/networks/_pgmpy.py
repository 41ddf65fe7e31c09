"""Networks as objects of pgmpy, a library for graphical models: graph, levels and probabilities, both ways.

A table of pgmpy has the variable on its first axis and the parents after it; ours has the parents first.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet._core.errors import DeclarationError, DiscreetError
from discreet.networks._bif import usual_home
from discreet.networks._model import Network
from discreet.records import Column

if TYPE_CHECKING:
    from pgmpy.models import DiscreteBayesianNetwork

Tables = dict[str, NDArray[np.float64]]


def read_pgmpy(model: "DiscreteBayesianNetwork") -> tuple[Network, Tables]:
    """Return the graph of a discrete network of pgmpy, under the flat prior, and its tables of probabilities.

    Levels are the states that its tables name. The level for undeclared values is the first.
    """
    try:
        cpds = list(model.get_cpds())
        names, edges = [str(node) for node in model.nodes()], list(model.edges())
    except (AttributeError, TypeError):
        raise DeclarationError(f"Expected a discrete network from pgmpy; got a {type(model).__name__}.") from None
    found = {str(cpd.variables[0]): cpd for cpd in cpds}
    if missing := [name for name in names if name not in found]:
        raise DeclarationError(f"The network has no table of probabilities for {', '.join(map(repr, missing))}.")
    columns, parents, tables = [], [], {}
    for name in names:
        cpd = found[name]
        levels = list(cpd.state_names[cpd.variables[0]])
        columns.append(Column(name, levels, usual_home(levels)))
        parents.append([str(parent) for parent in cpd.variables[1:]])
        tables[name] = np.moveaxis(np.asarray(cpd.values, dtype=float), 0, -1)
    arrows = {(parent, name) for name, above in zip(names, parents, strict=True) for parent in above}
    if {(str(one), str(two)) for one, two in edges} != arrows:
        raise DeclarationError("The edges of the network do not agree with the parents in its tables.")
    return Network(columns, parents), tables


def write_pgmpy(network: Network, tables: Mapping[str, ArrayLike] | None = None) -> "DiscreteBayesianNetwork":
    """Return a network of pgmpy with these tables, axes (parents..., variable); left out, the means of the prior."""
    try:
        from pgmpy.factors.discrete import TabularCPD
        from pgmpy.models import DiscreteBayesianNetwork
    except ImportError:
        raise DiscreetError('Networks from pgmpy need that package: pip install "discreet[pgmpy]".') from None
    columns = {column.name: column for column in network.variables}
    edges = [(parent, c.name) for c, above in zip(network.variables, network.parents, strict=True) for parent in above]
    model = DiscreteBayesianNetwork(edges)
    model.add_nodes_from(columns)
    for family, prior in zip(network.families, network.prior, strict=True):
        *above, name = family
        shape = network.shape(family)
        table = np.broadcast_to(np.array(prior) / sum(prior), shape) if tables is None else np.asarray(tables[name])
        if table.shape != shape:
            raise DeclarationError(f"The table of {name!r} must have the axes (parents..., levels): {shape}.")
        model.add_cpds(
            TabularCPD(
                name,
                shape[-1],
                np.moveaxis(table, -1, 0).reshape(shape[-1], -1),
                evidence=list(above) or None,
                evidence_card=list(shape[:-1]) or None,
                state_names={each: list(columns[each].levels) for each in family},
            )
        )
    return model
