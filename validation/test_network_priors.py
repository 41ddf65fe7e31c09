"""How often intervals by networks hold fixed truths where no prior was declared: rare events, entries, rare classes.

Small networks of bnlearn with their own probabilities, a rare event with three parents, and naive Bayes with a rare
class. Events are those with a probability below .1 or above .9; entries of 0 and 1 are looked at apart. A prior of 1
for each level, which was the default once, is shown beside it for two of them. Predictions of a rare class are compared
with how often it occurs.
"""

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from kept_results import kept, repeats
from numpy.typing import ArrayLike, NDArray
from test_other_intervals import Asked, Setting
from test_skewed_truths import LEVELS, assert_held, joined

import discreet as dc

Floats = NDArray[np.float64]
BATCHES = repeats(1, 2)
YES: dict[str, dict[str, ArrayLike]] = {
    "cancer": {"Pollution": 0.1, "Smoker": 0.3, "Cancer": [[0.001, 0.03], [0.02, 0.05]],
               "Xray": [0.2, 0.9], "Dyspnoea": [0.3, 0.65]},
    "asia": {"asia": 0.01, "tub": [0.01, 0.05], "smoke": 0.5, "lung": [0.01, 0.1], "bronc": [0.3, 0.6],
             "either": [[0, 1], [1, 1]], "xray": [0.05, 0.98], "dysp": [[0.1, 0.8], [0.7, 0.9]]},
    "earthquake": {"Burglary": 0.01, "Earthquake": 0.02, "Alarm": [[0.001, 0.29], [0.94, 0.95]],
                   "John": [0.05, 0.9], "Mary": [0.01, 0.7]},
    "three parents": {"a": 0.3, "b": 0.2, "c": 0.1, "rare": 0.003 * 3.0 ** np.indices((2, 2, 2)).sum(axis=0)},
}  # fmt: skip
EDGES = {
    "cancer": ("Pollution -> Cancer", "Smoker -> Cancer", "Cancer -> Xray", "Cancer -> Dyspnoea"),
    "asia": ("asia -> tub", "smoke -> lung", "smoke -> bronc", "tub -> either", "lung -> either", "either -> xray",
             "either -> dysp", "bronc -> dysp"),
    "earthquake": ("Burglary -> Alarm", "Earthquake -> Alarm", "Alarm -> John", "Alarm -> Mary"),
    "three parents": ("a -> rare", "b -> rare", "c -> rare"),
}  # fmt: skip


def graph(name: str) -> tuple[dc.Network, dict[str, Floats]]:
    """Return a network and the true probabilities of its tables, axes (parents..., levels)."""
    model = dc.Network.from_edges(*EDGES[name], levels=dict.fromkeys(YES[name], ("no", "yes")), outside="no")
    yes = {key: np.asarray(each, dtype=float) for key, each in YES[name].items()}
    return model, {key: np.stack([1 - each, each], axis=-1) for key, each in yes.items()}


def records_of(model: dc.Network, truth: dict[str, Floats], size: int, generator: np.random.Generator) -> Any:
    """Draw records from true tables, and count them in the maximal families."""
    codes: dict[str, NDArray[np.int64]] = {}
    for column, above in zip(model.variables, model.parents, strict=True):
        chances = np.broadcast_to(truth[column.name][tuple(codes[each] for each in above)], (size, 2))
        codes[column.name] = (generator.random(size) < chances[:, 1]).astype(np.int64)
    tables = []
    for family in model.maximal_families:
        table = np.zeros(model.shape(family), dtype=np.int64)
        np.add.at(table, tuple(codes[name] for name in family), 1)
        tables.append(table.ravel())
    return codes, np.concatenate(tables)


def marginals(model: dc.Network, truth: dict[str, Floats]) -> dict[str, float]:
    """Return P(yes) of every variable, by summing over all records."""
    names = [column.name for column in model.variables]
    codes = np.indices((2,) * len(names)).reshape(len(names), -1)
    place = dict(zip(names, codes, strict=True))
    chance = np.ones(codes.shape[1])
    for column, above in zip(model.variables, model.parents, strict=True):
        chance = chance * truth[column.name][(*(place[each] for each in above), place[column.name])]
    return {name: float(chance[place[name] == 1].sum()) for name in names}


