"""``tamis select``: from a file to a selection."""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tamis.cli._completion import format_names, method_names, parameter_settings
from tamis.cli._decisions import found_in_json, print_reasons
from tamis.cli._failures import ARGUMENTS, CommandError, command_words
from tamis.cli._layers import layer_key, what_it_holds
from tamis.cli._options import (
    AsJson,
    File,
    Format,
    Header,
    Ids,
    Jobs,
    Key,
    Labels,
    Layer,
    MaxRows,
    Number,
    Seed,
    number_to_keep,
    read_number,
)
from tamis.cli._preparation import Prepared, Scale, image_shape, prepare, scales_itself
from tamis.cli._screen import print_json, print_table, print_text, working
from tamis.cli._selectors import fit, make_selector, read_parameters
from tamis.cli._source import Source, read_source
from tamis.cli._standard_output import STANDARD_OUTPUT, format_on_stdout, sent_to_stdout
from tamis.cli._targets import check_report, check_targets, write_all
from tamis.cli.methods import find_method

if TYPE_CHECKING:
    import numpy as np

    from tamis.base import Selector

__all__ = ["select"]

RANKING_FORMATS = (".csv", ".tsv", ".json")


def select(
    ctx: typer.Context,
    file: File,
    number: Number = None,
    method: Annotated[
        str | None,
        typer.Option(
            "--method",
            "-m",
            metavar="NAME",
            help="How to choose; see tamis methods.",
            autocompletion=method_names,
            show_default="the recommended one",
        ),
    ] = None,
    param: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE",
            help="Sets a parameter of the method; may be repeated.",
            autocompletion=parameter_settings,
        ),
    ] = None,
    clusters: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            help="How many clusters the method is to think of.",
            show_default="the method's own default",
        ),
    ] = None,
    scale: Annotated[
        Scale,
        typer.Option(
            metavar="NAME",
            help="What is done to the columns first: standard, to mean 0 and deviation 1; columns, "
            "each to the range 0 to 1; unit, all by one scale; none. auto is what suits the "
            "method.",
        ),
    ] = "auto",
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Where the selected columns go, as they were; the name tells the format. - is "
            "standard output, as CSV.",
        ),
    ] = None,
    output_format: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="The format of the output, where its name does not tell.",
            autocompletion=format_names,
        ),
    ] = None,
    ranking: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Where score and rank of every column go: .csv, .tsv or .json."
        ),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Where a page goes that shows why these columns: .html."),
    ] = None,
    labels: Labels = None,
    ids: Ids = None,
    shape: Annotated[
        str | None,
        typer.Option(
            "--image-shape",
            metavar="HxW",
            help="The samples are images of this size; the report shows the kept pixels.",
        ),
    ] = None,
    max_rows: MaxRows = None,
    format: Format = None,
    key: Key = None,
    header: Header = None,
    layer: Layer = None,
    top: Annotated[
        int, typer.Option(metavar="N", min=0, help="How many of the kept columns to print.")
    ] = 20,
    seed: Seed = 0,
    jobs: Jobs = 1,
    as_json: AsJson = False,
) -> None:
    """Keep the columns of a table that are worth keeping.

    Without --method and -k nothing has to be known: how to scale, how
    many groups there are, which columns show them and how many of them
    are enough is found out, and the output says why. Labels, if the
    table has any, are never looked at.

    For example:
      tamis select data.csv
      tamis select data.csv -k 50 -o selected.csv --labels species
      tamis select data.parquet -m udfs --param gamma=0.01 --ranking r.csv
      tamis select dataset:digits -k 20 --report report.html
    """
    from tamis.inspection import read_decisions
    from tamis.registry import DEFAULT_METHOD, DEFAULT_METHOD_REASON

    wanted = read_number(number)
    chosen = find_method(method or DEFAULT_METHOD)
    why = "as asked for" if method else DEFAULT_METHOD_REASON
    parameters = read_parameters(chosen, param or [], clusters)
    model = make_selector(
        chosen, parameters, seed=seed, jobs=jobs, verbose=sys.stderr.isatty() and not as_json
    )
    if scale != "auto" and scales_itself(chosen) and "scaling" not in parameters:
        model.set_params(scaling="none")  # it has been done
    output_format = format_on_stdout(output, output_format, as_json)
    to_stdout = output == STANDARD_OUTPUT
    targets = {
        "--output": None if to_stdout else output,
        "--ranking": ranking,
        "--report": report,
    }
    folders = _check_formats(output, output_format, ranking)
    paths = check_targets(targets, None if file.startswith("dataset:") else Path(file), folders)
    check_report(report)
    if to_stdout:
        paths["--output"] = STANDARD_OUTPUT

    key = layer_key(layer, key, file, format)
    source = read_source(file, labels=labels, ids=ids, format=format, key=key, header=header)
    finds_number = wanted is None and isinstance(model.n_features_to_select, str)
    why_so_many = ""
    if not finds_number:
        n_wanted, why_so_many = number_to_keep(wanted, source.table.X.shape[1], source.name)
        model.set_params(n_features_to_select=n_wanted)
    pixels = image_shape(shape, source)
    prepared = prepare(source, chosen, scale, max_rows, seed)
    said = source.describe()
    start = time.perf_counter()
    if model.get_params().get("verbose"):  # it shows its own progress
        fit(model, prepared.X, source.name)
    else:
        with working(f"ranking {prepared.X.shape[1]:,} columns by {chosen.name}"):
            fit(model, prepared.X, source.name)
    seconds = time.perf_counter() - start
    n_samples, n_columns = source.table.X.shape
    n_rows = prepared.X.shape[0]
    n_kept = int(model.get_support().sum())

    command = shlex.join(["tamis", *ctx.meta[ARGUMENTS]])
    ctx.with_resource(sent_to_stdout(paths))
    _write(paths, source, prepared, model, output_format, pixels, command)
    holds = what_it_holds(source, key, output, output_format, n_kept)
    kept = best_first(model, n_kept)
    names = source.table.feature_names
    decisions = read_decisions(model, [str(name) for name in names])
    if as_json:
        print_json(
            {
                "source": source.name,
                "n_samples": n_samples,
                "n_columns": n_columns,
                "n_rows_used": n_rows,
                "method": chosen.name,
                "why": why,
                "parameters": _plain_parameters(model),
                "scaling": prepared.scaling,
                "notes": [*source.table.notes, *prepared.words],
                "seconds": round(seconds, 3),
                "n_kept": n_kept,
                "kept": [
                    {
                        "rank": rank,
                        "column": int(column),
                        "name": str(names[column]),
                        "score": float(model.scores_[column]),
                    }
                    for rank, column in enumerate(kept, start=1)
                ],
                "output_holds": holds,
                "files": {option.removeprefix("--"): str(path) for option, path in paths.items()},
                **found_in_json(model, decisions, scale_asked_for=scale != "auto"),
            }
        )
        return
    print_text(said)
    for sentence in (*source.table.notes, *prepared.words):
        print_text(sentence)
    print_text(f"Method: {chosen.name}, {why}.")
    sentences = decisions.sentences if decisions is not None else ()
    for sentence in sentences or (f"Keeps {n_kept:,} columns: {why_so_many}.",):
        print_text(sentence)
    print_text("")
    print_table(
        ("rank", "column", "name", "score"),
        [
            (str(rank), str(column), str(names[column]), f"{model.scores_[column]:.4g}")
            for rank, column in enumerate(kept[:top], start=1)
        ],
        right=("rank", "column", "score"),
        names=("name",),
    )
    if n_kept > top:
        print_text(f"… and {n_kept - top:,} more (--top shows more, --ranking writes all)")
    if decisions is not None:
        print_reasons(decisions)
    for option, path in paths.items():
        if not (to_stdout and option == "--output"):
            print_text(f"Wrote {path}")
    for sentence in holds:
        print_text(sentence)


