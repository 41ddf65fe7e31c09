"""What the commands show of a table of categories: one line for each cell."""

from collections.abc import Mapping
from typing import Any

from discreet.command_line.screen import cell_name, console, say, show_table
from discreet.exact import exact_text
from discreet.inference import CategoriesPosterior

_FIELDS = ("cell", "mean", "median", "low", "high", "sampling_sd", "privacy_sd", "share_due_to_privacy")


def pooled_rates(
    posterior: CategoriesPosterior, event: str | None, by: str, level: float
) -> dict[str, dict[str, float]]:
    """Return the rates of groups that borrow from each other."""
    rates = posterior.pooled(event, by)
    intervals = rates.interval(level)
    return {g: {"mean": m, "low": intervals[g].low, "high": intervals[g].high} for g, m in rates.mean.items()}


def posterior_rows(posterior: CategoriesPosterior, level: float) -> list[dict[str, Any]]:
    """Return one row of figures for each cell."""
    rows = []
    for cell in posterior.model.cells:
        law = posterior.probability(cell)
        low, high = law.interval(level)
        sampling, privacy = law.variances
        values = (
            cell_name(cell),
            law.mean,
            law.median,
            low,
            high,
            sampling**0.5,
            privacy**0.5,
            law.share_between(level),
        )
        rows.append(dict(zip(_FIELDS, values, strict=True)))
    return rows


def posterior_document(
    posterior: CategoriesPosterior, level: float, truth: Mapping[Any, float] | None = None
) -> dict[str, Any]:
    """Return a reading as a document."""
    rows = posterior_rows(posterior, level)
    for row, cell in zip(rows, posterior.model.cells, strict=True):
        row |= {} if truth is None else {"truth": truth[cell]}
    guarantee = posterior.releases[0].guarantee
    return {
        "label": posterior.releases[0].label,
        "releases": [{"label": r.label, "epsilon": exact_text(r.guarantee.epsilon)} for r in posterior.releases],
        "simulated": posterior.releases[0].simulated,
        "size": posterior.size,
        "epsilon": exact_text(guarantee.epsilon),
        "delta": exact_text(guarantee.delta),
        "level": level,
        "cells": rows,
        "log_evidence": posterior.log_evidence,
        "effective_size": posterior.effective_size,
    }


def show_posterior(posterior: CategoriesPosterior, level: float, truth: Mapping[Any, float] | None = None) -> None:
    """Print the table of a reading; it tells sampling from privacy."""
    release = posterior.releases[0]
    if release.simulated:
        console.print("[bold yellow]Simulated: this is not a release of real records.[/]")
    truths = {} if truth is None else {cell: f"{value:.4f}" for cell, value in truth.items()}
    headings = ["", *(["truth"] if truths else []), "mean", f"{100 * level:.4g}% interval"]
    headings += ["sampling sd", "privacy sd", "privacy"]
    rows = [
        [
            row["cell"],
            *([truths[cell]] if truths else []),
            f"{row['mean']:.4f}",
            f"{row['low']:.4f} - {row['high']:.4f}",
            f"{row['sampling_sd']:.4f}",
            f"{row['privacy_sd']:.4f}",
            f"{row['share_due_to_privacy']:.0%}",
        ]
        for row, cell in zip(posterior_rows(posterior, level), posterior.model.cells, strict=True)
    ]
    epsilons = " and ".join(exact_text(each.guarantee.epsilon) for each in posterior.releases)
    labels = "; ".join(dict.fromkeys(each.label for each in posterior.releases))
    show_table(f"{labels}: {posterior.size} records, epsilon = {epsilons}", headings, rows)
    say("Intervals hold what sampling and what privacy leave open; the last column is privacy's share of their width.")
    say(f"Tells about as much as {max(0.0, posterior.effective_size):.0f} records that were known exactly.")
