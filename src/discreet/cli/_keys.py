"""The commands `key`: make a key pair, and sign a release with it."""

from pathlib import Path

import click

from discreet._core.errors import DeclarationError
from discreet.cli._infer import read_document
from discreet.cli._screen import as_json, helpful, require_folder, say, show_json
from discreet.ledger import SigningKey


@click.group()
def key() -> None:
    """Make a key pair and sign releases, so that readers see who issued them. Each of the commands below takes --json.

    \b
    Example:  discreet key new office --owner "Office of Statistics"
    """


@key.command()
@click.argument("name", type=click.Path(path_type=Path))
@click.option("--owner", help="Whose key it is, in words that readers will see; by default NAME.")
@as_json
@helpful
def new(name: Path, owner: str | None, as_json: bool) -> None:
    """Write NAME.key, which is private (mode 0600), and NAME.pub, which is for everybody.

    \b
    Example:  discreet key new office --owner "Office of Statistics"
    """
    private, public = name.with_name(f"{name.name}.key"), name.with_name(f"{name.name}.pub")
    require_folder(private)
    if public.exists():
        raise DeclarationError(f"{str(public)!r} already exists. Nothing was written: a key is never replaced.")
    made = SigningKey.new(owner or name.name)
    made.save(private)
    made.public.save(public)
    if as_json:
        return show_json({"private": str(private), "public": str(public), "key": made.public.key})
    return say(
        f"Wrote {private}, which only you can read: keep it secret and back it up.",
        f"Wrote {public}: give it to your readers through a channel that they trust. `discreet verify RELEASE --key "
        f"{public}`",
    )


@key.command()
@click.argument("release", type=click.Path(path_type=Path))
@click.option("--key", "private", type=click.Path(path_type=Path), required=True, help="The private key's file.")
@as_json
@helpful
def sign(release: Path, private: Path, as_json: bool) -> None:
    """Sign a release: the signature is written into its file, and nothing else changes.

    \b
    Example:  discreet key sign smoking-2026.release.json --key office.key
    """
    document, signer = read_document(release), SigningKey.open(private)
    if any(each.key == signer.public.key for each in document.signatures):
        raise DeclarationError(f"{str(release)!r} is already signed with this key. Nothing was changed.")
    release.write_text(document.signed(signer).to_json() + "\n", encoding="utf-8")
    if as_json:
        return show_json({"release": str(release), "key": signer.public.key, "owner": signer.public.owner})
    return say(f"Signed {release} as {signer.public.owner!r}.")
