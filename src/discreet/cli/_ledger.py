"""The commands `ledger` and what they show: totals, charges, a check of the chain, heads and moves."""

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import cast

import click

from discreet._core.errors import DeclarationError, LedgerError
from discreet.cli._screen import as_json, helpful, require_folder, say, show_json, show_table
from discreet.ledger import (
    PUBLISHED,
    Chain,
    Filter,
    Head,
    Ledger,
    LedgerLine,
    PublicKey,
    ServerChain,
    SigningKey,
    check_witness,
    lines_of,
)
from discreet.planning import ledger_totals
from discreet.privacy import Adjacency, Totals, left_text, spent_text

_RULES = {
    "basic": ("basic: epsilons add", "any questions"),
    "advanced": ("advanced, closed form", "epsilons fixed in advance"),
    "zcdp": ("zCDP: rhos add", "any questions"),
    "planned": ("privacy losses convolved", "a plan fixed in advance"),
}
_MOST_ON_SCREEN = 200


def show_totals(totals: Totals, title: str, binding: str) -> None:
    """Print what several releases cost together, by each rule; the binding one is marked."""
    rows = []
    for rule, (words, holds) in _RULES.items():
        epsilon = float(getattr(totals, rule))
        figure = "-" if epsilon == float("inf") else f"{epsilon:.6g}"
        rows.append((words, figure, holds, "binds" if rule == binding else ""))
    show_table(f"{title}, at delta = {spent_text(totals.delta)}", ("rule", "epsilon", "holds for", ""), rows)


class _WithDefault(click.Group):
    """A group whose default command is `show`."""

    def parse_args(self, context: click.Context, words: list[str]) -> list[str]:
        """Insert the name of the default command if none is given."""
        named = bool(words) and (words[0] in self.commands or words[0] in context.help_option_names)
        return super().parse_args(context, words if named or not words else ["show", *words])


@click.group(cls=_WithDefault)
def ledger() -> None:
    """Show what has been spent, and check the whole chain.

    BOOK is a ledger's file, its server's address (postgresql://...), or a study file. `discreet ledger BOOK` is `show`.
    Each of the commands below takes --json.

    \b
    Example:  discreet ledger study.db --html budget.html --since 2026-01
              discreet ledger head study.db --key office.key --witness /mnt/notary
    """


book = click.argument("book")
witness = click.option(
    "--witness", type=click.Path(path_type=Path), help=("A folder in which signed heads are kept (a witness).")
)


def open_book(name: str) -> Ledger:
    """Open the ledger that a study, a file or a server's address names."""
    if not name.endswith(".toml"):
        return Ledger.open(name)
    from discreet.study import Study  # knows every question: a ledger's file needs none of it

    place = Study(name).ledger_place
    if not Chain.at(place).exists():
        raise LedgerError(f"Nothing has been published under {name!r} yet: there is no ledger at {str(place)!r}.")
    return Ledger.open(place)


@ledger.command()
@book
@click.option("--plot", type=click.Path(path_type=Path), help="Write a picture: .png, .svg or .json.")
@click.option("--html", "page", type=click.Path(path_type=Path), help="Write a page that people can read offline.")
@click.option("--csv", "table", type=click.Path(path_type=Path), help="Write all charges as a table.")
@click.option("--label", help="Only charges whose label contains these words.")
@click.option("--group", help="Only charges for this group.")
@click.option("--data", help="Only charges for this data set.")
@click.option("--since", help="Only charges from this day, month or year on, such as 2026-04-01.")
@click.option("--until", help="Only charges up to and including this day, month or year.")
@click.option("--limit", help="Set a new limit for epsilon; needs --reason.")
@click.option("--delta-limit", help="With --limit: a new limit for delta too.")
@click.option("--reason", default="", help="Why the limit is changed; it is written into the ledger.")
@as_json
@helpful
def show(
    book: str, plot: Path | None, page: Path | None, table: Path | None, label: str | None, group: str | None,
    data: str | None, since: str | None, until: str | None, limit: str | None, delta_limit: str | None, reason: str,
    as_json: bool,
) -> None:  # fmt: skip
    """Show what has been spent, and check the whole chain. BOOK is a ledger or a study file.

    \b
    Example:  discreet ledger study.db --plot budget.png
              discreet ledger study.toml --html budget.html --label smoking --since 2026-01
    """
    for path in (plot, page, table):
        require_folder(path)
    if limit is None and (reason or delta_limit):
        raise DeclarationError("--reason and --delta-limit need --limit: discreet ledger L --limit 3 --reason '...'")
    wanted = Filter(label, group, data, since, until)
    opened = open_book(book)
    number = opened.check()
    if limit is not None:
        opened.change_limit(limit, delta_limit, reason=reason)
        number = opened.head.sequence
    if plot is not None:
        from discreet.report import charts

        charts.render(charts.budget_chart(opened), plot)
    if page is not None:
        from discreet.report import ledger_page

        page.write_text(ledger_page(opened, wanted), encoding="utf-8")
    lines = lines_of(opened, wanted)
    if table is not None:
        _write_lines(lines, table)
    if as_json:
        return show_json(_document(opened, lines, wanted))
    return _show(opened, lines, number, wanted)