def of_graph(
    name: str, size: int, epsilon: str, with_ones: bool = False
) -> Callable[[np.random.Generator, dc.SeededBits], Iterator[Asked]]:
    """Ask a network about its rare events and all entries of its tables."""
    model, truth = graph(name)
    mechanism, rates = dc.FamilyHistograms(model, size, epsilon), marginals(model, truth)
    entries = np.concatenate([truth[column.name].ravel() for column in model.variables])

    def asked(generator: np.random.Generator, bits: dc.SeededBits) -> Iterator[Asked]:
        _, counts = records_of(model, truth, size, generator)
        release = dc.simulate(mechanism, counts, bits)
        for prior, words in ((None, ""), (1, ", prior 1"))[: 1 + with_ones]:
            posterior = dc.infer(release, prior=prior)
            for key, rate in rates.items():
                if not 0.1 <= rate <= 0.9:
                    yield f"rare event{words}", rate, posterior.probability(f"{key}=yes").interval
            rows = {level: posterior.rows(level) for level in LEVELS}
            for index, value in enumerate(entries.tolist()):
                word = "entry inside" if 0 < value < 1 else "entry of 0 or 1"

                def ends(level: float, rows: Any = rows, index: int = index) -> tuple[float, float]:
                    return rows[level][index].low, rows[level][index].high

                yield f"{word}{words}", value, ends

    return asked


FEATURES = tuple(f"f{number}" for number in range(6))
CLASS, GIVEN = 0.08, np.array([[0.3, 0.2, 0.4, 0.1, 0.5, 0.25], [0.6, 0.6, 0.7, 0.4, 0.8, 0.5]])
NAIVE = dc.Network.naive_bayes("y", FEATURES, dict.fromkeys(("y", *FEATURES), ("no", "yes")), outside="no")


def of_class(size: int, kind: Any) -> Callable[[np.random.Generator, dc.SeededBits], Iterator[Asked]]:
    """Ask naive Bayes for the share of a rare class, and what it predicts on average for 1,500 new records."""
    truth = {"y": np.array([1 - CLASS, CLASS])}
    truth |= {n: np.stack([1 - GIVEN[:, i], GIVEN[:, i]], axis=-1) for i, n in enumerate(FEATURES)}
    mechanism = kind(NAIVE, size, "1")

    def asked(generator: np.random.Generator, bits: dc.SeededBits) -> Iterator[Asked]:
        _, counts = records_of(NAIVE, truth, size, generator)
        release = dc.simulate(mechanism, counts, bits)
        new, _ = records_of(NAIVE, truth, 1_500, generator)
        rows = {name: np.array(["no", "yes"])[new[name]].tolist() for name in FEATURES}
        for prior, words in ((None, ""), (1, ", prior 1")):
            posterior = dc.infer(release, prior=prior)
            yield f"share of a rare class{words}", CLASS, posterior.probability("y=yes").interval
            predicted = float(posterior.predict_proba(rows)[:, 1].mean())
            print(f"{type(mechanism).__name__}{words}: predicted {predicted:.4f}, observed {new['y'].mean():.4f}")
            for name, (no, yes) in zip(FEATURES, GIVEN.T.tolist(), strict=True):
                yield f"entry of naive Bayes{words}", no, posterior.conditional(f"{name}=yes", "y=no").interval
                yield f"entry of naive Bayes{words}", yes, posterior.conditional(f"{name}=yes", "y=yes").interval

    return asked


