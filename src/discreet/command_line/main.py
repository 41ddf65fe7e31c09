"""The command `discreet`."""

import click

from discreet.command_line.holding import check, init, plan, publish, rehearse
from discreet.command_line.ledgers import ledger
from discreet.command_line.reading import infer, verify
from discreet.command_line.reproduce import reproduce
from discreet.version import __version__


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="discreet")
def main() -> None:
    """Publish what sensitive records say, under differential privacy, and read it back honestly.

    \b
    The data holder's road:   init  check  plan  rehearse  publish  ledger
    The reader's road:        infer  verify
    The papers' results:      reproduce

    Every command takes --json, and --help shows an example. Exit codes: 0 done, 1 refused or failed, 2 called wrongly,
    3 the budget is spent, 4 the data cannot be counted, 5 a document or ledger is not what it should be.
    """


@main.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print a script that completes commands in your shell.

    \b
    Example:  discreet completion bash >> ~/.bashrc
    """
    from click.shell_completion import get_completion_class

    found = get_completion_class(shell)
    if found is not None:
        click.echo(found(main, {}, "discreet", "_DISCREET_COMPLETE").source())


for command in (init, check, plan, rehearse, publish, infer, verify, ledger, reproduce):
    main.add_command(command)