def _document(opened: Ledger, lines: Sequence[LedgerLine], wanted: Filter) -> dict[str, object]:
    sums: dict[str, object] = {
        "accountant": opened.accountant.value,
        "ledger": opened.id,
        "declared_limit": opened.declared_limit.document(),
        "limit": opened.limit.document(),
        "spent": opened.spent.document(),
        "totals": ledger_totals(opened).document(),
        "charges": [line.document() for line in lines],
    }
    if opened.moved_to is not None:
        sums["moved_to"] = opened.moved_to
    if groups := opened.by_group():
        sums["groups"] = {
            name: {"spent": own.document()} | ({} if left is None else {"left": left.document()})
            for name, (own, left) in groups.items()
        }
    if (period := opened.this_period) is not None:
        sums["period"] = {"name": period[0], "left": period[1].document()}
    if wanted != Filter():
        return sums
    entries = [{"sequence": e.sequence, "digest": e.digest} | cast(dict[str, object], e.body) for e in opened.entries()]
    return sums | {"entries": entries}


def _show(opened: Ledger, lines: Sequence[LedgerLine], number: int, wanted: Filter) -> None:
    created, spent, limits = opened.created, opened.spent.texts(spent_text), opened.limit.texts(left_text)
    population = created["population"] or "not named"
    whose = "" if opened.change.endswith(created["unit"]) else f", {created['unit']}"
    say(f"{opened.place}: {opened.change}{whose}, population {population!r}")
    rows = [
        (
            str(line.sequence), line.label, *(line.cost.texts(spent_text)[name] for name in limits),
            line.about, line.data or "-", "yes" if line.outcome == PUBLISHED else "no",
        )
        for line in lines[-_MOST_ON_SCREEN:]
    ]  # fmt: skip
    left_out = len(lines) - len(rows)
    title = f"Charges, the last {len(rows)} of {len(lines)}; --csv writes all" if left_out else "Charges"
    title += "" if wanted == Filter() else ", as filtered"
    show_table(title, ("entry", "label", *spent, "about", "data", "recorded"), rows)
    _show_groups(opened, list(limits))
    show_totals(ledger_totals(opened), "All charges together", opened.accountant.value)
    rule = {
        "basic": "basic composition: all epsilons add up",
        "zcdp": f"zCDP, from a limit of {opened.declared_limit.words(left_text)}",
        "per unit": (
            "all epsilons add up under the metric; the totals above are for arbitrary changes and limit nothing here"
        ),
    }
    say(
        "Spent "
        + ", ".join(f"{name} = {spent[name]} of {limits[name]}" for name in spent)
        + f" ({rule[opened.accountant.value]}).",
        *(_with_groups(opened)),
        *(_left_in_period(opened)),
        *([] if opened.moved_to is None else [f"It was moved to {opened.moved_to}: no further charges are made here."]),
        f"The chain of {number} entries is intact; its head is {opened.head.digest[:16]}...",
    )


def _show_groups(opened: Ledger, amounts: Sequence[str]) -> None:
    """Print what was spent on each group, and what is left for it."""
    groups = opened.by_group()
    if not groups or opened.metric is not None:
        return
    rows = []
    for name, (own, left) in groups.items():
        spent, rest = own.texts(spent_text), {} if left is None else left.texts(left_text)
        rows.append((name, *(part for each in amounts for part in (spent[each], rest.get(each, "-")))))
    show_table("Groups", ("group", *(part for each in amounts for part in (f"{each} spent", f"{each} left"))), rows)


def _with_groups(opened: Ledger) -> list[str]:
    """Say how groups add up, where a record that is added belongs to one of them."""
    if not opened.by_group() or Adjacency(opened.created["adjacency"]) is not Adjacency.ADD_OR_REMOVE:
        return []
    return [
        "That is what was spent on everyone and the most that was spent on one group: a record is of one group only. "
        "What is left for a group may be spent on it at any time, whatever the others spend."
    ]


