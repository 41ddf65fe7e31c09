"""Groups of a ledger that are declared by a rule on the record: the level, or band, that it has of one column.

Every record has one level, what is undeclared or missing the one named `outside`. So a record that is added changes
what is published about everyone and about its own group, and nothing that is published about another: the total is

    what was spent on everyone + the most that was spent on any one group,

for epsilon, delta and rho alike, however each question was chosen (parallel composition). Who belongs to which group,
and how many, stays secret. Where one unit has up to L rows, what they cost in a group grows at least in proportion to
their number there, so that rows in several groups cost no more than all of them in one.
"""

from discreet._core.documents import plain_fields
from discreet._core.errors import DeclarationError, DiscreetError, LedgerError, PublishError
from discreet.ledger._entries import Body
from discreet.privacy import Adjacency
from discreet.records import Column, Where, condition_text, conditions_on


def rule_beginning(groups: object, adjacency: Adjacency) -> tuple[object, Body]:
    """Return the names of a new ledger's groups, and what its first entry says of the rule, if there is one."""
    if not isinstance(groups, Column):
        return groups, {}
    if adjacency is not Adjacency.ADD_OR_REMOVE:
        raise DeclarationError(
            f"Groups by the levels of {groups.name!r} need adjacency='add or remove one record': a record that is "
            "replaced may leave its group for another, which then shows in both. Nothing was created. Name groups of "
            "public size instead, or ask one table that is crossed with that column: it costs its epsilon once."
        )
    return conditions_on(groups), {"rule": plain_fields(groups)}


def group_of(created: Body, where: Where | None, label: str) -> str | None:
    """Return the group of a ledger to which all of these records belong by its rule; None if they may be anybody's."""
    rule = created.get("rule")
    if rule is None or where is None:
        return None
    for column, level in where.conditions:
        if plain_fields(column) == rule:
            return condition_text(column, level)
        if column.name == rule["name"]:
            raise PublishError(
                f"Cannot publish {label!r}: the groups of this ledger are the levels of {column.name!r} as it was "
                f"declared when the ledger was created, {rule['levels']}, and now it is declared otherwise. Nothing "
                "was published and nothing was charged. Declare it as it was, or ask another column."
            )
    return None


def require_group(created: Body, where: Where | None, group: str | None, label: str) -> None:
    """Refuse a charge to a group that the records, by the ledger's rule, are not those of."""
    if "rule" in created and (found := group_of(created, where, label)) != group:
        counted = "all records" if where is None else f"records where {where}"
        wanted = "everyone" if found is None else found
        raise PublishError(
            f"Cannot publish {label!r}: the statistics are those of {counted}, which this ledger charges to {wanted}, "
            f"not to {group or 'everyone'}. Nothing was published and nothing was charged. Count the records of one "
            f"group with dc.Where({(group or conditions_of(created)[0])!r}, columns).statistics(model, data)."
        )


def conditions_of(created: Body) -> list[str]:
    """Return the groups of a ledger."""
    return list(created["groups"])


def check_rule(created: Body) -> None:
    """Refuse a first entry whose groups are not those of its rule."""
    if "rule" not in created:
        return
    try:
        names = list(conditions_on(Column.from_document(created["rule"])))
    except DiscreetError:
        names = []
    if names != created["groups"] or created["adjacency"] != Adjacency.ADD_OR_REMOVE.value:
        raise LedgerError("The groups of this ledger are not those of the rule that it states. It was edited.")


def is_by_rule(created: Body, charge: Body) -> bool:
    """Return whether a charge went to the group that its conditions say."""
    try:
        written = charge.get("where")
        where = None if written is None else Where.from_document(written)
        return "rule" not in created or group_of(created, where, "") == charge["group"]
    except DiscreetError:
        return False
