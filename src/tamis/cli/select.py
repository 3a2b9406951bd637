"""``tamis select``: from a file to a selection."""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tamis.cli._blocks import InBlocks, comes_in_blocks, refuse_options, select_in_blocks
from tamis.cli._cells import Batch, Genes, Subset, select_genes
from tamis.cli._completion import format_names, method_names, parameter_settings
from tamis.cli._decisions import found_in_json, print_reasons
from tamis.cli._failures import ARGUMENTS, CommandError
from tamis.cli._grouping import SourceRanking, grouped
from tamis.cli._layers import layer_key, what_it_holds
from tamis.cli._mixed import Cut, Missing, listed, refuse_both
from tamis.cli._options import (
    AsJson,
    CheckpointFile,
    Decimal,
    Encoding,
    File,
    Format,
    Header,
    Ids,
    Jobs,
    Key,
    Labels,
    Layer,
    MaxRows,
    Memory,
    Na,
    Number,
    Scheduler,
    Seed,
    Sep,
    Sheet,
    Thousands,
    number_to_keep,
    read_number,
)
from tamis.cli._outputs import Output, plain_parameters, write_outputs
from tamis.cli._preparation import Prepared, Scale, image_shape, prepare, scales_itself
from tamis.cli._screen import print_json, print_table, print_text, working
from tamis.cli._selectors import fit, fit_defaults_to, make_selector, read_parameters
from tamis.cli._source import Source, read_source
from tamis.cli._standard_output import STANDARD_OUTPUT, format_on_stdout, sent_to_stdout
from tamis.cli._targets import check_output, check_report, check_targets
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
    save: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Where the selection goes, for tamis apply to cut new tables alike: .json.",
        ),
    ] = None,
    prepared_output: Annotated[
        bool,
        typer.Option(
            "--prepared", help="Write the numbers that were made of the columns, not their cells."
        ),
    ] = False,
    keep: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            help="A column that stays, by name or pattern ('price_*'); the others are chosen given "
            "it. May be repeated.",
        ),
    ] = None,
    drop: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            help="A column that is not looked at, by name or pattern ('id_*'); may be repeated.",
        ),
    ] = None,
    numeric_only: Annotated[
        bool,
        typer.Option("--numeric-only", help="Choose among columns of numbers only."),
    ] = False,
    missing: Annotated[
        Missing,
        typer.Option(
            metavar="NAME",
            help="What is done about missing values: impute, drop-rows, drop-columns or refuse.",
        ),
    ] = "impute",
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
    memory: Memory = None,
    checkpoint: CheckpointFile = None,
    scheduler: Scheduler = None,
    format: Format = None,
    key: Key = None,
    header: Header = None,
    sep: Sep = None,
    decimal: Decimal = None,
    thousands: Thousands = None,
    encoding: Encoding = None,
    sheet: Sheet = None,
    na: Na = None,
    layer: Layer = None,
    genes: Genes = False,
    batch: Batch = None,
    subset: Subset = False,
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

    The table may hold text, categories, dates and gaps: numbers are made
    of them, gaps are filled, and what columns were taken for is said.
    Identifiers and free text are not chosen among; they go to the output.

    For example:
      tamis select data.csv
      tamis select data.csv -k 50 -o selected.csv --labels species
      tamis select data.parquet -m udfs --param gamma=0.01 --ranking r.csv
      tamis select dataset:digits -k 20 --report report.html
      tamis select data.csv --keep price --drop 'id_*' --save cut.json
      tamis select cells.h5ad --layer counts --batch sample -o hvg.h5ad
      tamis select 'big/*.parquet' --memory 2GB -k 20
    """
    from tamis.grouped import GroupedSelector
    from tamis.inspection import read_decisions
    from tamis.registry import DEFAULT_METHOD, DEFAULT_METHOD_REASON

    wanted = read_number(number)
    if genes or batch is not None or subset:
        select_genes(
            file,
            number=wanted,
            method=method,
            layer=layer,
            batch=batch,
            clusters=clusters,
            subset=subset,
            output=output,
            seed=seed,
            top=top,
            as_json=as_json,
            others={
                "--param": param,
                "--scale": scale != "auto",
                "--output-format": output_format,
                "--ranking": ranking,
                "--report": report,
                "--save": save,
                "--prepared": prepared_output,
                "--keep": keep,
                "--drop": drop,
                "--key": key,
                "--max-rows": max_rows,
                "--memory": memory,
                "--scheduler": scheduler,
                "--labels": labels,
                "--id": ids,
            },
        )
        return
    blocks = comes_in_blocks(file, memory, scheduler)
    chosen = find_method(method or DEFAULT_METHOD)
    why = "as asked for" if method else DEFAULT_METHOD_REASON
    parameters = read_parameters(chosen, param or [], clusters)
    model = make_selector(
        chosen, parameters, seed=seed, jobs=jobs, verbose=sys.stderr.isatty() and not as_json
    )
    if scale != "auto" and scales_itself(chosen) and "scaling" not in parameters:
        model.set_params(scaling="none")  # it has been done
    if blocks:
        needs_all = {
            "--output": output,
            "--report": report,
            "--save": save,
            "--prepared": prepared_output,
            "--image-shape": shape,
            "--max-rows": max_rows,
            "--layer": layer,
            "--sheet": sheet,
        }
        refuse_options(needs_all)
        aside = [name for name in (labels, *(ids or ())) if name is not None]
        check_targets({"--ranking": ranking}, None, _check_formats(None, None, ranking))
        asked = InBlocks(
            memory=memory,
            scheduler=scheduler,
            checkpoint=checkpoint,
            drop=[*(drop or ()), *aside],
            keep=keep or (),
            numeric_only=numeric_only,
            scale=scale,
            format=format,
            key=key,
            ranking=ranking,
            top=top,
            as_json=as_json,
            why=why,
        )
        select_in_blocks(file, chosen, model, wanted, parameters, asked)
        return
    if checkpoint is not None:
        raise CommandError(
            "--checkpoint is for a table that is read in blocks; name it with --memory, or leave "
            "it out."
        )
    output_format = format_on_stdout(output, output_format, as_json)
    to_stdout = output == STANDARD_OUTPUT
    targets = {
        "--output": None if to_stdout else output,
        "--ranking": ranking,
        "--report": report,
        "--save": save,
    }
    folders = _check_formats(output, output_format, ranking)
    paths = check_targets(targets, None if file.startswith("dataset:") else Path(file), folders)
    check_report(report)
    if save is not None and save.suffix.lower() != ".json":
        raise CommandError(f"--save {save}: a selection is a JSON file; give it a name in .json.")
    if to_stdout:
        paths["--output"] = STANDARD_OUTPUT

    if prepared_output and output is None:
        raise CommandError("--prepared says how -o is written; name a file with -o.")
    key = layer_key(layer, key, file, format)
    reading = {
        "sep": sep,
        "decimal": decimal,
        "thousands": thousands,
        "encoding": encoding,
        "sheet": sheet,
        "na": na,
    }
    source = read_source(
        file,
        labels=labels,
        ids=ids,
        format=format,
        key=key,
        header=header,
        reading=reading,
        cut=Cut(missing, keep or (), drop or (), numeric_only),
    )
    n_left = _list_columns(model, source, keep or (), drop or ())
    finds_number = wanted is None and isinstance(model.n_features_to_select, str)
    why_so_many, n_wanted = "", None
    if not finds_number:
        n_wanted, why_so_many = number_to_keep(wanted, n_left, source.name)
        n_wanted = _at_least_the_kept(n_wanted, wanted, model, source)
        model.set_params(n_features_to_select=n_wanted)
    pixels = image_shape(shape, source)
    prepared = prepare(source, chosen, scale, max_rows, seed)
    _level_groups(prepared, source)
    prepared.words += fit_defaults_to(prepared.X.shape[0], model, chosen, parameters)
    said = source.describe()
    fitted = model if source.mixed is None else grouped(model, source.mixed, n_wanted)
    start = time.perf_counter()
    if model.get_params().get("verbose"):  # it shows its own progress
        fit(fitted, prepared.X, source.name)
    else:
        with working(f"ranking {prepared.X.shape[1]:,} columns by {chosen.name}"):
            fit(fitted, prepared.X, source.name)
    seconds = time.perf_counter() - start
    n_samples, n_columns = source.table.X.shape
    names = [str(name) for name in source.table.feature_names]
    n_rows = prepared.X.shape[0]
    ranked: Selector | SourceRanking = model
    if source.mixed is not None:
        assert isinstance(fitted, GroupedSelector)
        ranked = SourceRanking(fitted)
        model = fitted.selector_
        names = list(source.mixed.preparation.groups_)
        n_samples, n_columns = source.mixed.raw.n_rows, len(names)
    n_kept = int(ranked.get_support().sum())

    command = shlex.join(["tamis", *ctx.meta[ARGUMENTS]])
    ctx.with_resource(sent_to_stdout(paths))
    how = Output(output_format, prepared_output, pixels, command)
    write_outputs(paths, source, prepared, model, ranked, chosen.name, how)
    holds = what_it_holds(source, key, output, output_format, n_kept) if not source.mixed else []
    kept = best_first(ranked, n_kept)
    decisions = read_decisions(model, [str(name) for name in source.table.feature_names])
    made = source.mixed.notes if source.mixed is not None else ()
    if as_json:
        print_json(
            {
                "source": source.name,
                "n_samples": n_samples,
                "n_columns": n_columns,
                "n_rows_used": n_rows,
                "method": chosen.name,
                "why": why,
                "parameters": plain_parameters(model),
                "scaling": prepared.scaling,
                "notes": [*source.table.notes, *made, *prepared.words],
                "seconds": round(seconds, 3),
                "n_kept": n_kept,
                "kept": [
                    {
                        "rank": rank,
                        "column": int(column),
                        "name": str(names[column]),
                        "score": float(ranked.scores_[column]),
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
    for sentence in (*source.table.notes, *made, *prepared.words):
        print_text(sentence)
    print_text(f"Method: {chosen.name}, {why}.")
    sentences = decisions.sentences if decisions is not None else ()
    for sentence in sentences or (f"Keeps {n_kept:,} columns: {why_so_many}.",):
        print_text(sentence)
    if sentences and len(source.table.feature_names) > n_columns:
        print_text(
            f"Numbers made of one column are one decision: {n_kept:,} of {n_columns:,} columns of "
            "the table are kept."
        )
    print_text("")
    print_table(
        ("rank", "column", "name", "score"),
        [
            (str(rank), str(column), str(names[column]), f"{ranked.scores_[column]:.4g}")
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


def best_first(model: Selector | SourceRanking, number: int) -> np.ndarray:
    """The columns that are kept, the best first."""
    import numpy as np

    order: np.ndarray = np.argsort(model.ranking_)[:number]
    return order


def _list_columns(model: Selector, source: Source, keep: Sequence[str], drop: Sequence[str]) -> int:
    """Tell the selector what to keep and to drop; return how many columns are chosen among."""
    import numpy as np

    if source.mixed is not None:  # what to drop is not in the table
        groups = source.mixed.preparation.groups_
        outputs = [output for name in source.mixed.keep for output in groups[name]]
        places = {name: place for place, name in enumerate(source.table.feature_names)}
        if outputs:
            model.set_params(keep=[places[output] for output in outputs])
        return len(groups)
    names = [str(name) for name in source.table.feature_names]
    kept = listed(keep, "--keep", names, source.name)
    dropped = listed(drop, "--drop", names, source.name)
    refuse_both(kept, dropped, names)
    if kept.any():
        model.set_params(keep=np.flatnonzero(kept).tolist())
    if dropped.any():
        model.set_params(drop=np.flatnonzero(dropped).tolist())
    n_left = int(np.count_nonzero(~dropped))
    if n_left == 0:
        raise CommandError(f"{source.name}: nothing to select: --drop names all of its columns.")
    return n_left


def _at_least_the_kept(
    number: int, wanted: int | float | None, model: Selector, source: Source
) -> int:
    """The number of columns, which those to keep may raise where none was asked for."""
    n_kept = len(source.mixed.keep) if source.mixed is not None else len(model.keep or ())
    if n_kept > number and wanted is not None:
        raise CommandError(
            f"-k keeps {number} columns, but --keep names {n_kept}; ask for at least {n_kept}."
        )
    return max(n_kept, number)


def _level_groups(prepared: Prepared, source: Source) -> None:
    """Scale what was made of one column so that together it counts as one."""
    import numpy as np

    if source.mixed is None or prepared.scaling == "none":
        return
    sizes = np.array([len(made) for made in source.mixed.preparation.groups_.values()])
    if sizes.max() > 1:
        prepared.X = prepared.X / np.sqrt(np.repeat(sizes, sizes))


def _check_formats(
    output: Path | None, output_format: str | None, ranking: Path | None
) -> tuple[str, ...]:
    """Refuse names from which no format can be told; return the options that write a folder."""
    if ranking is not None and ranking.suffix.lower() not in RANKING_FORMATS:
        raise CommandError(f"--ranking {ranking} must end in {', '.join(RANKING_FORMATS)}.")
    return check_output(output, output_format)
