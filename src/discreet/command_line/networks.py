"""What the commands show of a network before it is published: how noisy its tables will be."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from discreet.command_line.screen import say, show_json, show_table, working
from discreet.exact import Exact, exact_text
from discreet.mechanisms import Mechanism, with_fields
from discreet.planning.network_accuracy import ExpectedNetwork, expected_network
from discreet.show import charts
from discreet.study import Question


def plan_network(
    question: Question, epsilons: Sequence[Exact], sizes: Sequence[int], level: float, plot: Path | None, as_json: bool
) -> None:
    """Show how much noise the counts of a network will get, which mechanism adds it, and why that one."""
    mechanism = question.mechanism
    others = [with_fields(mechanism, epsilon=epsilon) for epsilon in epsilons]
    others += [with_fields(mechanism, size=size) for size in sizes]
    rows = [_noise(other) for other in others]
    with working("simulating made-up studies", as_json):
        found = None if question.refusal else expected_network(mechanism, level)
    if plot is not None:
        charts.render(charts.network_chart(mechanism.model), plot)
    kind = type(mechanism).__name__
    if as_json:
        facts = {
            "question": question.name,
            "mechanism": kind,
            "reason": question.reason,
            "cells": mechanism.model.cells,
        }
        extra = {"expected": None if found is None else asdict(found), "cannot_be_read": question.refusal}
        return show_json(facts | {"rows": rows} | extra)
    show_table(
        f"{question.label}: how noisy the {mechanism.model.cells} counts will be, by {kind}",
        ("epsilon", "records", "noise of a count", "share of all records"),
        [(f"{r['epsilon']:g}", str(r["size"]), f"{r['count_sd']:.4g}", f"{r['share']:.2%}") for r in rows],
    )
    say(*chosen_by(question))
    say(
        "The noise is given as a standard deviation within a row whose total is known; it does not depend on the "
        "number of records."
    )
    if (classes := mechanism.class_sd) is not None:
        share = f"epsilon = {exact_text(mechanism.guarantee.epsilon)}"
        say(f"The counts of the classes themselves get noise of standard deviation {classes:.4g} at {share}.")
    say(*_expectation(question, mechanism, found, level))
    if plot is not None:
        say(f"Wrote {plot}.")
    return None


def no_posterior(question: Question) -> list[str]:
    """Say that there will be no posterior, if the study declares that and it is true."""
    if question.no_posterior is None:
        return []
    return [f"There will be no posterior, as the study declares (reading = 'none'): {question.no_posterior}."]


def gaps_of(question: Question) -> list[str]:
    """Say what missing numbers count as, if they are not left out."""
    return list(filter(None, [question.model.missing_in_words]))


def chosen_by(question: Question) -> list[str]:
    """Say which mechanism publishes a question, and why if it was not declared."""
    why = f"chosen because {question.reason}" if question.reason else "as declared"
    return [f"Mechanism: {type(question.mechanism).__name__}, {why}."]


def _noise(mechanism: Mechanism) -> dict[str, float | None]:
    sd, epsilon = mechanism.count_sd() or 0.0, float(mechanism.guarantee.epsilon)
    facts = {"epsilon": epsilon, "size": mechanism.size, "count_sd": sd, "share": sd / mechanism.size}
    return facts | {"class_sd": mechanism.class_sd}


def _expectation(question: Question, mechanism: Mechanism, found: ExpectedNetwork | None, level: float) -> list[str]:
    if question.refusal:
        return [f"It cannot be published as it is, because nobody could read it: {question.refusal}."]
    if found is None:
        why = "reading this one takes too long" if mechanism.model.target else "only naive Bayes networks are simulated"
        return [
            f"The width of intervals is not planned here: {why}. "
            f"One made-up study shows it: discreet rehearse STUDY --ask {question.name}"
        ]
    epsilon = exact_text(mechanism.guarantee.epsilon)
    return [
        f"At epsilon = {epsilon} with {mechanism.size} records, over {found.studies} made-up studies, "
        "with exact counts in brackets:",
        f"  mean width of {level:.0%} intervals {found.width:.4f} ({found.non_private_width:.4f})",
        f"  mean error of a probability {found.error:.4f} ({found.non_private_error:.4f})",
        f"  new records classified correctly {found.classified:.1%} ({found.non_private_classified:.1%})",
    ]
