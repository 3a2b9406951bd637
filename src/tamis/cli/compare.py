"""``tamis compare``: methods side by side."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tamis.cli._comparison_screen import Layout, print_comparison, print_for_paper
from tamis.cli._completion import method_list
from tamis.cli._failures import COMPUTATION, INTERRUPTED, CommandError, command_words, reason
from tamis.cli._layers import layer_key
from tamis.cli._mixed import Cut, Missing
from tamis.cli._options import (
    AsJson,
    Decimal,
    Encoding,
    File,
    Format,
    Header,
    Ids,
    Jobs,
    Key,
    Layer,
    MaxRows,
    Na,
    Number,
    ReadingOptions,
    Seed,
    Sep,
    Sheet,
    Thousands,
    number_to_keep,
    read_number,
)
from tamis.cli._preparation import Scale, check_values
from tamis.cli._screen import print_json, print_text, working
from tamis.cli._source import read_source
from tamis.cli._targets import check_folder, write_all
from tamis.cli.methods import find_method, third_party_selectors
from tamis.utils.counts import NEIGHBOR_ROWS

if TYPE_CHECKING:
    from tamis.evaluation import Record, Task
    from tamis.registry import Method

__all__ = ["compare"]


def compare(
    file: File,
    methods: Annotated[
        str,
        typer.Option(
            "--methods",
            "-m",
            metavar="A,B",
            help="Names, or all; MODULE:NAME is a selector of another package, or a function.",
            autocompletion=method_list,
        ),
    ] = "all",
    number: Number = None,
    labels: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN", help="A column of classes: judges the selections, makes none."
        ),
    ] = None,
    ids: Ids = None,
    scale: Annotated[
        Scale,
        typer.Option(
            metavar="NAME",
            help="What is done to the columns first: auto, standard, columns, unit or none; auto "
            "is what suits each method.",
        ),
    ] = "auto",
    clusters: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=2,
            help="Clusters, for methods and judging.",
            show_default="the methods' own; 5, or the number of classes, for judging",
        ),
    ] = None,
    repeats: Annotated[
        int, typer.Option(metavar="N", min=1, help="K-means clusterings that judge a selection.")
    ] = 20,
    time_limit: Annotated[
        float,
        typer.Option(
            metavar="SECONDS",
            min=0,
            help="Processor time that the fit of a method may take; 0 is no limit.",
        ),
    ] = 60.0,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FOLDER",
            help="Where results are kept as they come; a second call goes on from there.",
        ),
    ] = None,
    table: Annotated[
        Layout | None,
        typer.Option(
            metavar="FORM",
            help="Print the table alone, for a page or a paper: markdown or latex.",
            show_default=False,
        ),
    ] = None,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Begin anew instead of going on where it stopped.")
    ] = False,
    missing: Annotated[
        Missing,
        typer.Option(
            metavar="HOW",
            help="What is done about missing values: impute, drop-rows, drop-columns or refuse.",
        ),
    ] = "impute",
    max_rows: MaxRows = None,
    sep: Sep = None,
    decimal: Decimal = None,
    thousands: Thousands = None,
    encoding: Encoding = None,
    sheet: Sheet = None,
    na: Na = None,
    format: Format = None,
    key: Key = None,
    named: Header = None,
    layer: Layer = None,
    seed: Seed = 0,
    jobs: Jobs = 1,
    as_json: AsJson = False,
) -> None:
    """Set methods side by side: what each keeps, loses and costs.

    All columns and random subsets are always in the table. Labels judge
    only; no method sees them. Agreement is that of K-means on the kept
    columns with a normalised cut of all of them. A method whose fit takes
    longer than the time limit is stopped, and its row says so. Text,
    dates and gaps are prepared inside each run; of a category every
    level is a column.

    For example:
      tamis compare data.csv --methods mrsf,udfs,laplacian_score -k 20
      tamis compare data.csv --methods all --labels species --output run
      tamis compare dataset:digits -m mrsf,mcfs --json
      tamis compare large.parquet --time-limit 600 --jobs 4
      tamis compare data.csv -m mrsf,mymodule:MySelector --table latex
    """
    from tamis.cli._comparison import comparison, mixed_data, plan

    if table is not None and as_json:
        raise CommandError("--table and --json are two forms of one output; leave one out.")
    wanted = read_number(number)
    chosen, third_party = _chosen(methods)
    if output is not None:
        if str(output) == "-":
            raise CommandError("--output - is no folder; --json prints the results.")
        check_folder(output.absolute().parent, "--output")
        if output.exists() and not output.is_dir():
            raise CommandError(f"--output {output} is a file, not a folder; name another.")
    options = ReadingOptions(
        labels=labels,
        ids=ids,
        format=format,
        key=layer_key(layer, key, file, format),
        header=named,
        sep=sep,
        decimal=decimal,
        thousands=thousands,
        encoding=encoding,
        sheet=sheet,
        na=na,
    )
    source = read_source(file, options, Cut(missing))
    most = max_rows or NEIGHBOR_ROWS
    data = mixed_data(source, missing, most, seed)
    check_values(source)
    n_kept, why_so_many = number_to_keep(wanted, source.table.X.shape[1], source.name)
    with working("preparing the table"):
        tasks, header, words = plan(
            source,
            data,
            chosen,
            third_party,
            n_kept,
            scale=scale,
            clusters=clusters,
            repeats=repeats,
            max_rows=most,
            seed=seed,
        )
    if not as_json and table is None:
        for sentence in (
            source.describe(),
            *source.table.notes,
            *(source.mixed.notes if source.mixed else ()),
            *words,
            f"Keeps {n_kept:,} columns: {why_so_many}.",
        ):
            print_text(sentence)

    with ExitStack() as stack:
        if output is None:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="tamis-")))
        else:
            folder = output
        records, complete = _run(tasks, folder, header, fresh, jobs, time_limit or None)
        result = comparison(source, records, header, complete, time_limit or None)
        if output is not None and complete:
            write_all({folder / "comparison.json": lambda path: _write_json(result, path)})
    if as_json:
        print_json(result)
    elif table is not None:
        print_for_paper(result, table)
    else:
        print_comparison(result)
        if output is not None and complete:
            print_text(f"Kept in {output}: comparison.json, results.jsonl")
    if not complete:
        goes_on = (
            f"they are kept in {output}, and the same command goes on from there"
            if output is not None
            else "with --output FOLDER the same command would go on from there"
        )
        raise CommandError(
            f"stopped after {len(records)} of {len(tasks)} methods; {goes_on}.", INTERRUPTED
        )
    failed = [record.key["label"] for record in records if record.error and not record.too_long]
    if failed:
        raise CommandError(f"{', '.join(failed)} failed; see above why.", COMPUTATION)


def _chosen(methods: str) -> tuple[list[Method], dict[str, Any]]:
    """The methods that are named, without the random baseline, which is always there.

    Beside them the selectors of other packages, by the names that they were called by.
    """
    from tamis.registry import METHODS, RANDOM_BASELINE

    named = [name.strip() for name in methods.split(",") if name.strip()]
    third_party = third_party_selectors(name for name in named if ":" in name)
    own = [name for name in named if ":" not in name]
    names = [
        one
        for name in own
        for one in (METHODS if name.lower() == "all" else [find_method(name).name])
    ]
    if not named:
        raise CommandError("--methods names no method; `tamis methods` lists them.")
    return [METHODS[one] for one in dict.fromkeys(names) if one != RANDOM_BASELINE], third_party


def _run(
    tasks: Sequence[Task],
    folder: Path,
    header: dict[str, Any],
    fresh: bool,
    jobs: int,
    time_limit: float | None,
) -> tuple[list[Record], bool]:
    """The finished runs, and whether they are all."""
    from tamis.evaluation import Results, SweepError, sweep

    path = folder / "results.jsonl"
    try:
        folder.mkdir(exist_ok=True)
        results = sweep(
            tasks,
            path,
            header=header,
            n_jobs=jobs,
            progress=sys.stderr.isatty(),
            time_limit=time_limit,
            limited_part="fit",  # what a method loses by judging is no fault of its own
            fresh=fresh,
        )
        return list(results.records), True
    except KeyboardInterrupt:
        if not path.exists():
            return [], False
        wanted = [dict(task.key) for task in tasks]
        return [r for r in Results.load(path).records if r.key in wanted], False
    except SweepError as error:
        raise CommandError(command_words(error)) from None
    except OSError as error:
        raise CommandError(
            f"cannot write to {folder}: {reason(error)}; make room, or name another folder."
        ) from None


def _write_json(result: dict[str, Any], path: Path) -> None:
    import json

    path.write_text(json.dumps(result, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
