"""Evidence for what the draft claims."""

import numpy as np

from discreet.choices._posterior_distances import Tables
from discreet_papers.claims.finding import Basis, Finding
from discreet_papers.evidence.rows import near, rows
from discreet_papers.paper_000.proposition_1 import edges, exceptions


def no_text() -> Finding:
    """Say that there is a title only."""
    return Finding(Basis.NOT_GIVEN, "the section has a title and no text")


def no_results() -> Finding:
    """Say that no experiment is described."""
    return Finding(Basis.NOT_GIVEN, "the section announces results and gives none")


def best_is_worst() -> Finding:
    """Look for a candidate that is best at x and worst at a neighbour y."""
    seen = []
    for size in range(3, 40):
        tables = Tables(np.ones(2), size)
        distances = tables.distances(tables.all)
        for x in range(size):
            best = int(distances[x].argmin())
            seen.append(bool(distances[x + 1, best] >= distances[x + 1].max()))
    return Finding(
        Basis.COMPUTED,
        "all neighbours of 3 to 39 records compared; the best candidate at x is x itself",
        {"some candidate is the best at x and the worst at its neighbour": any(seen)},
        numbers={"pairs": len(seen)},
    )


def proposition_1() -> Finding:
    """Compare neighbouring edges up to 200 records."""
    found = [exceptions(size) for size in range(2, 201)]
    first, second, mirrored = (sum(each[key] for each in found) for key in list(found[0])[1:])
    return Finding(
        Basis.COMPUTED,
        "all edges up to 200 records; concavity of ln r proves the changed statement for any number",
        {"first half": first == 0, "second half": second == 0},
        {"first half": first == 0, "second half, mirrored": mirrored == 0},
        {"second": second, "mirrored": mirrored},
    )


def proposition_1_proof() -> Finding:
    """Check the identity of the base case, and where the base case exists."""
    even = range(2, 200, 2)
    identity = all((n - 1) ** 2 * (n + 2) * (n + 4) - (n + 3) ** 2 * n * (n - 2) == 8 * n + 8 for n in even)
    defined = {n: n // 2 + 2 <= n for n in even}
    return Finding(
        Basis.COMPUTED,
        "the identity and its range, for even sizes up to 198; the step of the induction drops a factor",
        {
            "the base case reduces to 8 n + 8 > 0": identity,
            "it is about data that exist, for all n": all(defined.values()),
        },
        {"from four records on": identity and all(exists for n, exists in defined.items() if n >= 4)},
    )


def proposition_2() -> Finding:
    """Compare the local sensitivity with the named edge."""
    found = rows("000-proposition-2")
    wrong = sum(each["exceptions"] for each in found)
    exists = all(x + 1 in range(n + 1) for n in (2, 3, 10) for x in range((n + 1) // 2, n + 1))
    return Finding(
        Basis.COMPUTED,
        "all counts up to 60 records; concavity of ln r proves the changed statement",
        {"the edge away from the middle, where it exists": wrong == 0, "it exists for every x": exists},
        {"the edge away from the middle, where it exists": wrong == 0},
    )


def proposition_2_proof() -> Finding:
    """Compare both edges beside the middle."""
    even = all(near(edges(n)[n // 2 - 1], edges(n)[n // 2]) for n in range(2, 100, 2))
    five = edges(5)
    return Finding(
        Basis.COMPUTED,
        "both edges computed",
        {"equal for an even number of records": even, "equal for five records": near(five[1], five[2])},
        {"equal for an even number of records": even},
        {"below": five[1], "above": five[2]},
    )


def proposition_3() -> Finding:
    """Compare the sensitivity in the middle with all others."""
    found = rows("000-proposition-3")
    failing = [each["size"] for each in found if not each["strict"]]
    return Finding(
        Basis.COMPUTED,
        "all counts of 2 to 60 records; concavity of ln r proves the changed statement",
        {"strictly smaller for all sizes": not failing},
        {"strictly smaller from four records on": all(size < 4 for size in failing)},
        {"failing": " and ".join(map(str, failing))},
    )
