"""The command `ledger`, and how totals of several releases are shown."""

from pathlib import Path

import click

from discreet.command_line.screen import as_json, helpful, require_folder, say, show_json, show_table
from discreet.errors import DeclarationError, LedgerError
from discreet.exact import exact_text
from discreet.guarantees import Ledger, Totals
from discreet.planning import ledger_totals
from discreet.show import charts
from discreet.study import Study

_RULES = {
    "basic": ("basic: epsilons add", "any questions"),
    "advanced": ("advanced, closed form", "epsilons fixed in advance"),
    "zcdp": ("zCDP: rhos add", "any questions"),
    "planned": ("privacy losses convolved", "a plan fixed in advance"),
}


def show_totals(totals: Totals, title: str, binding: str) -> None:
    """Print what several releases cost together, by each rule; the binding one is marked."""
    rows = []
    for rule, (words, holds) in _RULES.items():
        epsilon = float(getattr(totals, rule))
        figure = "-" if epsilon == float("inf") else f"{epsilon:.6g}"
        rows.append((words, figure, holds, "binds" if rule == binding else ""))
    show_table(f"{title}, at delta = {exact_text(totals.delta)}", ("rule", "epsilon", "holds for", ""), rows)


@click.command()
@click.argument("book", type=click.Path(path_type=Path))
@click.option("--plot", type=click.Path(path_type=Path), help="Write a picture: .png, .svg or .json.")
@click.option("--limit", help="Set a new limit for epsilon; needs --reason.")
@click.option("--delta-limit", help="With --limit: a new limit for delta too.")
@click.option("--reason", default="", help="Why the limit is changed; it is written into the ledger.")
@as_json
@helpful
def ledger(
    book: Path, plot: Path | None, limit: str | None, delta_limit: str | None, reason: str, as_json: bool
) -> None:
    """Show what has been spent, and check the whole chain. BOOK is a ledger or a study file.

    \b
    Example:  discreet ledger study.db --plot budget.png
    """
    require_folder(plot)
    if limit is None and (reason or delta_limit):
        raise DeclarationError("--reason and --delta-limit go with --limit: discreet ledger L --limit 3 --reason '...'")
    path = Study(book).ledger_path if book.suffix == ".toml" else book
    if book.suffix == ".toml" and not path.exists():
        raise LedgerError(f"Nothing has been published under {str(book)!r} yet: there is no ledger at {str(path)!r}.")
    opened = Ledger.open(path)
    opened.check()
    if limit is not None:
        opened.change_limit(limit, delta_limit, reason=reason)
    if plot is not None:
        charts.render(charts.budget_chart(opened), plot)
    entries = opened.entries()
    totals = ledger_totals(opened)
    if as_json:
        sums: dict[str, object] = {
            "accountant": opened.accountant.value,
            "declared_limit": opened.declared_limit.document(),
        }
        sums |= {"limit": opened.limit.document(), "spent": opened.spent.document(), "totals": totals.document()}
        return show_json(sums | {"entries": [{"sequence": e.sequence, "digest": e.digest} | e.body for e in entries]})
    created = entries[0].body
    say(
        f"{opened.path}: {created['adjacency']}, {created['unit']}, population {created['population'] or 'not named'!r}"
    )
    recorded = {e.body["charge"]: e for e in entries if e.kind == "release"}
    rows = [
        (
            str(e.sequence),
            e.body["label"],
            *(e.body["cost"][name] for name in opened.limit.document()),
            e.body["group"] or "everyone",
            e.body["data"] or "-",
            "yes" if e.sequence in recorded else "no",
        )
        for e in entries
        if e.kind == "charge"
    ]
    spent, limits = opened.spent.document(), opened.limit.document()
    show_table("Charges", ("entry", "label", *spent, "about", "data", "recorded"), rows)
    show_totals(totals, "All charges together", opened.accountant.value)
    rule = {"basic": "basic composition: all add up", "zcdp": f"zCDP, from a limit of {opened.declared_limit.words()}"}
    say(
        "Spent "
        + ", ".join(f"{name} = {spent[name]} of {limits[name]}" for name in spent)
        + f" ({rule[opened.accountant.value]}).",
        f"The chain of {len(entries)} entries is intact; its head is {opened.head.digest[:16]}...",
    )
    return None
