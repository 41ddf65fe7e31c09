"""The commands of a server: run both processes on one machine, or one of them, and create accounts."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from discreet._core.errors import DeclarationError
from discreet.cli._screen import as_json, complaints, helpful, say
from discreet.ledger import SigningKey

MISSING = "A server needs more libraries: pip install 'discreet[serve]'. Nothing was started."
_path = click.Path(path_type=Path)
_queue = click.option("--queue", help="The queue: a file, or postgresql://...; by default STUDY.serve/queue.db.")
_lines = click.option("--json", "as_json", is_flag=True, help="Print what it says as JSON, one document a line.")
_key = click.option("--key", type=_path, help="Your private key, to sign what is published.")


def _reached(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say how a front is reached."""
    options = (
        click.option("--address", default="127.0.0.1:8000", show_default=True, help="Where the front listens."),
        click.option("--port", type=click.IntRange(0, 65535), help="The port, if only that is not the usual one."),
        click.option("--public-address", "public", help="The public address, such as https://data.example."),
        click.option("--proxy", "proxies", multiple=True, help="The address or network of a trusted proxy."),
        click.option("--user-header", help="The header in which the proxy names the signed-in user."),
    )
    for option in reversed(options):
        command = option(command)
    return command


def _with_port(address: str, port: int | None) -> str:
    """Return an address with another port."""
    return address if port is None else f"{address.rpartition(':')[0]}:{port}"


def _require_libraries() -> None:
    try:
        import argon2  # noqa: F401
        import jinja2  # noqa: F401
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError:
        raise DeclarationError(MISSING) from None


def saying(as_json: bool, plainly: Callable[[str], None]) -> Callable[[str], None]:
    """Return how a process that goes on and on says something: in plain words, or as one JSON document a line."""
    return (lambda words: click.echo(json.dumps({"said": words}))) if as_json else plainly


def _complain(words: str) -> None:
    complaints.print(words, markup=False)


def _signer(key: Path | None) -> SigningKey | None:
    return None if key is None else SigningKey.open(key)


@click.command()
@click.argument("study", type=_path)
@_queue
@_key
@_reached
@click.option("--front-user", help="If you are root: the user that the front runs as.")
@_lines
@helpful
def serve(
    study: Path,
    queue: str | None,
    key: Path | None,
    address: str,
    port: int | None,
    public: str | None,
    proxies: Sequence[str],
    user_header: str | None,
    front_user: str | None,
    as_json: bool,
) -> None:
    """Serve a study: analysts ask, stewards decide, everybody sees the budget. Prints a one-time steward link.

    Two processes are started: the front, which serves HTTP and never holds records, and the publisher, which holds the
    records and the ledger and talks to nobody. [serve] in the study sets who decides and when answers are shown.

    \b
    Example:  discreet serve study.toml
              discreet serve study.toml --port 9000 --key office.key
    """
    _require_libraries()
    from discreet.server import Pair, ServerAddress, default_queue
    from discreet.study import Study

    Study(study)  # so that a study that cannot be read is refused at once
    _signer(key)
    reached = ServerAddress(_with_port(address, port), public, tuple(proxies), user_header)
    reached.settings(reached.host_and_port[1])
    Pair(study.absolute(), queue or str(default_queue(study)), reached, key, front_user, saying(as_json, say)).run()


@click.command("serve-publisher")
@click.argument("study", type=_path)
@_queue
@_key
@click.option(
    "--front-role",
    help="On a database server: the role that the front logs in with; it is granted only what it needs.",
)
@_lines
@helpful
def serve_publisher(study: Path, queue: str | None, key: Path | None, front_role: str | None, as_json: bool) -> None:
    """Run only the publisher, which holds the records and the ledger and answers the queue.

    \b
    Example:  discreet serve-publisher study.toml --queue postgresql://publisher@db/queue --front-role front
    """
    _require_libraries()
    from discreet.server import Publisher, Queue, default_queue, make_folder

    place = queue or str(default_queue(study))
    make_folder(place)
    publisher = Publisher(study, Queue(place), _signer(key), report=saying(as_json, _complain))
    publisher.prepare(front_role)
    publisher.run()


@click.command("serve-front")
@click.option("--queue", required=True, help="The queue: a file, or postgresql://...")
@_reached
@_lines
@helpful
def serve_front(
    queue: str,
    address: str,
    port: int | None,
    public: str | None,
    proxies: Sequence[str],
    user_header: str | None,
    as_json: bool,
) -> None:
    """Run only a front: it serves HTTP and knows nothing but the queue.

    \b
    Example:  discreet serve-front --queue postgresql://front@db/queue --address 10.0.0.7:8000
              --public-address https://data.example --proxy 10.0.0.5
    """
    _require_libraries()
    from discreet.server import ServerAddress, run_front

    run_front(
        queue, ServerAddress(_with_port(address, port), public, tuple(proxies), user_header), saying(as_json, _complain)
    )


@click.command("serve-account")
@click.argument("name")
@click.option(
    "--role",
    required=True,
    type=click.Choice(["steward", "analyst", "auditor"]),
    help="Stewards decide and invite, analysts ask, auditors read the log.",
)
@click.option("--queue", required=True, help="The queue: a file, or postgresql://...")
@click.option("--again", is_flag=True, help="Create a new sign-in link for an existing account.")
@as_json
@helpful
def serve_account(name: str, role: str, queue: str, again: bool, as_json: bool) -> None:
    """Create an account on a server and print its one-time link. Use it for a first steward, or a lost password.

    \b
    Example:  discreet serve-account anna --role steward --queue study.serve/queue.db
    """
    _require_libraries()
    from discreet.server import People, Queue

    found = Queue(queue)
    try:
        found.require()
        link = People(found).invite(name, role, "(command line)", again)
    finally:
        found.engine.dispose()
    if as_json:
        click.echo(json.dumps({"name": name, "role": role, "path": f"/welcome/{link}"}))
        return
    say(f"Add this path to the front's address. The link works only once and is valid for one day: /welcome/{link}")
