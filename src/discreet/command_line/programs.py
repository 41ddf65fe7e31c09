"""What `plan` shows of a program: the posterior standard deviations to expect."""

from collections.abc import Sequence

from discreet.command_line.networks import chosen_by
from discreet.command_line.screen import say, show_json, show_table, working
from discreet.exact import Exact
from discreet.mechanisms import with_fields
from discreet.planning.forecast import RELEASES, forecast
from discreet.study import Question


def plan_program(question: Question, epsilons: Sequence[Exact], sizes: Sequence[int], as_json: bool) -> None:
    """Show the posterior standard deviation of every quantity, for each epsilon and each size."""
    mechanism = question.mechanism
    others = [with_fields(mechanism, epsilon=epsilon) for epsilon in epsilons]
    others += [with_fields(mechanism, size=size) for size in sizes]
    with working("making up releases", as_json):
        found = [forecast(other) for other in others]
    if as_json:
        facts = {"question": question.name, "mechanism": type(mechanism).__name__, "reason": question.reason}
        return show_json(facts | {"rows": [each.document() for each in found]})
    names = list(found[0].sds)
    show_table(
        f"{question.label}: expected standard deviations, with exact counts in brackets",
        ("quantity", *(f"epsilon {each.epsilon:g}, {each.size} records" for each in found)),
        [(name, *(f"{each.sds[name]:.3g} ({each.exact_sds[name]:.3g})" for each in found)) for name in names],
    )
    return say(
        f"From the Fisher information of {RELEASES} made-up releases at each of some parameters from the prior; at a "
        f"tiny epsilon this is not reliable. One made-up study: discreet rehearse STUDY --ask {question.name}",
        *chosen_by(question),
    )