def best_first(model: Selector, number: int) -> np.ndarray:
    """The columns that are kept, the best first."""
    import numpy as np

    order: np.ndarray = np.argsort(model.ranking_)[:number]
    return order


def _plain_parameters(model: Selector) -> dict[str, Any]:
    return {
        name: value
        for name, value in model.get_params().items()
        if name not in ("affinity", "verbose", "n_features_to_select")
    }


def _check_formats(
    output: Path | None, output_format: str | None, ranking: Path | None
) -> tuple[str, ...]:
    """Refuse names from which no format can be told; return the options that write a folder."""
    from tamis import io

    formats = io.formats()
    if output_format is not None and output_format not in formats:
        raise CommandError(
            f"--output-format {output_format} is unknown; the formats are {', '.join(formats)}."
        )
    if ranking is not None and ranking.suffix.lower() not in RANKING_FORMATS:
        raise CommandError(f"--ranking {ranking} must end in {', '.join(RANKING_FORMATS)}.")
    if output is None:
        return ()
    try:
        return ("--output",) if io.format_of(output, output_format).name == "zarr" else ()
    except io.TableError as error:
        raise CommandError(f"--output {command_words(error, '--output-format')}") from None


def _write(
    paths: dict[str, Path],
    source: Source,
    prepared: Prepared,
    model: Selector,
    output_format: str | None,
    pixels: tuple[int, int] | None,
    command: str,
) -> None:
    """Write what was asked for, all of it or nothing."""
    import numpy as np

    from tamis import io

    feature_names = source.table.feature_names
    writers: dict[Path, Callable[[Path], None]] = {}
    if "--ranking" in paths:
        writers[paths["--ranking"]] = lambda path: io.write_ranking(model, feature_names, path)
    if "--report" in paths:
        from tamis import report

        labels = source.table.labels
        if labels is not None:
            labels = labels[prepared.rows]

        def write_report(path: Path) -> None:
            report.selection(
                model,
                prepared.X,
                feature_names=list(feature_names),
                labels=labels,
                image_shape=pixels,
                command=command,
                preparation=prepared.words,
                scaler=prepared.scaler,
                source_code=f"{source.code}\n{prepared.code}",
                title=source.name,
            ).save(path)

        writers[paths["--report"]] = write_report
    if "--output" in paths:

        def write_output(path: Path) -> None:
            if prepared.altered:
                # Scaling in place has left nothing of the values that are to be written; what it
                # made of them is not needed any more, nor is the memory for both.
                del prepared.X
                source.reread()
            columns = np.flatnonzero(model.get_support())
            io.write_table(source.table, columns, path, format=output_format, selector=model)

        writers[paths["--output"]] = write_output
    if writers:
        with working("writing"):
            write_all(writers)
