"""Reading, each figure in CPU seconds beside its slow twin: intervals, large tables, planning, strengths, sums, noise.

The twins are what a reader would write down first: one law after the other, one study after the other, one strength
after the other, rows that are drawn until their sum fits. Of 1,000 laws every 20th is timed. The study has the three
questions of examples/hospital.py; its plans are whole commands, starting Python and loading the library included.
Names of parts (`pairs rows_of_totals`) run these alone.
"""

import os
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import partial
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from typing import TypeVar, cast

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from clock import cpu
from demo import STUDY
from figures import record

import discreet as dc
from discreet._core.arrays import Floats
from discreet.inference import Problem, solve, solve_with_strengths
from discreet.inference._prior_strengths import strengthened
from discreet.networks._approximate_rows import ApproximateRow
from discreet.networks._naive_bayes import whole
from discreet.noise._zero_sum_gaussian import halved_noise
from discreet.noise._zero_sum_laplace import balanced
from discreet.noise.randomness._samplers import bernoulli_exponential, discrete_gaussian
from discreet.privacy import compose
from discreet.tables._groupwise import own_cells
from discreet.tables._solution import TableSolution

Value = TypeVar("Value")


def release(cells: int, size: int, epsilon: str, prior: float | None) -> dc.Release:
    generator = np.random.default_rng(1)
    model = dc.Categories("x", levels=tuple(range(cells)), prior=prior, outside=0)
    counts = generator.multinomial(size, generator.dirichlet(np.ones(cells)))
    return dc.simulate(dc.GeometricHistogram(model, size=size, epsilon=epsilon), counts, dc.SeededBits(1))


def line(words: str, seconds: float, most: float | None = None, slow: float | None = None) -> None:
    goal = "" if most is None else f"goal {most:g}"
    twin = "" if slow is None else f"   slow twin {slow:8.3f} s, {slow / seconds:6.1f} times as long"
    print(f"{words:<64} {seconds:8.3f} s{twin}   {goal}", flush=True)
    beside = "" if slow is None else f"written plainly {slow:.3g} s"
    record(words, seconds, "CPU s", beside, goal, most is not None and seconds > most)


def each(function: Callable[[Value], object], values: Iterable[Value]) -> list[object]:
    return [function(value) for value in values]


def read_intervals(published: dc.Release[dc.Categories]) -> object:
    return dc.infer(published).rows()


def intervals() -> None:
    for prior, words in ((1.0, "declared prior"), (None, "own sums")):
        posterior = dc.infer(release(1000, 100_000, "1", prior))
        posterior.rows(0.9)  # warm-up
        laws = [posterior.cell_distributions.row(place) for place in range(0, 1000, 20)]
        slow = 20 * cpu(partial(each, lambda law: law.interval(0.9), laws))
        line(f"1,000 intervals, {words}", cpu(partial(posterior._intervals, 0.9)), 0.2, slow)


def large_tables() -> None:
    for epsilon in ("1", "0.3"):
        large = release(10_000, 1_000_000, epsilon, None)
        line(f"10,000 cells, epsilon {epsilon}: infer and intervals", cpu(partial(read_intervals, large)), 5)


