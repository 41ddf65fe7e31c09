"""What the commands show of a regression: its coefficients with units, and what to expect of them."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from discreet.command_line.networks import chosen_by
from discreet.command_line.screen import console, say, show_json, show_table
from discreet.errors import DeclarationError
from discreet.exact import Exact, exact_text
from discreet.inference import RegressionPosterior
from discreet.inference.coefficients import coefficient_rows, decimals_of, units_of
from discreet.mechanisms import with_fields
from discreet.mechanisms.box_moments import NoisyMoments
from discreet.models import InverseGamma
from discreet.planning.regression_accuracy import expected_coefficients, expected_effect, typical_variance
from discreet.show import charts
from discreet.study import Question

FIELDS = ("coefficient", "units", "mean", "median", "low", "high", "sd")
Truth = Mapping[str, float]


def regression_rows(posterior: RegressionPosterior, level: float, truth: Truth | None = None) -> list[dict[str, Any]]:
    """Return one row of figures for each coefficient."""
    rows = []
    for row in coefficient_rows(posterior, level):
        values = (row.name, row.units, row.mean, row.median, row.low, row.high, row.sd)
        known = {} if truth is None else {"truth": truth[row.name]}
        rows.append(dict(zip(FIELDS, values, strict=True)) | known)
    return rows


def regression_document(posterior: RegressionPosterior, level: float, truth: Truth | None = None) -> dict[str, Any]:
    """Return a reading as a document."""
    first, (low, high) = posterior.releases[0], posterior.noise.interval(level)
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
        "coefficients": regression_rows(posterior, level, truth),
        "noise_sd": {"mean": posterior.noise.mean, "low": low, "high": high},
        "r_hat": posterior.r_hat,
        "effective_size": posterior.effective_size,
    }


def show_regression(posterior: RegressionPosterior, level: float, truth: Truth | None = None) -> None:
    """Print the coefficients of a reading with their units."""
    first = posterior.releases[0]
    if first.simulated:
        console.print("[bold yellow]Simulated: this is not a release of real records.[/]")
    headings = [
        "coefficient",
        "units",
        *([] if truth is None else ["truth"]),
        "estimate",
        f"{100 * level:.4g}% interval",
    ]
    lines = []
    for row in coefficient_rows(posterior, level):
        mean, low, high = row.figures
        known = [] if truth is None else [f"{truth[row.name]:,.{decimals_of(row.high - row.low)}f}"]
        lines.append([row.name, row.units, *known, mean, f"{low} to {high}"])
    epsilons = " and ".join(exact_text(each.guarantee.epsilon) for each in posterior.releases)
    labels = "; ".join(dict.fromkeys(each.label for each in posterior.releases))
    show_table(f"{labels}: {posterior.size} records, epsilon = {epsilons}", headings, lines, words=2)
    least, most = posterior.noise.interval(level)
    say(
        f"Around the line {posterior.model.target} has a standard deviation of {posterior.noise.mean:.4g} "
        f"({least:.4g} to {most:.4g}).",
        "Intervals hold what sampling and what privacy leave open. They come from a simulation with R-hat "
        f"{posterior.r_hat:.3f}, worth {posterior.effective_size:.0f} independent draws.",
    )


def plan_regression(
    question: Question, epsilons: Sequence[Exact], sizes: Sequence[int], level: float, plot: Path | None, as_json: bool
) -> None:
    """Show how wide the intervals of the coefficients will be, by which mechanism, and why that one."""
    mechanism = question.mechanism
    if not isinstance(mechanism, NoisyMoments):
        raise DeclarationError(f"{question.name!r} is no question about a regression.")
    others: list[Any] = [with_fields(mechanism, epsilon=epsilon) for epsilon in epsilons]
    others += [with_fields(mechanism, size=size) for size in sizes]
    rows, target = [_expected(other, level) for other in others], mechanism.model.target
    found, kind = expected_coefficients(mechanism, level), type(mechanism).__name__
    if plot is not None:
        points = [
            {"epsilon": r["epsilon"], "width": r["width"], "non_private": r["non_private_width"]}
            for r in rows[: len(epsilons)]
        ]
        title = f"{question.label}: effects of the features, {mechanism.size} records"
        charts.render(charts.width_chart(points, title, target), plot)
    if as_json:
        facts: dict[str, Any] = {"question": question.name, "mechanism": kind, "reason": question.reason, "rows": rows}
        facts |= {"assumed_noise_sd": _assumed_noise(mechanism)}
        return show_json(facts | {"coefficients": [asdict(each) for each in found]})
    show_table(
        f"{question.label}: expected {level:.0%} widths of effects in units of {target}, with exact sums in brackets",
        ("epsilon", "records", "mean width"),
        [(f"{r['epsilon']:g}", str(r["size"]), f"{r['width']:.4g} ({r['non_private_width']:.4g})") for r in rows],
    )
    units = units_of(mechanism.model)
    show_table(
        f"Coefficients at epsilon = {exact_text(mechanism.epsilon)} with {mechanism.size} records",
        ("coefficient", "units", f"{level:.0%} width", "with exact sums"),
        [(each.name, units[each.name], f"{each.width:.4g}", f"{each.non_private_width:.4g}") for each in found],
        words=2,
    )
    say(
        "An effect is what the target changes by if a feature goes from one of its bounds to the other, or from the "
        "first level to another.",
        "Widths are approximations for evenly spread features and a standard deviation of "
        f"{_assumed_noise(mechanism):.3g} {target} around the line{_why_assumed(mechanism)}; more makes them wider. "
        f"One made-up study: discreet rehearse STUDY --ask {question.name}",
        *chosen_by(question),
        *([] if plot is None else [f"Wrote {plot}."]),
    )
    return None


def _assumed_noise(mechanism: NoisyMoments) -> float:
    """Return the standard deviation around the line that a plan takes for granted, in units of the target."""
    model = mechanism.model
    return float(typical_variance(model) ** 0.5 * model.ranges[model.target].half)


def _why_assumed(mechanism: NoisyMoments) -> str:
    return " (assumed: the median of its prior)" if isinstance(mechanism.model.noise, InverseGamma) else ""


def _expected(mechanism: NoisyMoments, level: float) -> dict[str, Any]:
    width, exact = expected_effect(mechanism, level)
    facts = {"epsilon": float(mechanism.epsilon), "size": mechanism.size}
    return facts | {"width": width, "non_private_width": exact}
