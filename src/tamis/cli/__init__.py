"""The command line: ``tamis select``, ``compare``, ``bench``, ``methods`` and ``datasets``.

Everything heavy is imported by the commands when they run, so that help and completion are quick.
"""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from tamis.cli._failures import INTERRUPTED, Group
from tamis.cli.bench import bench
from tamis.cli.compare import compare
from tamis.cli.datasets import datasets
from tamis.cli.methods import methods
from tamis.cli.select import select

__all__ = ["app", "main"]

app = typer.Typer(
    name="tamis",
    cls=Group,
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (select, compare, bench, methods, datasets):
    app.command()(command)


def _print_version(wanted: bool) -> None:
    if wanted:
        import tamis

        print(f"tamis {tamis.__version__}")
        raise typer.Exit


@app.callback()
def _tamis(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """Decide which columns of a wide table to keep, without labels.

    \b
    Examples:
      tamis select data.csv -o selected.csv       keep the columns worth keeping
      tamis select data.csv --report report.html  see why these
      tamis compare data.csv --methods all        methods side by side
      tamis methods                               what there is, and for what
    """


def main() -> None:
    """Run the command line."""
    try:
        app(prog_name="tamis")
    except KeyboardInterrupt:  # before a command has begun, or after its end
        sys.exit(INTERRUPTED)
