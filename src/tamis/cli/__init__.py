"""The command line: ``tamis select``, ``apply``, ``compare``, ``bench``, ``studio`` and others.

Everything heavy is imported by the commands when they run, so that help and completion are quick.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from typing import Annotated

import typer

from tamis.cli._failures import INTERRUPTED, Command, Group
from tamis.cli.apply import apply
from tamis.cli.bench import bench
from tamis.cli.compare import compare
from tamis.cli.datasets import datasets
from tamis.cli.methods import methods
from tamis.cli.select import select
from tamis.cli.studio import studio

__all__ = ["app", "main"]

app = typer.Typer(
    name="tamis",
    cls=Group,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _help(command: Callable[..., None]) -> str:
    """The docstring, with its examples marked as lines that are not to be joined."""
    return (inspect.getdoc(command) or "").replace("\nFor example:", "\n\b\nFor example:")


for command in (select, apply, compare, bench, methods, datasets, studio):
    app.command(cls=Command, help=_help(command))(command)


def _print_version(wanted: bool) -> None:
    if wanted:
        import tamis

        print(f"tamis {tamis.__version__}")
        raise typer.Exit


def _tamis(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """Decide which columns of a wide table to keep, without labels.

    For example:
      tamis select data.csv -o selected.csv       keep the columns worth keeping
      tamis select data.csv --report report.html  see why these
      tamis compare data.csv --methods all        methods side by side
      tamis methods                               what there is, and for what
      tamis studio data.csv                       look and decide in a page
    """


app.callback(help=_help(_tamis))(_tamis)


def main() -> None:
    """Run the command line."""
    try:
        app(prog_name="tamis")
    except KeyboardInterrupt:  # before a command has begun, or after its end
        sys.exit(INTERRUPTED)
