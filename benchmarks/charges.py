"""What releases are charged, before and after: version 1 of a kind, and the exact cost.

A ledger of 200 JointHistograms, 20 draws of a normal mean, and what single releases cost among others.
"""

from fractions import Fraction

import discreet as dc
from discreet.guarantees import zcdp_epsilon
from discreet.mechanisms import (
    BoxMoments,
    CubeCounts,
    FamilyHistograms,
    JointHistograms,
    NetworkSampling,
    PosteriorSampling,
)
from discreet.mechanisms.first_charges import (
    FirstBoxMoments,
    FirstCubeCounts,
    FirstFamilyHistograms,
    FirstJointHistograms,
    FirstNetworkSampling,
    FirstPosteriorSampling,
)

DELTA = Fraction(1, 10**6)
THREE = dc.Network.from_edges("a", "b", "c", levels=dict.fromkeys("abc", tuple(range(4))), outside=0)
ITEMS = [f"item {place}" for place in range(16)]
YES_NO = dc.Network.naive_bayes("group", ITEMS, dict.fromkeys(["group", *ITEMS], (0, 1)), outside=0, prior=100)
LINE = dc.LinearRegression("y", ["x"], {"x": (0, 1), "y": (0, 1)}, noise="0.2", missing="middle")
MEAN = dc.NormalMean("x", low=-1, high=1, variance=1, bands=50, outside="usual")
TREE = dc.Network.from_edges("a -> b", levels={"a": (0, 1), "b": (0, 1)}, outside=0, prior=20)


def joint_releases() -> None:
    """Print what 200 releases of epsilon 0.1 cost on a ledger, at a delta of 1e-6."""
    print("200 JointHistograms of three tables with 4 cells, epsilon 0.1 each, delta 1e-6")
    for kind in (FirstJointHistograms, JointHistograms):
        rho = 200 * kind(THREE, 600, "0.1").rho
        print(f"  version {kind.document_version}: basic 20, zCDP {float(zcdp_epsilon(rho, DELTA)):.4f}")


def normal_draws() -> None:
    """Print what 20 draws of a normal mean cost: each by itself on a ledger, and all as one plan."""
    mu = MEAN.gaussian_privacy(1000)
    print(f"20 draws of a NormalMean, 1,000 records, mu = {mu:.6f} each, delta 1e-6 for each and for the plan")
    for kind in (FirstPosteriorSampling, PosteriorSampling):
        draw = kind.tempered(MEAN, size=1000, epsilon="0.5", delta=DELTA)
        totals = dc.Plan([draw] * 20, delta=20 * DELTA).totals()
        cost = dc.guarantees.zcdp_cost(draw)
        spare = 20 * DELTA - 20 * cost[1]
        zcdp = f"{float(zcdp_epsilon(20 * cost[0], spare)):.4f}" if spare > 0 else "none, all of delta is used up"
        print(
            f"  version {kind.document_version}: epsilon {float(draw.guarantee.epsilon):g} each, ledger basic "
            f"{float(20 * draw.guarantee.epsilon):.4f}, ledger zCDP {zcdp} (rho {float(20 * cost[0]):.6f}, delta "
            f"beside it {float(20 * cost[1]):g}), plan {float(totals.planned):.4f}, at delta {float(20 * DELTA):g}"
        )


def single_releases() -> None:
    """Print epsilon and rho of single releases."""
    print("one release: epsilon and rho, as version 1 and now")
    cases = [
        ("JointHistograms, 3 x 4 cells", FirstJointHistograms(THREE, 600, 1), JointHistograms(THREE, 600, 1)),
        ("CubeCounts, 16 items, share .1", FirstCubeCounts(YES_NO, 600, 1, "0.1"), CubeCounts(YES_NO, 600, 1, "0.1")),
        ("FamilyHistograms, 16 families", FirstFamilyHistograms(YES_NO, 600, 1), FamilyHistograms(YES_NO, 600, 1)),
        ("BoxMoments, one feature", FirstBoxMoments(LINE, 600, 1), BoxMoments(LINE, 600, 1)),
        (
            "NetworkSampling, a -> b, prior 20",
            FirstNetworkSampling.plain(TREE, size=600, delta=DELTA),
            NetworkSampling.plain(TREE, size=600, delta=DELTA),
        ),
    ]
    for name, before, after in cases:
        figures = [f"{float(each.guarantee.epsilon):.4f}, {float(each.rho):.6f}" for each in (before, after)]
        print(f"  {name:36s} {figures[0]} -> {figures[1]}")


if __name__ == "__main__":
    joint_releases()
    normal_draws()
    single_releases()
