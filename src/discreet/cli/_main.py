"""The command `discreet`, which loads each of its subcommands only when that is called."""

import json
from typing import ClassVar

import click

from discreet._core.version import __version__
from discreet.cli._commands import Command, CommandsOnDemand

_HOLDING, _READING = "discreet.cli._holder", "discreet.cli._infer"
_SERVING = "discreet.cli._serve"


class _Commands(CommandsOnDemand):
    on_demand: ClassVar = {
        "init": Command(_HOLDING, "init", "Write a commented study file from a table's column names alone."),
        "check": Command(_HOLDING, "check", "Compare the data with the declarations, for the data holder's eyes only."),
        "plan": Command(
            "discreet.cli._plan",
            "plan",
            "Show how accurate questions will be, before any budget is spent.",
        ),
        "rehearse": Command(
            _HOLDING, "rehearse", "Try out a question on simulated data, with the same sampler and the same inference."
        ),
        "publish": Command(
            _HOLDING, "publish", "Publish a question: charge the ledger, draw the noise, write the release."
        ),
        "ask": Command(
            "discreet.cli._ask",
            "ask",
            "Answer a query that the study declares from a draw of the posterior.",
        ),
        "infer": Command(
            _READING,
            "infer",
            "Infer what one release, or several of the same counts, say: estimates with honest intervals.",
        ),
        "criticise": Command(
            "discreet.cli._criticise", "criticise", "Check whether the released tables fit the graph."
        ),
        "predict": Command(
            "discreet.cli._predict",
            "predict",
            "Predict one variable of new records, some of whose values may be unknown.",
        ),
        "synthesize": Command(
            "discreet.cli._synthesize",
            "synthesize",
            'Draw synthetic records from a release of many columns (model = "synthesis"), and say how good they are.',
        ),
        "verify": Command(
            "discreet.cli._verify",
            "verify",
            "Check a release's guarantee from the document alone; with --ledger, check charge, digest and chain.",
        ),
        "key": Command(
            "discreet.cli._keys",
            "key",
            "Make a key pair and sign releases, so that readers see who issued them.",
        ),
        "ledger": Command("discreet.cli._ledger", "ledger", "Show what has been spent, and check the whole chain."),
        "serve": Command(_SERVING, "serve", "Serve a study: analysts ask, stewards decide, everybody sees the budget."),
        "serve-publisher": Command(
            _SERVING,
            "serve_publisher",
            "Run only the publisher, which holds the records and the ledger and answers the queue.",
        ),
        "serve-front": Command(
            _SERVING, "serve_front", "Run only a front: it serves HTTP and knows nothing but the queue."
        ),
        "serve-account": Command(
            _SERVING, "serve_account", "Create an account on a server and print its one-time link."
        ),
    }


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="discreet")
def main() -> None:
    """Publish statistics of sensitive records under differential privacy, and read them with honest error bars.

    \b
    For the data holder:   init  check  plan  rehearse  publish  ask  ledger
    For readers:           infer  criticise  predict  verify
    A server for both:     serve
    The papers' results:   reproduce, from the distribution discreet-papers

    Every command takes --json, and --help shows an example. Exit codes: 0 done, 1 refused or failed, 2 wrong usage, 3
    the budget is spent, 4 the data cannot be counted, 5 a document or ledger is not what it should be.
    """


@main.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of text.")
def completion(shell: str, as_json: bool) -> None:
    """Print a script that completes commands in your shell.

    \b
    Example:  discreet completion bash >> ~/.bashrc
    """
    from click.shell_completion import get_completion_class

    found = get_completion_class(shell)
    if found is not None:
        script = found(main, {}, "discreet", "_DISCREET_COMPLETE").source()
        click.echo(json.dumps({"shell": shell, "script": script}) if as_json else script)
