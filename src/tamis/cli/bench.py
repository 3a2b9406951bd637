"""``tamis bench``: the experiments of the papers, the leaderboard, and that on Auto."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tamis.cli._completion import dataset_list
from tamis.cli._failures import COMPUTATION, INTERRUPTED, CommandError, command_words, reason
from tamis.cli._options import AsJson, Jobs, Seed
from tamis.cli._screen import one_line, print_aside, print_json, print_table, print_text, stdout
from tamis.cli.methods import third_party_selectors
from tamis.utils.messages import did_you_mean

if TYPE_CHECKING:
    from rich.console import Console

    from tamis.reproduction import Outcome

__all__ = ["bench", "experiment_names"]


def experiment_names(incomplete: str) -> list[str]:
    """The names that begin so, for the completion of the shell."""
    from tamis import reproduction

    return [name for name in reproduction.names() if name.startswith(incomplete)]


def bench(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME",
            help="The experiment; without it they are listed.",
            autocompletion=experiment_names,
            show_default=False,
        ),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="A smaller version, in under five minutes.")
    ] = False,
    sets: Annotated[
        str | None,
        typer.Option(
            metavar="A,B",
            help="Only these data sets.",
            autocompletion=dataset_list,
            show_default="those available",
        ),
    ] = None,
    methods: Annotated[
        str | None,
        typer.Option(
            "--methods",
            "-m",
            metavar="MODULE:NAME,…",
            help="Selectors of other packages that join the leaderboard.",
            show_default=False,
        ),
    ] = None,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FOLDER", help="Where results are kept.")
    ] = Path("results"),
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Begin anew instead of going on where it stopped.")
    ] = False,
    jobs: Jobs = 1,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Run an experiment of a paper: our figure beside the paper's, and a verdict for each.

    Results are kept as they come: stop it whenever you like, the same
    command goes on from there.

    For example:
      tamis bench
      tamis bench udfs --quick
      tamis bench leaderboard --output results --jobs 4
      tamis bench jelsr --sets umist,usps --json
      tamis bench leaderboard -m mymodule:MySelector --sets colon,orl
    """
    from tamis import reproduction

    if name is None:
        _list(as_json)
        return
    if name not in reproduction.names():
        raise CommandError(
            f"there is no experiment {name!r}{did_you_mean(name, reproduction.names())}; "
            "`tamis bench` lists them."
        )
    chosen = _known_sets(sets)
    _check_folder(output)
    joining = third_party_selectors(
        part.strip() for part in (methods or "").split(",") if part.strip()
    )
    from tamis.evaluation import Candidate, SweepError

    try:
        outcome = reproduction.run(
            name,
            output=output,
            quick=quick,
            sets=chosen,
            n_jobs=jobs,
            seed=seed,
            fresh=fresh,
            progress=sys.stderr.isatty(),
            candidates=[Candidate(m, m, selector=one) for m, one in joining.items()],
        )
    except KeyboardInterrupt:
        raise CommandError(
            f"stopped; what is done is kept in {output}, and the same command goes on from there.",
            INTERRUPTED,
        ) from None
    except (SweepError, ImportError, ValueError, LookupError) as error:
        raise CommandError(command_words(error)) from error
    except OSError as error:
        raise CommandError(
            f"cannot write to {error.filename or output}: {reason(error)}; choose another folder "
            "with --output, or make room."
        ) from error
    if as_json:
        print_json({**outcome.data, "files": [str(path) for path in outcome.files]})
    else:
        _print(outcome)
    _say_what_took_too_long(outcome)
    failures = outcome.data.get("failures", ())
    if failures:
        raise CommandError(f"{len(failures)} runs of {name} failed; see above why.", COMPUTATION)


def _print(outcome: Outcome) -> None:
    """The tables, coloured on a terminal, and what was written."""
    console = stdout()
    if console.is_terminal and outcome.tables:
        for table in outcome.tables:
            if not getattr(table, "on_second_page", False):  # too much for a terminal
                _print_whole(console, table)
        counts = ", ".join(f"{n} {verdict}" for verdict, n in outcome.verdicts.items() if n)
        if counts:
            print_text(f"Verdicts: {counts}.")
        for dataset, advice in outcome.data.get("absent", {}).items():
            print_text(f"Not available: {dataset} ({advice})")
        for dataset, difference in outcome.data.get("differing", {}).items():
            print_text(f"Not the registry's copy: {dataset} {difference}")
        for word, kind in (("Failed", "failures"), ("Not finished", "too_long")):
            for run in outcome.data.get(kind, ()):
                print_text(f"{word}: {run['key']}: {run['error']}")
    else:
        for line in outcome.text.splitlines():
            print_text(line)
    print_text("")
    for path in outcome.files:
        print_text(f"Wrote {path}")


def _say_what_took_too_long(outcome: Outcome) -> None:
    """A line on standard error: to take longer than one may is a result, and no failure."""
    labels = [run["key"].get("label", "a run") for run in outcome.data.get("too_long", ())]
    if labels:
        methods = ", ".join(
            label if number == 1 else f"{label} ({number} times)"
            for label, number in Counter(labels).items()
        )
        runs = "1 run" if len(labels) == 1 else f"{len(labels)} runs"
        print_aside(f"note: {runs} of {outcome.name} took longer than the time limit: {methods}.")


def _print_whole(console: Console, table: Any) -> None:
    """A table in colours, or as text where the terminal is too narrow: no figure is cut."""
    coloured = table.rich()
    if console.measure(coloured, options=console.options.update(width=10_000)).maximum <= (
        console.width
    ):
        console.print(coloured)
    else:
        console.print(table.text(), soft_wrap=True)


def _list(as_json: bool) -> None:
    from tamis import reproduction

    known = [reproduction.find(name) for name in reproduction.names()]
    if as_json:
        print_json([{"name": e.name, "paper": e.paper, "sets": e.sets} for e in known])
        return
    print_table(
        ("name", "paper", "data sets"),
        [(e.name, one_line(e.paper), ", ".join(e.sets)) for e in known],
    )
    print_text("")
    print_text("`tamis bench NAME` runs one; with --quick a smaller version.")


def _known_sets(sets: str | None) -> list[str] | None:
    if sets is None:
        return None
    from tamis import datasets

    names = []
    for name in filter(None, map(str.strip, sets.split(","))):
        try:
            names.append(datasets.entry(name).name)
        except datasets.DatasetError:  # a file of the user's, or of nobody: the experiment knows
            names.append(name)
    if not names:
        raise CommandError("--sets names no data set; `tamis datasets` lists them.")
    return names


def _check_folder(folder: Path) -> None:
    """Results go into a folder that is made if its parent exists."""
    if str(folder) == "-":
        raise CommandError("--output - is no folder; --json prints the results.")
    if folder.exists() and not folder.is_dir():
        raise CommandError(f"{folder} is a file, not a folder; choose another with --output.")
    if not folder.absolute().parent.is_dir():
        raise CommandError(
            f"the folder {folder.absolute().parent} does not exist; create it, or choose another "
            "with --output.",
        )
