"""Evidence for the figures of the notes.

A figure is judged by the sentences about it, in the setting that is printed. Where the data behind it are not given it
is not checkable, whatever we find on data of our own; that is said beside it.
"""

import numpy as np

from discreet.choices._hellinger_sensitivity import global_sensitivity
from discreet.mathematics import log_r
from discreet_papers import as_published
from discreet_papers.claims.finding import Basis, Finding
from discreet_papers.evidence.rows import Numbers, digits, recorded, row, rows
from discreet_papers.paper_003 import floored_law, laplace_law, model_of, smooth_law
from discreet_papers.paper_003.figure_4 import PRINTED_GAMMA, PRINTED_GLOBAL, gamma_with_n


def _means(name: str, **where: object) -> dict[str, float]:
    chosen = [each for each in rows(name) if all(each[key] == value for key, value in where.items())]
    return {each["mechanism"]: each["mean"] for each in chosen}


def figure_3() -> Finding:
    """Means at balanced data of our own."""
    found = _means("003-figure-3", size=500)
    return Finding(
        Basis.NOT_GIVEN,
        "the data are not given",
        {
            "at balanced data smooth is better than global": found["exponential, smooth"]
            < found["exponential, global"],
            "and better than Laplace": found["exponential, smooth"] < found["Laplace, scale 2/epsilon"],
        },
        numbers={
            **{"smooth": found["exponential, smooth"], "global_": found["exponential, global"]},
            **{"laplace": found["Laplace, scale 2/epsilon"], "right": found["Laplace, scale 1/epsilon, rounded"]},
            "without": found["exponential, smooth, without the half"],
        },
    )


def captions_of_figure_4() -> Finding:
    """Compare the printed constants, which do not depend on the data."""
    gamma = all(digits(gamma_with_n(size)) == printed for size, printed in PRINTED_GAMMA.items())
    true = global_sensitivity(np.array([7.0, 4.0, 5.0]), 100)
    below = float(np.sqrt(-np.expm1(log_r(np.array([7.0])) + log_r(np.array([3.0]))))[0])
    return Finding(
        Basis.COMPUTED,
        "gamma and the global sensitivity depend on the size and the prior only",
        {"gamma, with n for n + 1": gamma, "the global sensitivity": digits(true) == PRINTED_GLOBAL},
        {
            "gamma, with n for n + 1": gamma,
            "the printed value is of a parameter below the prior": digits(below) == PRINTED_GLOBAL,
        },
        {"true": true},
    )


def figure_4() -> Finding:
    """Sensitivities at balanced data of our own."""
    found = {
        size: row("003-figure-4", size=size, mechanism="exponential, smooth")["sensitivity"] for size in (100, 120)
    }
    return Finding(Basis.NOT_GIVEN, "the data are not given", numbers={"at_100": found[100], "at_120": found[120]})


def figure_5() -> Finding:
    """Both rankings at balanced data of our own."""
    found = rows("003-figure-5")
    ranks = [[each["mechanism"] for each in sorted(found, key=lambda each: each[key])] for key in ("mean", "l1_mean")]
    return Finding(
        Basis.NOT_GIVEN,
        "the data are not given",
        {"at balanced data both measures rank alike": ranks[0] == ranks[1]},
        numbers={"first": ranks[0][0]},
    )


def caption_of_figure_5() -> Finding:
    """Compare the printed gamma with those of 150 and of 120 records."""
    printed = PRINTED_GAMMA[120]
    return Finding(
        Basis.COMPUTED,
        "gamma depends on the size only",
        {"the printed gamma is that of 150 records": digits(gamma_with_n(150)) == printed},
        {"it is that of 120 records": digits(gamma_with_n(120)) == printed},
        {"true": gamma_with_n(150)},
    )


def conclusions() -> Finding:
    """Means at balanced data of our own."""
    found = _means("003-figure-4", size=120)
    smooth, local, largest = (found[f"exponential, {kind}"] for kind in ("smooth", "local", "global"))
    noise = found["Laplace, scale 2/epsilon"]
    return Finding(
        Basis.NOT_GIVEN,
        "they are drawn from figures 3 to 5, whose data are not given",
        {
            "at balanced data smooth is about as good as local": abs(smooth - local) < 0.05 * local,
            "both are better than global": max(smooth, local) < largest,
            "and slightly better than Laplace": smooth < noise,
        },
        numbers={"smooth": smooth, "laplace": noise},
    )