SETTINGS = (
    Setting("cancer, n = 200, epsilon 1", 881, of_graph("cancer", 200, "1"), BATCHES),
    Setting("cancer, n = 500, epsilon 1", 882, of_graph("cancer", 500, "1", with_ones=True), BATCHES),
    Setting("cancer, n = 2,000, epsilon 0.3", 883, of_graph("cancer", 2_000, "0.3"), BATCHES),
    Setting("asia, n = 500, epsilon 1", 884, of_graph("asia", 500, "1"), BATCHES),
    Setting("asia, n = 2,000, epsilon 0.3", 885, of_graph("asia", 2_000, "0.3"), BATCHES),
    Setting("earthquake, n = 200, epsilon 0.3", 886, of_graph("earthquake", 200, "0.3"), BATCHES),
    Setting("earthquake, n = 500, epsilon 1", 887, of_graph("earthquake", 500, "1"), BATCHES),
    Setting("three parents, n = 500, epsilon 1", 888, of_graph("three parents", 500, "1", with_ones=True), BATCHES),
    Setting("three parents, n = 2,000, epsilon 1", 889, of_graph("three parents", 2_000, "1"), BATCHES),
    Setting("three parents, n = 2,000, epsilon 0.3", 890, of_graph("three parents", 2_000, "0.3"), BATCHES),
    Setting("naive Bayes, n = 400, FamilyHistograms", 891, of_class(400, dc.FamilyHistograms), BATCHES),
    Setting("naive Bayes, n = 400, CubeCounts", 892, of_class(400, dc.CubeCounts), BATCHES),
)
LEAST = {"entry of 0 or 1": (0.6, 0.7, 0.7)}  # those that do not hold, as docs/calibration.md says


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda each: each.name)
def test_intervals_by_networks_hold_fixed_truths(setting: Setting) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        batches = kept("skewed-networks", setting.name, setting.seed, setting.batches, setting.batch)
    for name, found in joined(batches).items():
        quantity = name.split(f", {setting.name}")[0]
        if not quantity.endswith("prior 1"):
            assert_held(name, found, LEAST.get(quantity, (0.3, 0.75, 0.85)))
        else:
            print(f"{name}: {found}")


def test_a_rare_class_read_through_cube_noise_is_found_a_little_too_rare() -> None:
    """Posterior means of its share minus its share of the records, on average of 60 releases, by the features' prior.

    Their prior is the cause: half a record for each level, which two rows would share otherwise, pulls it down most;
    two do not. Without features, the class counts' own noise would not pull at all.
    `test_network_coverage` shows on few records that inference is Bayes' rule and right on average over the prior.
    """
    truth = {"y": np.array([1 - CLASS, CLASS])}
    truth |= {n: np.stack([1 - GIVEN[:, i], GIVEN[:, i]], axis=-1) for i, n in enumerate(FEATURES)}
    mechanism = dc.CubeCounts(NAIVE, 400, "1")
    priors = (None, *({"y": 1, **dict.fromkeys(FEATURES, each)} for each in (0.5, 2)))
    generator, bits, found = np.random.default_rng(893), dc.SeededBits(893), []
    for _ in range(60):
        codes, counts = records_of(NAIVE, truth, 400, generator)
        release = dc.simulate(mechanism, counts, bits)
        noisy, chances = int(release.output[1]), np.arange(401)
        weights = np.exp(-float(mechanism.class_epsilon) * np.abs(noisy - chances))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", dc.PriorOutweighsWarning)
            means = [dc.infer(release, prior=prior).probability("y=yes").mean for prior in priors]
        found.append([*means, (1 + weights @ chances / weights.sum()) / 402] - codes["y"].mean())
    shifts, errors = np.mean(found, axis=0), np.std(found, axis=0, ddof=1) / np.sqrt(60)
    words = ("no prior declared", "1/2 for features", "2 for features", "class counts alone")
    print(*(f"{w}: {s:.4f} +- {e:.4f}" for w, s, e in zip(words, shifts, errors, strict=True)), sep="\n")
    assert abs(shifts[3]) < 4 * errors[3]
    assert shifts[1] < shifts[0] < shifts[2]
    assert shifts[0] < 0
    assert shifts[0] > -0.02