def _left_in_period(opened: Ledger) -> list[str]:
    period = opened.this_period
    return [] if period is None else [f"In {period[0]}, {period[1].words(left_text)} may still be spent."]


def _write_lines(lines: Sequence[LedgerLine], path: Path) -> None:
    parts = list(lines[0].cost.document()) if lines else ["epsilon", "delta"]
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        heads = ["entry", "at", "label", "about", "data", "request", *parts, *(f"{part} in all" for part in parts)]
        writer.writerow([*heads, "outcome"])
        for line in lines:
            words = [line.sequence, line.at or "", line.label, line.about, line.data, line.request or ""]
            writer.writerow([*words, *line.cost.document().values(), *line.spent.document().values(), line.outcome])


@ledger.command()
@book
@witness
@click.option("--key", type=click.Path(path_type=Path), help="The holder's public key; heads must be signed with it.")
@as_json
@helpful
def check(book: str, witness: Path | None, key: Path | None, as_json: bool) -> None:
    """Check the whole chain and all sums; with --witness, that every head filed there is part of the present chain.

    \b
    Example:  discreet ledger check study.db --witness /mnt/notary --key office.pub
    """
    if key is not None and witness is None:
        raise DeclarationError("--key checks the heads that a witness keeps: it needs --witness FOLDER.")
    opened = open_book(book)
    number = opened.check()
    heads = [] if witness is None else check_witness(opened, witness, None if key is None else PublicKey.open(key))
    if as_json:
        facts = {"entries": number, "ledger": opened.id, "head": opened.head.digest, "witnessed": len(heads)}
        return show_json(facts)
    say(f"The chain of {number} entries is intact; its head is {opened.head.digest[:16]}...")
    if heads:
        signed = "" if key is None else ", and signed by the key"
        kept = f"all {len(heads)} heads that" if len(heads) > 1 else "the one head that"
        last = f"the latest is from {heads[-1].at}, at entry {heads[-1].sequence}"
        say(f"It agrees with {kept} the witness keeps{signed}; {last}.")
    return None


@ledger.command()
@book
@witness
@click.option("--key", type=click.Path(path_type=Path), help="The holder's private key, to sign the head.")
@as_json
@helpful
def head(book: str, witness: Path | None, key: Path | None, as_json: bool) -> None:
    """Print the head of a ledger as a document, signed if a key is given; with --witness, file it in a folder.

    Whoever keeps it can later check that the ledger has only grown. It is JSON, with or without --json.

    \b
    Example:  discreet ledger head study.db --key office.key --witness /mnt/notary
    """
    found = Head.of(open_book(book))
    found = found if key is None else found.signed(SigningKey.open(key))
    if witness is not None:
        if not witness.is_dir():
            raise DeclarationError(f"There is no witness folder {str(witness)!r}. Nothing was filed.")
        found.file(witness)
    click.echo(found.to_json())


@ledger.command()
@book
@click.argument("to")
@as_json
@helpful
def move(book: str, to: str, as_json: bool) -> None:
    """Move a ledger to TO, a server's address or a new file, after checking all of it.

    All entries are moved with their hashes, so releases and witnesses' heads still match. The old ledger is closed: it
    can be read, but takes no further charges. Keep it. If the move is interrupted, run the same command again.

    \b
    Example:  discreet ledger move study.db "postgresql://owner@server/office?schema=ward7"
    """
    opened = open_book(book)
    there = opened.move(to)
    number = there.check()
    if as_json:
        return show_json({"from": str(opened.place), "to": str(there.place), "ledger": there.id, "entries": number})
    return say(
        f"Moved {opened.place} to {there.place}: {number} entries, all earlier hashes unchanged. Its id is {there.id}.",
        f"{opened.place} is closed. Keep it: if it were deleted, a study that names it would start a new budget.",
        f"From now on, name the new place: ledger = {str(there.place)!r} under [budget] of a study.",
    )


@ledger.command()
@book
@click.argument("role")
@as_json
@helpful
def grant(book: str, role: str, as_json: bool) -> None:
    """Allow ROLE of a PostgreSQL server to read a ledger and append to it, and nothing else.

    \b
    Example:  discreet ledger grant postgresql://owner@server/office publisher
    """
    opened = open_book(book)
    chain = opened._chain
    if not isinstance(chain, ServerChain):
        raise DeclarationError(
            "Roles apply to ledgers on a server; access to a file is set by its owner. Nothing was changed."
        )
    chain.grant(role)
    if as_json:
        return show_json({"role": role, "may": ["append", "read"]})
    return say(f"{role!r} may read {opened.place} and append to it, but not change or delete entries or set the limit.")
