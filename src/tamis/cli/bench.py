"""``tamis bench``: the experiments of the papers, and the leaderboard."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from tamis.cli._failures import INTERRUPTED, Failure, reason
from tamis.cli._options import AsJson, Jobs, Seed, close_to
from tamis.cli._screen import one_line, print_json, print_table, print_text

__all__ = ["bench", "experiment_names"]


def experiment_names(incomplete: str) -> list[str]:
    """The names that begin so, for the completion of the shell."""
    from tamis.evaluation import experiments

    return [name for name in experiments.names() if name.startswith(incomplete)]


def bench(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[NAME]",
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
        typer.Option(metavar="A,B", help="Only these data sets.", show_default="those at hand"),
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

    \b
    Examples:
      tamis bench
      tamis bench udfs --quick
      tamis bench leaderboard --output results --jobs 4
      tamis bench jelsr --sets umist,usps --json
    """
    from tamis.evaluation import experiments

    if name is None:
        _list(as_json)
        return
    if name not in experiments.names():
        raise Failure(
            f"there is no experiment {name!r}{close_to(name, experiments.names())}; "
            "`tamis bench` lists them."
        )
    chosen = _known_sets(sets)
    _check_folder(output)
    try:
        outcome = experiments.run(
            name,
            output=output,
            quick=quick,
            sets=chosen,
            n_jobs=jobs,
            seed=seed,
            fresh=fresh,
            progress=sys.stderr.isatty(),
        )
    except KeyboardInterrupt:
        raise Failure(
            f"stopped; what is done is kept in {output / name}, and the same command goes on "
            "from there.",
            INTERRUPTED,
        ) from None
    except (ValueError, LookupError) as error:
        raise Failure(f"{name}: {reason(error)}.") from None
    except OSError as error:
        raise Failure(
            f"cannot write to {error.filename or output}: {reason(error)}; choose another folder "
            "with --output, or make room."
        ) from None
    if as_json:
        print_json({**outcome.data, "files": outcome.files, "verdicts": outcome.verdicts})
    else:
        for line in outcome.text.splitlines():
            print_text(line)
        print_text("")
        verdicts = ", ".join(f"{verdict}: {n}" for verdict, n in outcome.verdicts.items())
        if verdicts:
            print_text(f"Cells by verdict: {verdicts}")
        print_text("Wrote " + ", ".join(map(str, outcome.files)))


def _list(as_json: bool) -> None:
    from tamis.evaluation import experiments

    rows = [(name, *experiments.summary(name)) for name in experiments.names()]
    if as_json:
        print_json([{"name": name, "paper": paper, "sets": sets} for name, paper, sets in rows])
        return
    print_table(
        ("name", "paper", "data sets"),
        [(name, one_line(paper), ", ".join(sets)) for name, paper, sets in rows],
    )
    print_text("")
    print_text("`tamis bench NAME` runs one; with --quick a smaller version.")


def _known_sets(sets: str | None) -> list[str] | None:
    if sets is None:
        return None
    from tamis import datasets

    try:
        names = [datasets.entry(name.strip()).name for name in sets.split(",") if name.strip()]
    except datasets.DatasetError as error:
        raise Failure(str(error)) from None
    if not names:
        raise Failure("--sets names no data set; `tamis datasets` lists them.")
    return names


def _check_folder(folder: Path) -> None:
    """Results go into a folder that is made if its parent exists."""
    if folder.exists() and not folder.is_dir():
        raise Failure(f"{folder} is a file, not a folder; choose another with --output.")
    if not folder.absolute().parent.is_dir():
        raise Failure(
            f"the folder {folder.absolute().parent} does not exist; create it, or choose another "
            "with --output.",
        )
