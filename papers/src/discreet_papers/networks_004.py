"""Small networks of yes/no variables on which algorithms 1 and 2 are compared."""

from itertools import combinations, pairwise

import discreet as dc


def naive_bayes(features: int) -> dc.Network:
    """Return the network of a yes/no class and so many yes/no features."""
    names = [f"x{number}" for number in range(1, features + 1)]
    return dc.Network.naive_bayes("y", names, dict.fromkeys(["y", *names], (0, 1)), outside=0)


def yes_no(*edges: str) -> dc.Network:
    """Return the network of arrows between yes/no variables."""
    names = sorted({name.strip() for edge in edges for name in edge.split("->")})
    return dc.Network.from_edges(*edges, levels=dict.fromkeys(names, (0, 1)), outside=0)


_EIGHT = "abcdefgh"
NETWORKS = {
    "naive Bayes, 4 features": naive_bayes(4),
    "chain of 8": yes_no(*(f"{first} -> {second}" for first, second in pairwise(_EIGHT))),
    "8 independent": yes_no(*_EIGHT),
    "complete, 5 variables": yes_no(*(f"{first} -> {second}" for first, second in combinations("abcde", 2))),
    "tree-augmented, 8 variables": yes_no(
        *(f"a -> {name}" for name in _EIGHT[1:]), *(f"{first} -> {second}" for first, second in pairwise(_EIGHT[1:]))
    ),
    "asia": yes_no(
        *("asia -> tub", "smoke -> lung", "smoke -> bronc", "tub -> either", "lung -> either", "either -> xray"),
        *("either -> dysp", "bronc -> dysp"),
    ),
}
