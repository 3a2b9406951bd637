"""``tamis compare``: methods side by side."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tamis.cli._completion import method_list
from tamis.cli._failures import COMPUTATION, INTERRUPTED, CommandError, command_words, reason
from tamis.cli._layers import layer_key
from tamis.cli._options import (
    AsJson,
    File,
    Format,
    Header,
    Ids,
    Jobs,
    Key,
    Layer,
    MaxRows,
    Number,
    Seed,
    number_to_keep,
    read_number,
)
from tamis.cli._preparation import NEIGHBOR_ROWS, Scale, check_values, scaling_words
from tamis.cli._screen import print_aside, print_json, print_table, print_text, working
from tamis.cli._selectors import cluster_parameter
from tamis.cli._source import Source, read_source
from tamis.cli._targets import check_folder, write_all
from tamis.cli.methods import find_method

if TYPE_CHECKING:
    from tamis._typing import IntArray
    from tamis.evaluation import Record, Task
    from tamis.registry import Method

__all__ = ["compare"]

CLUSTERS_BY_DEFAULT = 5


def compare(
    file: File,
    methods: Annotated[
        str,
        typer.Option(
            "--methods",
            "-m",
            metavar="A,B",
            help="Names, or all.",
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
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Begin anew instead of going on where it stopped.")
    ] = False,
    max_rows: MaxRows = None,
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
    longer than the time limit is stopped, and its row says so.

    For example:
      tamis compare data.csv --methods mrsf,udfs,laplacian_score -k 20
      tamis compare data.csv --methods all --labels species --output run
      tamis compare dataset:digits -m mrsf,mcfs --json
      tamis compare large.parquet --time-limit 600 --jobs 4
    """
    wanted = read_number(number)
    chosen = _chosen(methods)
    if output is not None:
        if str(output) == "-":
            raise CommandError("--output - is no folder; --json prints the results.")
        check_folder(output.absolute().parent, "--output")
        if output.exists() and not output.is_dir():
            raise CommandError(f"--output {output} is a file, not a folder; name another.")
    key = layer_key(layer, key, file, format)
    source = read_source(file, labels=labels, ids=ids, format=format, key=key, header=named)
    check_values(source)
    n_kept, why_so_many = number_to_keep(wanted, source.table.X.shape[1], source.name)
    most = max_rows or NEIGHBOR_ROWS
    with working("preparing the table"):
        tasks, header, words = _tasks(source, chosen, n_kept, scale, clusters, repeats, most, seed)
    if not as_json:
        for sentence in (
            source.describe(),
            *source.table.notes,
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
        result = _result(source, records, header, complete, time_limit or None)
        if output is not None and complete:
            write_all({folder / "comparison.json": lambda path: _write_json(result, path)})
    if as_json:
        print_json(result)
    else:
        _print(result)
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


def _chosen(methods: str) -> list[Method]:
    """The methods that are named, without the random baseline, which is always there."""
    from tamis.evaluation.candidates import RANDOM
    from tamis.registry import METHODS

    if methods.strip().lower() == "all":
        names = list(METHODS)
    else:
        names = [find_method(name.strip()).name for name in methods.split(",") if name.strip()]
    if not names:
        raise CommandError("--methods names no method; `tamis methods` lists them.")
    return [METHODS[name] for name in dict.fromkeys(names) if name != RANDOM]


def _tasks(
    source: Source,
    methods: Sequence[Method],
    n_kept: int,
    scale: Scale,
    clusters: int | None,
    repeats: int,
    max_rows: int,
    seed: int,
) -> tuple[list[Task], dict[str, Any], list[str]]:
    """The runs, what they hang on, and what is done in words."""
    import scipy.sparse as sp

    import tamis
    from tamis.cli._comparison import Judge, judge_method
    from tamis.evaluation import OwnTable, Protocol, Task
    from tamis.evaluation.candidates import ALL_FEATURES, RANDOM
    from tamis.evaluation.preparation import contents_name, reference_clusters
    from tamis.preprocessing import drawn_samples, scaled
    from tamis.registry import METHODS

    rows = drawn_samples(source.table.X.shape[0], max_rows, seed)
    raw = source.table.X[rows]
    judged_scale = "standard" if scale == "auto" else scale
    columns = source.table.feature_names
    X = scaled(raw, judged_scale, columns)
    labels = _classes(source, rows)
    n_clusters = clusters or (
        int(labels.max()) + 1 if labels is not None else min(CLUSTERS_BY_DEFAULT, X.shape[0] - 1)
    )
    if n_clusters > X.shape[0]:
        raise CommandError(f"--clusters {n_clusters} is more than the {X.shape[0]} samples.")
    protocol = Protocol(
        scaling=judged_scale,
        n_features=(n_kept,),
        n_repeats=repeats,
        max_samples=max_rows,
        seed=seed,
    )
    reference = reference_clusters(X, n_clusters, seed)
    judge = Judge(X, labels, reference, n_clusters, n_kept, protocol)
    names = [ALL_FEATURES, RANDOM, *(method.name for method in methods)]
    scaling = {m.name: m.scaling if scale == "auto" else scale for m in methods}
    tasks = []
    for name in names:
        parameters = {}
        if clusters is not None and name in METHODS:
            known = cluster_parameter(METHODS[name])
            parameters = {known: clusters} if known else {}
        fitted = scaling.get(name, judged_scale)
        tasks.append(
            Task(
                key={
                    "set": source.name,
                    "label": name,
                    "method": name,
                    "parameters": parameters,
                    "scaling": fitted,
                },
                function=judge_method,
                arguments={
                    "judge": judge,
                    "X": X if fitted == judged_scale else scaled(raw, fitted, columns),
                    "method": name,
                    "parameters": parameters,
                },
            )
        )
    header = {
        "command": "compare",
        "version": tamis.__version__,
        "source": source.name,
        "contents": contents_name(OwnTable("", X, labels)),
        "n_clusters": n_clusters,
        "n_kept": n_kept,
        "protocol": protocol.as_dict(),
    }
    words = []
    if not isinstance(rows, slice):
        words.append(
            f"On {len(rows):,} of the {source.table.X.shape[0]:,} rows, drawn at random; "
            "--max-rows sets another number."
        )
    words.append(scaling_words(judged_scale, sp.issparse(X)))
    return tasks, header, words


def _classes(source: Source, rows: IntArray | slice) -> IntArray | None:
    """Codes of the classes, from 0."""
    import numpy as np

    if source.table.labels is None:
        return None
    labels = source.table.labels[rows]
    missing = sum(1 for label in labels if label is None or label != label or label == "")
    if missing:
        raise CommandError(
            f"{source.name}: {missing} of {len(labels)} labels are missing; fill them in, or leave "
            "out --labels."
        )
    found, codes = np.unique(labels.astype(str), return_inverse=True)
    if len(found) < 2 or len(found) > len(labels) / 2:
        raise CommandError(
            f"{source.name}: the labels have {len(found)} different values in {len(labels)} rows; "
            "name a column of classes with --labels, or none."
        )
    return codes


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


def _result(
    source: Source,
    records: Sequence[Record],
    header: dict[str, Any],
    complete: bool,
    time_limit: float | None,
) -> dict[str, Any]:
    from tamis.cli._comparison import overlap, summary

    lines = [summary(record) for record in records]
    names, shares = overlap(lines)
    return {
        "source": source.name,
        "n_samples": source.table.X.shape[0],
        "n_columns": source.table.X.shape[1],
        **{name: header[name] for name in ("n_kept", "n_clusters", "protocol")},
        "time_limit": time_limit,
        "complete": complete,
        "methods": lines,
        "overlap": {"methods": names, "jaccard": shares},
        "column_names": {
            str(column): str(source.table.feature_names[column])
            for column in sorted({c for line in lines for c in line["selected"] or ()})
        },
    }


def _write_json(result: dict[str, Any], path: Path) -> None:
    import json

    path.write_text(json.dumps(result, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def _print(result: dict[str, Any]) -> None:
    from tamis.cli._comparison import MEASURES

    lines = result["methods"]
    shown = [m for m in MEASURES if any(m in line["measures"] for line in lines)]
    print_text("")
    print_table(
        ("method", "columns", "seconds", *(MEASURES[measure] for measure in shown)),
        [
            (
                line["method"],
                str(line["n_columns"] or "–"),
                _seconds(line, result["time_limit"]),
                *(_figure(line["measures"].get(measure)) for measure in shown),
            )
            for line in lines
        ],
        right=("columns", "seconds", *MEASURES.values()),
    )
    print_text("Seconds: processor time of the fit. Neighbours are searched once and shared.")
    slow = [line["method"] for line in lines if line["over_time_limit"]]
    if slow:
        print_text(
            f"Stopped after {result['time_limit']:g} s: {', '.join(slow)}; --time-limit sets "
            "another number of seconds, 0 none."
        )
    overlap = result["overlap"]
    if len(overlap["methods"]) > 1:
        print_text("")
        print_text("Overlap of the selections (Jaccard index, %):")
        numbers = [str(number) for number in range(1, len(overlap["methods"]) + 1)]
        print_table(
            ("", "method", *numbers),
            [
                (number, name, *(f"{share:.0%}"[:-1] for share in shares))
                for number, name, shares in zip(
                    numbers, overlap["methods"], overlap["jaccard"], strict=True
                )
            ],
            right=("", *numbers),
        )
    for line in lines:
        for warning in line["warnings"]:
            print_aside(f"warning: {line['method']}: {warning}")
        if line["error"]:
            print_aside(f"warning: {line['method']} failed: {line['error']}")


def _seconds(line: dict[str, Any], time_limit: float) -> str:
    if line["over_time_limit"]:
        return f"over {time_limit:g} s"
    return "–" if line["fit_seconds"] is None else f"{line['fit_seconds']:.2f}"


def _figure(estimate: dict[str, Any] | None) -> str:
    if estimate is None:
        return "–"
    if estimate["n"] == 1:
        return f"{estimate['mean']:.3f}"
    return f"{estimate['mean']:.3f} ± {estimate['sd']:.3f}"
