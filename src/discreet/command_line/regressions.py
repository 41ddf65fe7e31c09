"""What the commands show of a regression before it is published: how wide its intervals will be."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from discreet.command_line.networks import chosen_by
from discreet.command_line.screen import say, show_json, show_table
from discreet.exact import Exact, exact_text
from discreet.inference.coefficients import units_of
from discreet.mechanisms import Mechanism, with_fields
from discreet.planning.regression_accuracy import expected_coefficients, expected_effect
from discreet.show import charts
from discreet.study import Question


def plan_regression(
    question: Question, epsilons: Sequence[Exact], sizes: Sequence[int], level: float, plot: Path | None, as_json: bool
) -> None:
    """Show how wide the intervals of the coefficients will be, and which mechanism was chosen and why."""
    mechanism = question.mechanism
    others = [with_fields(mechanism, epsilon=epsilon) for epsilon in epsilons]
    others += [with_fields(mechanism, size=size) for size in sizes]
    rows, target = [_expected(other, level) for other in others], mechanism.model.target
    found, kind = expected_coefficients(mechanism, level), type(mechanism).__name__
    if plot is not None:
        points = [
            {"epsilon": r["epsilon"], "width": r["width"], "non_private": r["non_private_width"]}
            for r in rows[: len(epsilons)]
        ]
        title = f"{question.label}: effects of the features, {mechanism.size:,} records"
        charts.render(charts.width_chart(points, title, target, float(mechanism.guarantee.epsilon)), plot)
    if as_json:
        facts: dict[str, object] = {
            "question": question.name,
            "mechanism": kind,
            "reason": question.reason,
            "rows": rows,
        }
        facts |= {"assumed_noise_sd": _assumed_noise(mechanism)}
        return show_json(facts | {"coefficients": [asdict(each) for each in found]})
    show_table(
        f"{question.label}: expected {level:.0%} widths of effects in units of {target}, with exact sums in brackets",
        ("epsilon", "records", "mean width"),
        [(f"{r['epsilon']:g}", str(r["size"]), f"{r['width']:.4g} ({r['non_private_width']:.4g})") for r in rows],
    )
    units = units_of(mechanism.model)
    show_table(
        f"Coefficients at epsilon = {exact_text(mechanism.guarantee.epsilon)} with {mechanism.size} records",
        ("coefficient", "units", f"{level:.0%} width", "with exact sums"),
        [(each.name, units[each.name], f"{each.width:.4g}", f"{each.non_private_width:.4g}") for each in found],
        words=2,
    )
    say(
        "An effect is the change in the target when a feature goes from its lower bound to its upper bound, or from "
        "the first level to another.",
        "Widths are approximations for evenly spread features and a standard deviation of "
        f"{_assumed_noise(mechanism):.3g} {target} around the line{_why_assumed(mechanism)}; a larger one makes them "
        f"wider. One made-up study: discreet rehearse STUDY --ask {question.name}",
        *chosen_by(question),
        *([] if plot is None else [f"Wrote {plot}."]),
    )
    return None


def _assumed_noise(mechanism: Mechanism) -> float:
    """Return the standard deviation around the line that a plan assumes, in units of the target."""
    model = mechanism.model
    return float(model.typical_variance**0.5 * model.ranges[model.target].half)


def _why_assumed(mechanism: Mechanism) -> str:
    return "" if mechanism.model.noise_prior is None else " (assumed: the median of its prior)"


def _expected(mechanism: Mechanism, level: float) -> dict[str, float]:
    width, exact = expected_effect(mechanism, level)
    facts = {"epsilon": float(mechanism.guarantee.epsilon), "size": mechanism.size}
    return facts | {"width": width, "non_private_width": exact}
