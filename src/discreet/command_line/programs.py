"""What `plan` shows of a program: the posterior standard deviations to expect."""

from collections.abc import Sequence

from discreet.command_line.networks import chosen_by
from discreet.command_line.screen import say, show_json, show_table, working
from discreet.exact import Exact
from discreet.mechanisms import with_fields
from discreet.planning.forecast import RELEASES, Forecasts
from discreet.study import Question


def plan_program(question: Question, epsilons: Sequence[Exact], sizes: Sequence[int], as_json: bool) -> None:
    """Show the posterior standard deviation of every quantity, for each epsilon and each size."""
    mechanism = question.mechanism
    others = [with_fields(mechanism, epsilon=epsilon) for epsilon in epsilons]
    others += [with_fields(mechanism, size=size) for size in sizes]
    with working("simulating releases", as_json):
        forecasts = Forecasts.of(others)
    if as_json:
        facts = {"question": question.name, "mechanism": type(mechanism).__name__, "reason": question.reason}
        return show_json(facts | forecasts.document())
    for size in dict.fromkeys(each.size for each in forecasts.readable):
        found = [each for each in forecasts.readable if each.size == size]
        show_table(
            f"{question.label}: expected posterior standard deviations by epsilon, with {size} records",
            ("quantity", *(f"{each.epsilon:g}" for each in found), "exact counts"),
            [
                (name, *(f"{each.sds[name]:.3g}" for each in found), f"{found[0].exact_sds[name]:.3g}")
                for name in found[0].sds
            ],
        )
    return say(
        *forecasts.refusals,
        f"Estimated from the Fisher information of {RELEASES} made-up releases at each of several parameters from the "
        "prior; at a very small epsilon this is not reliable. One made-up study: discreet rehearse STUDY --ask "
        f"{question.name}",
        *chosen_by(question),
    )
