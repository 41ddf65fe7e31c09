"""What the commands show of a network: its conditional tables, and what to expect of them."""

from collections.abc import Sequence
from dataclasses import asdict
from math import isnan, sqrt
from pathlib import Path
from typing import Any

from rich.markup import escape

from discreet import charts
from discreet.command_line.screen import console, say, show_json, show_table, working
from discreet.errors import DeclarationError
from discreet.exact import Exact, exact_text
from discreet.inference import NetworkPosterior
from discreet.inference.network_tables import TableEntry, table_entries
from discreet.mechanisms import CubeCounts, NetworkCounts, with_fields
from discreet.noise.zero_sum import histogram_variance
from discreet.planning.network_accuracy import ExpectedNetwork, Truth, expected_network
from discreet.study import Question

MOST_SHOWN = 60
"""A screen shows so many lines of a network's tables; a CSV file holds them all."""
FIELDS = ("variable", "given", "level", "mean", "median", "low", "high", "sd")


def network_rows(posterior: NetworkPosterior, level: float, truth: Truth | None = None) -> list[dict[str, Any]]:
    """Return one row of figures for each level in each row of each table."""
    return [_row(entry, truth) for entry in table_entries(posterior, level)]


def _row(entry: TableEntry, truth: Truth | None) -> dict[str, Any]:
    level = entry.event.removeprefix(f"{entry.variable}=")
    figures = (entry.mean, entry.median, entry.low, entry.high, entry.sd)
    row = dict(zip(FIELDS, (entry.variable, entry.condition, level, *figures), strict=True))
    return row if truth is None else row | {"truth": truth[entry.key]}


def network_document(posterior: NetworkPosterior, level: float, truth: Truth | None = None) -> dict[str, Any]:
    """Return a reading as a document."""
    first = posterior.releases[0]
    return {
        "label": first.label,
        "releases": [{"label": r.label, "epsilon": exact_text(r.guarantee.epsilon)} for r in posterior.releases],
        "simulated": first.simulated,
        "size": posterior.size,
        "epsilon": exact_text(first.guarantee.epsilon),
        "delta": exact_text(first.guarantee.delta),
        "level": level,
        "mechanism": type(first.mechanism).__name__,
        "target": posterior.model.target,
        "tables": network_rows(posterior, level, truth),
        "log_evidence": None if isnan(posterior.log_evidence) else posterior.log_evidence,
        "method": posterior.method,
    }


def show_network(posterior: NetworkPosterior, level: float, truth: Truth | None = None) -> None:
    """Print the tables of a reading: roots first, such as the class of naive Bayes, then children given parents."""
    first = posterior.releases[0]
    if first.simulated:
        console.print("[bold yellow]Simulated: this is not a release of real records.[/]")
    rows = network_rows(posterior, level, truth)
    truths = [] if truth is None else ["truth"]
    headings = ["probability of", "given", *truths, "mean", f"{100 * level:.4g}% interval"]
    lines = []
    for row in rows[:MOST_SHOWN]:
        known = [] if truth is None else [f"{row['truth']:.4f}"]
        event, interval = f"{row['variable']}={row['level']}", f"{row['low']:.4f} - {row['high']:.4f}"
        lines.append([event, row["given"] or "-", *known, f"{row['mean']:.4f}", interval])
    epsilons = " and ".join(exact_text(each.guarantee.epsilon) for each in posterior.releases)
    labels = "; ".join(dict.fromkeys(each.label for each in posterior.releases))
    show_table(f"{labels}: {posterior.size} records, epsilon = {epsilons}", headings, lines)
    if len(rows) > MOST_SHOWN:
        words = f"These are the first {MOST_SHOWN} of {len(rows)} lines. --csv FILE writes all of them."
        console.print(f"[bold]{escape(words)}[/]", soft_wrap=True)
    say(f"Intervals hold what sampling and what privacy leave open. This release was {posterior.method}.")


def plan_network(
    question: Question, epsilons: Sequence[Exact], sizes: Sequence[int], level: float, plot: Path | None, as_json: bool
) -> None:
    """Show how much noise the counts of a network will get, which mechanism adds it, and why that one."""
    mechanism = question.mechanism
    if not isinstance(mechanism, NetworkCounts):
        raise DeclarationError(f"{question.name!r} is no question about a network.")
    others = [with_fields(mechanism, epsilon=epsilon) for epsilon in epsilons]
    others += [with_fields(mechanism, size=size) for size in sizes]
    rows = [_noise(other) for other in others if isinstance(other, NetworkCounts)]
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
    say("The noise is a standard deviation, within a row whose total is known; the number of records does not matter.")
    if (classes := _class_sd(mechanism)) is not None:
        share = f"epsilon = {exact_text(mechanism.epsilon)}"
        say(f"The counts of the classes themselves get noise of standard deviation {classes:.4g} at {share}.")
    say(*_expectation(question, mechanism, found, level))
    if plot is not None:
        say(f"Wrote {plot}.")
    return None


def no_posterior(question: Question) -> list[str]:
    """Say that there will be no posterior, if that was declared and is so."""
    if question.no_posterior is None:
        return []
    return [f"There will be no posterior, as the study declares (reading = 'none'): {question.no_posterior}."]


def chosen_by(question: Question) -> list[str]:
    """Say which mechanism publishes a question, and why if it was not declared."""
    why = f"chosen because {question.reason}" if question.reason else "as declared"
    return [f"Mechanism: {type(question.mechanism).__name__}, {why}."]


def _noise(mechanism: NetworkCounts) -> dict[str, Any]:
    sd = mechanism.count_sd()
    facts = {"epsilon": float(mechanism.epsilon), "size": mechanism.size, "count_sd": sd, "share": sd / mechanism.size}
    return facts | {"class_sd": _class_sd(mechanism)}


def _class_sd(mechanism: NetworkCounts) -> float | None:
    """Return the noise of a class count, where the classes have a share of epsilon of their own."""
    if not isinstance(mechanism, CubeCounts) or mechanism.model.target is None:
        return None
    return sqrt(histogram_variance(mechanism.classes, float(mechanism.class_epsilon)))


def _expectation(
    question: Question, mechanism: NetworkCounts, found: ExpectedNetwork | None, level: float
) -> list[str]:
    if question.refusal:
        return [f"It cannot be published as it stands, because nobody could read it: {question.refusal}."]
    if found is None:
        why = "reading this one takes long" if mechanism.model.target else "only naive Bayes networks are simulated"
        return [
            f"How wide intervals will be is not planned here: {why}. "
            f"One made-up study shows it: discreet rehearse STUDY --ask {question.name}"
        ]
    epsilon = exact_text(mechanism.epsilon)
    return [
        f"At epsilon = {epsilon} with {mechanism.size} records, over {found.studies} made-up studies, "
        "with exact counts in brackets:",
        f"  mean width of {level:.0%} intervals {found.width:.4f} ({found.non_private_width:.4f})",
        f"  mean error of a probability {found.error:.4f} ({found.non_private_error:.4f})",
        f"  new records classified rightly {found.classified:.1%} ({found.non_private_classified:.1%})",
    ]