def planned(study: Path, question: str) -> float:
    """Return what a whole command takes, user and system; what fails is no measurement."""
    words = ["plan", str(study), "--ask", question, "--width", "0.1"]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    before = getrusage(RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, "-c", "from discreet.cli import main; main()", *words],
        check=True,
        stdout=subprocess.DEVNULL,
        env=environment,
    )
    after = getrusage(RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def marginals(reading: object) -> object:
    return cast(TableSolution, reading).counts.marginals


def read_marginals(problem: Problem) -> object:
    return marginals(solve(problem))


def strength_marginals(problems: list[Problem]) -> object:
    return each(marginals, solve_with_strengths(problems))


def planning() -> None:
    with tempfile.TemporaryDirectory() as folder:
        study = Path(folder) / "study.toml"
        study.write_text(STUDY)
        planned(study, "smoking")  # compiles the library once, as an installation does
        for question in ("smoking", "falls", "ages"):
            line(f"plan --width on the demo study, whole command: {question}", planned(study, question), 2)
    model = dc.Categories("x", levels=tuple(range(12)), prior=1, outside=0)
    for epsilon in ("0.1", "1"):
        one = dc.GeometricHistogram(model, size=2000, epsilon=epsilon)
        line(f"accuracy of 60 studies, 12 cells, epsilon {epsilon}", cpu(partial(dc.accuracy, one, 0.9, 60)))


def strengths() -> None:
    for cells, size, epsilon in ((1000, 10_000, "1"), (630, 24_420, "0.1")):
        problem = Problem.of([release(cells, size, epsilon, 1.0)])
        problems = strengthened(problem, [(2 / cells) ** (1 - step / 8) for step in range(9)])
        one = min(cpu(partial(read_marginals, problems[-1])) for _ in range(2))
        slow = cpu(partial(each, read_marginals, problems))
        nine = min(cpu(partial(strength_marginals, problems)) for _ in range(2))
        line(
            f"nine strengths, {cells} cells, epsilon {epsilon}: {nine / one:.1f} times one",
            nine,
            3.5 * one,
            slow,
        )


def known_sums() -> None:
    """10,000 cells through much noise: cells of few kinds, cells that all differ, and nine priors near the best."""
    cells, size = 10_000, 100_000
    published, different = release(cells, size, "0.1", 1.0), tuple(1 + 1e-6 * cell for cell in range(cells))
    equal, apart = Problem.of([published]), Problem.of([published], different)
    near = strengthened(equal, [0.9 + 0.025 * step for step in range(9)])
    words = "known sum of 10,000 cells, epsilon 0.1"
    line(f"{words}: few kinds", min(cpu(partial(read_marginals, equal)) for _ in range(3)))
    line(f"{words}: all different", min(cpu(partial(read_marginals, apart)) for _ in range(3)))
    line(f"{words}: nine priors", min(cpu(partial(strength_marginals, near)) for _ in range(3)))


def pairs() -> None:
    """Two cells of a known total, and every cell of a table beside all others."""
    for epsilon in ("1", "0.01"):
        problems = [Problem.of([release(2, 100_000, epsilon, 1.0)])] * 100
        line(f"100 shares, epsilon {epsilon}", least(partial(each, read_marginals, problems)))
    for cells, epsilon in ((1000, "1"), (1000, "0.1"), (10_000, "1")):
        problem = Problem.of([release(cells, 100 * cells, epsilon, None)])
        line(f"own counts of {cells:,} cells, epsilon {epsilon}", least(partial(own_cells, problem)))


def rows_of_totals() -> None:
    """Rows of counts for every total at once: drawn rows of a large graph, and classes that weigh every count."""
    fitted = [np.array([20.0, 3.0, 11.0, 0.5]), np.array([400.0, 90.0]), np.array([3.0, 5.0])]
    for deviation in (2.0, 9.0):
        words = f"1,000 draws of each of 300 rows, noise {deviation:g}"
        line(words, least(partial(each, partial(draw_row, deviation), 100 * fitted)))
    for size, levels, features in ((100, 2, 10), (1000, 5, 5)):
        names = [f"x{place}" for place in range(features)]
        domains = {"y": (0, 1)} | {name: tuple(range(levels)) for name in names}
        mechanism = dc.FamilyHistograms(dc.Network.naive_bayes("y", names, domains, outside=0), size, 4)
        tables = mechanism.model.simulate(size, np.random.default_rng(1)).statistics
        problem = Problem.of([dc.simulate(mechanism, tables, dc.SeededBits(1))])
        words = f"means of {features} features of {levels} levels, {size} records, all counts"
        line(words, least(partial(whole_means, problem)))


def whole_means(problem: Problem) -> object:
    return whole(problem).means()


def draw_row(deviation: float, fitted: Floats) -> object:
    row = ApproximateRow(fitted, deviation, np.ones(len(fitted)), 1000)
    return row.draw(1000, np.random.default_rng(1))


def least(work: Callable[[], object]) -> float:
    """Return the least of several runs: what else the machine does adds to each."""
    return min(cpu(work) for _ in range(5))


def sums() -> None:
    model = dc.Categories("x", levels=tuple("abcd"), outside="a")
    compose([dc.GeometricHistogram(model, size=9, epsilon="0.1")], "1e-6")  # loads what composes
    equal = [dc.GeometricHistogram(model, size=1000, epsilon="0.1") for _ in range(100)]
    different = [dc.GeometricHistogram(model, size=1000 + k, epsilon="0.1") for k in range(100)]
    slow = cpu(lambda: compose(different, "1e-6"))
    line("compose 100 equal releases; plainly: 100 different ones", cpu(lambda: compose(equal, "1e-6")), None, slow)


def noise() -> None:
    v, bits = Fraction(36), dc.SeededBits(1)
    slow = cpu(
        lambda: balanced(
            1,
            10_000,
            lambda count: discrete_gaussian(v, count, bits),
            lambda last: bernoulli_exponential(1 / (2 * v), last * last, bits),
        )
    )
    line("Gaussian noise that sums to zero, 10,000 cells", cpu(lambda: halved_noise(v, 10_000, 1, bits)), None, slow)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    parts = (intervals, large_tables, planning, strengths, known_sums, pairs, rows_of_totals, sums, noise)
    for part in parts:
        if len(sys.argv) == 1 or part.__name__ in sys.argv[1:]:
            part()