def _both(cells: int, size: int) -> tuple[float, float]:
    prior, counts = (1.0,) * cells, (size // cells,) * cells
    return smooth_law(prior, counts).mean, floored_law(prior, counts).mean


def accuracy_and_size() -> Finding:
    """Follow the mean distance over the sizes of balanced data."""
    found = {size: _both(2, size)[0] for size in (2, 10, 30, 100, 500)}
    values = list(found.values())
    return Finding(
        Basis.COMPUTED,
        "exact means at balanced data, beta(1, 1), epsilon = 0.8, delta = 0.0005",
        {"the mean distance grows with the size": values == sorted(values)},
        numbers={f"at_{size}": value for size, value in found.items()},
    )


def figure_6a() -> Finding:
    """Compare both means for balanced sizes up to 600 in two dimensions."""
    sizes = (*range(2, 42, 2), 100, 200, 300, 400, *range(440, 462, 2), 500, 600)
    wins = {size: np.less(*_both(2, size)) for size in sizes}
    again = min(size for size, won in wins.items() if won and size >= 12)
    small = [size for size in range(2, 31, 2) if smooth_law((1, 1), (size // 2,) * 2).mean < _right_noise(size)]
    return Finding(
        Basis.COMPUTED,
        "exact means of balanced data at the printed setting, sizes up to 600",
        {
            "wins below 12 records": all(won for size, won in wins.items() if size < 12),
            "loses from 12 records on": not any(won for size, won in wins.items() if size >= 12),
        },
        {
            "loses from 12 on until it wins again": all(
                bool(won) == (size < 12 or size >= again) for size, won in wins.items()
            )
        },
        {"again": again, "small": max(small)},
    )


def _right_noise(size: int) -> float:
    counts = (size // 2, size // 2)
    return laplace_law(as_published.FlooredLaplace(model_of((1, 1)), size, "0.8", 1, 1), counts).mean


@recorded
def three_dimensions_far() -> Numbers:
    """Return both means at large sizes in three dimensions."""
    found: Numbers = {}
    for size in (150, 300, 600, 900):
        found[f"exponential_{size}"], found[f"laplace_{size}"] = _both(3, size)
    return found


def figure_6b() -> Finding:
    """Compare both means for balanced sizes up to 900 in three dimensions."""
    wins = {size: bool(np.less(*_both(3, size))) for size in range(3, 46, 3)}
    far = three_dimensions_far()
    wins |= {size: far[f"exponential_{size}"] < far[f"laplace_{size}"] for size in (150, 300, 600, 900)}
    return Finding(
        Basis.SEARCHED,
        "exact means of balanced data at the printed setting, sizes up to 900",
        {
            "wins below 15 records": all(won for size, won in wins.items() if size < 15),
            "loses from 15 records on": not any(won for size, won in wins.items() if size >= 15),
        },
        numbers={"most": max(wins)},
    )


def figure_7() -> Finding:
    """Find the last size at which the mechanism wins, in two to four dimensions."""
    found = rows("003-figure-7")
    pairs = [(one, two) for one, two in zip(found[::2], found[1::2], strict=True)]
    turn = {
        m: max(one["size"] for one, two in pairs if one["dimensions"] == m and one["mean"] < two["mean"])
        for m in (2, 3, 4)
    }
    grows = all(
        [each["mean"] for each in found if each["mechanism"] == name and each["records_of_each"] == k]
        == sorted(each["mean"] for each in found if each["mechanism"] == name and each["records_of_each"] == k)
        for name in ("exponential", "Laplace")
        for k in (1, 3, 5)
    )
    return Finding(
        Basis.COMPUTED,
        "exact means, one to five records of each kind in two to four dimensions",
        {
            "both become worse with the dimension": grows,
            "the last size that wins moves by two at most": max(turn.values()) - min(turn.values()) <= 2,
        },
        numbers={"turns": ", ".join(map(str, turn.values()))},
    )


def figure_8() -> Finding:
    """Winners for ten records of our own."""
    found = rows("003-figure-8")
    won = [one["ones"] for one, two in zip(found[::2], found[1::2], strict=True) if one["mean"] < two["mean"]]
    return Finding(
        Basis.NOT_GIVEN,
        "the number of records is not given",
        {"with ten records the winners are the most balanced": all(3 <= ones <= 7 for ones in won)},
        numbers={"won": " and ".join(map(str, won))},
    )


def figure_9() -> Finding:
    """Compare both means for growing priors at the printed data."""
    found = rows("003-figure-9")
    pairs = {one["prior"]: (one["mean"], two["mean"]) for one, two in zip(found[::2], found[1::2], strict=True)}
    order = [pairs[prior][0] - pairs[prior][1] for prior in sorted(pairs)]
    return Finding(
        Basis.COMPUTED,
        "exact means at the printed data",
        {
            "loses at the smallest prior": order[0] > 0,
            "the gap closes as the prior grows": order == sorted(order, reverse=True),
            "wins at last": order[-1] < 0,
        },
        numbers={"one_e": pairs[1][0], "one_l": pairs[1][1], "four_e": pairs[4][0], "four_l": pairs[4][1]},
    )


def figure_10() -> Finding:
    """How much a growing prior helps, with ten records of our own."""
    found = rows("003-figure-10")
    means = {
        name: [each["mean"] for each in found if (each["mechanism"], each["ones"]) == (name, 5)]
        for name in ("exponential", "Laplace")
    }
    gain = {name: 1 - values[-1] / values[0] for name, values in means.items()}
    return Finding(
        Basis.NOT_GIVEN,
        "data and priors are not given; the caption is that of figure 2",
        {"with ten balanced records a growing prior does not help the Laplace mechanism": gain["Laplace"] <= 0},
        numbers={"exponential": gain["exponential"], "laplace": gain["Laplace"]},
    )


def figure_11() -> Finding:
    """Compare all neighbours at the printed setting."""
    found = {each["size"]: each["epsilon_over_all_data"] for each in rows("003-figure-11")}
    return Finding(
        Basis.COMPUTED,
        "all neighbours and candidates compared",
        {"below the stated 0.8": max(found.values()) < 0.8},
        numbers={"at_90": found[90], "at_180": found[180]},
    )
