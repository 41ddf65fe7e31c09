"""The command that checks a guarantee: verify."""

from math import isfinite
from pathlib import Path

import click

from discreet._core.errors import DeclarationError
from discreet._core.exact import exact_text
from discreet.cli._compare import examine_file
from discreet.cli._infer import read_document
from discreet.cli._screen import as_json, console, helpful, patient, require_folder, say, show_json
from discreet.ledger import Ledger, PublicKey, issuers
from discreet.verification import DRAWS
from discreet.verification import verify as verify_release


@click.command()
@click.argument("release", type=click.Path(path_type=Path), required=False)
@click.option("--ledger", "book", help="Check the release against this ledger too: a file, or a server's address.")
@click.option(
    "--key", type=click.Path(path_type=Path), help="The issuer's public key; the release must be signed with it."
)
@click.option(
    "--mechanism", type=click.Path(path_type=Path), help="Check a mechanism from a file instead of a release."
)
@click.option("--draws", type=int, default=DRAWS, show_default=True, help="How many draws to audit a mechanism with.")
@click.option("--plot", type=click.Path(path_type=Path), help="Write a picture of the audit: .png, .svg or .json.")
@patient
@as_json
@helpful
def verify(
    release: Path | None,
    book: str | None,
    key: Path | None,
    mechanism: Path | None,
    draws: int,
    plot: Path | None,
    patience: float,
    as_json: bool,
) -> None:
    """Check a release's guarantee from the document alone; with --ledger, check charge, digest and chain.

    Every line says what was done: recomputed, compared, drawn or looked up; or that it rests on a proof alone. With
    --mechanism no data are involved: a mechanism, given by its document or by a release, is checked in the same way,
    and its sampler is audited with draws on simulated data.

    \b
    Example:  discreet verify smoking-2026.release.json --ledger study.db
              discreet verify smoking-2026.release.json --key office.pub
              discreet verify --mechanism smoking-2026.release.json --plot audit.png
    """
    require_folder(plot)
    if (release is None) == (mechanism is None):
        raise DeclarationError("Verify a release, or a mechanism with --mechanism FILE.")
    if mechanism is not None:
        if book is not None or key is not None:
            raise DeclarationError("--ledger and --key need a release: a mechanism by itself was never charged.")
        return examine_file(mechanism, draws, plot, patience, as_json)
    if release is None or plot is not None:
        raise DeclarationError("--plot draws an audit: it needs --mechanism.")
    document = read_document(release)
    holder = None if key is None else PublicKey.open(key)
    certificate = verify_release(document, None if book is None else Ledger.open(book), patience, holder)
    if as_json:
        return show_json(
            {
                "label": document.label,
                "simulated": document.simulated,
                "epsilon": certificate.epsilon if isfinite(certificate.epsilon) else None,  # there is no pure epsilon
                "exact": certificate.exact,
                "delta": exact_text(certificate.guarantee.delta),
                "adjacency": certificate.guarantee.adjacency.value,
                "change": document.change,
                **({} if document.where is None else {"where": str(document.where)}),
                **({} if document.derived is None else {"derived": document.derived.document}),
                "unit": document.unit.description,
                "evidence": certificate.evidence.value,
                "worst_pair": certificate.worst_pair,
                "checks": certificate.checks,
                "issuer": None if holder is None else holder.owner,
                "signed": bool(document.signatures),
            }
        )
    console.print("[bold green]The guarantee holds.[/]")
    where = "" if document.where is None else f", about the records where {document.where}"
    lines = [f"{document.label!r}{where}, protecting {document.unit.description}", *str(certificate).splitlines()]
    return say(*lines, *([] if key is not None else [issuers(document.signatures)]))
