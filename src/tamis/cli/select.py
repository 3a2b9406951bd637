"""``tamis select``: from a file to a selection."""

from __future__ import annotations

import shlex
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tamis.cli._blocks import (
    InBlocks,
    comes_in_blocks,
    refuse_options,
    refuse_reading_options,
    select_in_blocks,
)
from tamis.cli._cells import Batch, Genes, Subset, select_genes
from tamis.cli._completion import format_names, method_names, parameter_settings
from tamis.cli._failures import ARGUMENTS, CommandError
from tamis.cli._grouping import SourceRanking, grouped, level_groups
from tamis.cli._keep_drop import at_least_the_kept, list_columns
from tamis.cli._layers import layer_key, what_it_holds
from tamis.cli._mixed import Cut, Missing
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
    ReadingOptions,
    Scheduler,
    Seed,
    Sep,
    Sheet,
    Thousands,
    number_to_keep,
    read_number,
)
from tamis.cli._outputs import Output, files_to_write, write_outputs
from tamis.cli._preparation import Scale, image_shape, prepare, scales_itself
from tamis.cli._screen import print_json, working
from tamis.cli._selection_screen import Told, print_selection, selection_in_json
from tamis.cli._selectors import fit, fit_defaults_to, make_selector, read_parameters
from tamis.cli._source import read_source
from tamis.cli._standard_output import STANDARD_OUTPUT, format_on_stdout, sent_to_stdout
from tamis.cli.methods import find_method

if TYPE_CHECKING:
    from tamis.base import Selector

__all__ = ["select"]


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
            "--prepared": prepared_output,
            "--image-shape": shape,
            "--max-rows": max_rows,
            "--layer": layer,
            "--sheet": sheet,
        }
        refuse_options(needs_all, report)
        refuse_reading_options(
            header=header, sep=sep, decimal=decimal, thousands=thousands, encoding=encoding, na=na
        )
        output_format = format_on_stdout(output, output_format, as_json)
        written = {"output": output, "ranking": ranking, "report": None, "save": save}
        paths = files_to_write(None, output_format=output_format, **written)
        ctx.with_resource(sent_to_stdout(paths))
        asked = InBlocks(
            memory=memory,
            scheduler=scheduler,
            checkpoint=checkpoint,
            drop=drop or (),
            keep=keep or (),
            numeric_only=numeric_only,
            scale=scale,
            format=format,
            key=key,
            aside=[*(ids or ()), *([] if labels is None else [labels])],
            paths=paths,
            output_format=output_format,
            to_stdout=output == STANDARD_OUTPUT,
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
    paths = files_to_write(
        None if file.startswith("dataset:") else Path(file),
        output=output,
        output_format=output_format,
        ranking=ranking,
        report=report,
        save=save,
    )
    if prepared_output and output is None:
        raise CommandError("--prepared says how -o is written; name a file with -o.")
    key = layer_key(layer, key, file, format)
    options = ReadingOptions(
        labels=labels,
        ids=ids,
        format=format,
        key=key,
        header=header,
        sep=sep,
        decimal=decimal,
        thousands=thousands,
        encoding=encoding,
        sheet=sheet,
        na=na,
    )
    source = read_source(file, options, Cut(missing, keep or (), drop or (), numeric_only))
    n_left = list_columns(model, source, keep or (), drop or ())
    finds_number = wanted is None and isinstance(model.n_features_to_select, str)
    why_so_many, n_wanted = "", None
    if not finds_number:
        n_wanted, why_so_many = number_to_keep(wanted, n_left, source.name)
        n_wanted = at_least_the_kept(n_wanted, wanted, model, source)
        model.set_params(n_features_to_select=n_wanted)
    pixels = image_shape(shape, source)
    prepared = prepare(source, chosen, scale, max_rows, seed)
    if source.mixed is not None:
        level_groups(prepared, source.mixed)
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
    decisions = read_decisions(model, [str(name) for name in source.table.feature_names])
    made = source.mixed.notes if source.mixed is not None else ()
    told = Told(
        source=source.name,
        size=said,
        n_samples=n_samples,
        n_columns=n_columns,
        n_rows=n_rows,
        n_numbers=len(source.table.feature_names),
        names=names,
        method=chosen.name,
        why=why,
        why_so_many=why_so_many,
        model=model,
        ranked=ranked,
        decisions=decisions,
        scaling=prepared.scaling,
        scale_asked_for=scale != "auto",
        notes=[*source.table.notes, *made, *prepared.words],
        seconds=seconds,
        holds=holds,
    )
    if as_json:
        print_json(selection_in_json(told, paths))
    else:
        sent = "--output" if output == STANDARD_OUTPUT else None
        print_selection(told, top, [path for option, path in paths.items() if option != sent])
