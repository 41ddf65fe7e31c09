"""Plans, each in CPU seconds, without start-up: one epsilon of a question, its curve, and the search for a width.

Goals are for questions that are read exactly; chains take longer.
"""

import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import process_time

from figures import record

import discreet as dc
from discreet.command_line.epsilons import Epsilons
from discreet.mechanisms import with_fields
from discreet.planning.plan import accuracy, accuracy_curve, epsilons_that_fit, solve_for_width, studies_for
from discreet.study import Question

STUDY = """\
[data]
path = "survey.csv"
size = 1200
unit = "one row per patient"

[columns.ward]
levels = ["North", "South", "East", "West"]

[columns.fall]
levels = ["no", "yes"]
outside = "no"

[columns.smoking]
levels = ["never", "former", "current"]

[columns.age]
bounds = [0, 120]
missing = "middle"

[columns.bmi]
bounds = [10, 60]
missing = "middle"

[budget]
epsilon = "20"
ledger = "study.db"
population = "patients"

[questions.smoking]
columns = ["smoking"]
epsilon = "0.1"

[questions.falls]
columns = ["ward", "fall"]
epsilon = "0.5"

[questions.three-columns]
columns = ["ward", "fall", "smoking"]
epsilon = "0.5"

[questions.mean]
model = "number"
column = "bmi"
ask = ["mean", "sum"]
epsilon = "1"

[questions.means-by-ward]
model = "number"
column = "bmi"
ask = ["mean", "variance"]
by = "ward"
epsilon = "1"

[questions.quantiles]
model = "number"
column = "age"
quantiles = [0.25, 0.5, 0.75]
epsilon = "1"

[questions.line]
model = "regression"
formula = "bmi ~ age"
epsilon = "4"

[questions.logistic]
model = "logistic"
formula = "fall ~ ward + smoking"
prior = "Normal(0, 1.5)"
epsilon = "1"

[questions.network]
model = "network"
edges = ["ward -> fall", "smoking -> fall"]
epsilon = "1"

[questions.classes]
model = "naive-bayes"
target = "fall"
features = ["ward", "smoking"]
epsilon = "1"
"""


def cpu(work: Callable[[], object]) -> float:
    start = process_time()
    work()
    return process_time() - start


def line(words: str, seconds: float, goal: str) -> None:
    print(f"{words:<64} {seconds:8.3f} s   {goal}", flush=True)
    record(words, seconds, "CPU s", "", goal)


def curve(question: Question) -> object:
    """Return the default curve, as `discreet plan --ask` makes it."""
    mechanism = question.mechanism
    count = studies_for(mechanism)
    epsilons = epsilons_that_fit(mechanism, Epsilons(question).values(None), count)
    return accuracy_curve([with_fields(mechanism, epsilon=epsilon) for epsilon in epsilons], studies=count)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "study.toml"
        path.write_text(STUDY)
        study = dc.Study(path)
    for name, question in study.questions.items():
        mechanism = question.mechanism
        cpu(partial(accuracy, mechanism, studies=2))  # loads what it needs
        number, width = studies_for(mechanism), 0.5 * accuracy(mechanism, studies=8).width
        line(f"{name}: {number} studies at one epsilon", cpu(partial(accuracy, mechanism)), "goal 2")
        line(f"{name}: a curve", cpu(partial(curve, question)), "goal 5")
        try:
            line(f"{name}: epsilon for half the width", cpu(partial(solve_for_width, mechanism, width)), "")
        except dc.DiscreetError as refused:
            print(refused)


if __name__ == "__main__":
    main()
