"""Plans, each in CPU seconds, without start-up: one epsilon of a question, its curve, and the search for a width.

Goals are for questions that are read exactly, or row by row instead of by chains.
"""

import tempfile
from functools import partial
from pathlib import Path

from clock import cpu
from demo import STUDY
from figures import record

import discreet as dc
from discreet.cli._plan import Epsilons
from discreet.mechanism import Mechanism, with_fields
from discreet.planning import accuracy, accuracy_curve, epsilons_that_fit, solve_for_width, studies_for
from discreet.study import Question


def line(words: str, seconds: float, most: float | None = None) -> None:
    goal = "" if most is None else f"goal {most:g}"
    print(f"{words:<64} {seconds:8.3f} s   {goal}", flush=True)
    record(words, seconds, "CPU s", "", goal, most is not None and seconds > most)


def curve_of(question: Question) -> list[Mechanism]:
    """Return the mechanisms of the default curve, as `discreet plan --ask` makes it."""
    mechanism = question.mechanism
    epsilons = epsilons_that_fit(mechanism, Epsilons(question).values(None), studies_for(mechanism))
    return [with_fields(mechanism, epsilon=epsilon) for epsilon in epsilons]


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "study.toml"
        path.write_text(STUDY)
        study = dc.Study(path)
    for name, question in study.questions.items():
        mechanism = question.mechanism
        cpu(partial(accuracy, mechanism, studies=2))  # loads what it needs
        number, width = studies_for(mechanism), 0.5 * accuracy(mechanism, studies=8).width
        line(f"{name}: {number} studies at one epsilon", cpu(partial(accuracy, mechanism)), 2)
        curve = curve_of(question)
        line(f"{name}: a curve of {len(curve)} points", cpu(partial(accuracy_curve, curve, studies=number)), 5)
        try:
            line(f"{name}: epsilon for half the width", cpu(partial(solve_for_width, mechanism, width)))
        except dc.DiscreetError as refused:
            print(refused)


if __name__ == "__main__":
    main()
