"""``tamis select`` on a table that is read in blocks: larger than memory, or on a cluster."""

from __future__ import annotations

import glob
import hashlib
import json
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tamis.cli._blocks_writing import check_output_in_blocks, opened, write_in_blocks
from tamis.cli._decisions import found_in_json, print_reasons
from tamis.cli._failures import INTERRUPTED, CommandError, command_words
from tamis.cli._options import number_to_keep
from tamis.cli._preparation import Scale, scales_itself, scaling_words
from tamis.cli._screen import print_aside, print_json, print_text
from tamis.cli._selection_screen import print_kept
from tamis.cli._selectors import fit, fit_defaults_to

if TYPE_CHECKING:
    from tamis.base import Selector
    from tamis.io import LazyTable
    from tamis.registry import Method

__all__ = ["InBlocks", "comes_in_blocks", "refuse_options", "select_in_blocks"]


@dataclass(frozen=True)
class InBlocks:
    """What is asked of a selection in blocks.

    Attributes
    ----------
    memory : str or None
        What the fit may take; None is the default.
    scheduler : str or None
        The address of a Dask cluster.
    checkpoint : Path or None
        Where to keep what is done; None chooses a name.
    drop : sequence of str
        Columns that are not chosen among, beside those aside.
    keep : sequence of str
    numeric_only : bool
    scale : str
    format, key : str or None
    aside : sequence of str
        Columns that belong to the rows, ids and labels: they go along with the selected ones.
    paths : dict of option to path
        What to write.
    output_format : str or None
    to_stdout : bool
        Whether what is at "--output" goes to standard output in the end.
    top : int
    as_json : bool
    why : str
        Why this method.
    """

    memory: str | None
    scheduler: str | None
    checkpoint: Path | None
    drop: Sequence[str]
    keep: Sequence[str]
    numeric_only: bool
    scale: Scale
    format: str | None
    key: str | None
    aside: Sequence[str]
    paths: Mapping[str, Path]
    output_format: str | None
    to_stdout: bool
    top: int
    as_json: bool
    why: str


def comes_in_blocks(file: str, memory: str | None, scheduler: str | None) -> bool:
    """Whether a table is to be read in blocks: it is said, or there are several files."""
    if memory is not None or scheduler is not None:
        return True
    path = Path(file)
    if path.is_dir():
        return not any((path / name).exists() for name in (".zarray", ".zgroup", "zarr.json"))
    return not path.exists() and not file.startswith("dataset:") and glob.has_magic(file)


def refuse_options(options: Mapping[str, Any], report: Path | None = None) -> None:
    """Refuse options that need the whole table."""
    if report is not None:
        raise CommandError(
            "--report shows rows, and this table is read in blocks; leave it out here, and report "
            "on one of the files, with --max-rows if it is large and without --memory."
        )
    given = [name for name, value in options.items() if value]
    if given:
        raise CommandError(
            f"{given[0]} needs the whole table in memory, and this one is read in blocks; leave it "
            "out, or name one file and leave out --memory and --scheduler."
        )


def refuse_reading_options(**options: Any) -> None:
    """Refuse options that say how to read a file of text: one read in blocks is plain."""
    refuse_options({f"--{name}": value is not None for name, value in options.items()})


def select_in_blocks(
    file: str,
    chosen: Method,
    model: Selector,
    wanted: int | float | None,
    parameters: dict[str, Any],
    asked: InBlocks,
) -> None:
    """Read the table in blocks, rank its columns, and print what is kept."""
    import numpy as np

    from tamis.inspection import read_decisions

    _refuse_method(chosen)
    finds_scale = asked.scale == "auto" and scales_itself(chosen)
    scaling = chosen.scaling if asked.scale == "auto" else asked.scale
    scaling = "none" if finds_scale else scaling
    table = opened(
        file,
        memory=asked.memory,
        drop=[*asked.drop, *asked.aside],
        numeric_only=asked.numeric_only,
        scaling=scaling,
        verbose=sys.stderr.isatty() and not asked.as_json,
        format=asked.format,
        key=asked.key,
    )
    n_rows, n_columns = table.shape
    names = table.column_names
    check_output_in_blocks(file, table, asked.paths, asked.output_format)
    why_so_many = ""
    if wanted is not None or not isinstance(model.n_features_to_select, str):
        number, why_so_many = number_to_keep(wanted, n_columns, table.name)
        model.set_params(n_features_to_select=max(number, len(asked.keep)))
    if asked.keep:
        model.set_params(keep=list(asked.keep))
    words = [] if finds_scale else [scaling_words(scaling, sparse=False)]
    words += fit_defaults_to(n_rows, model, chosen, parameters)
    if table.left_out:
        words.append(f"Left out, since not of numbers: {', '.join(table.left_out)}.")
    source: Any = table
    if asked.scheduler is None:
        table.checkpoint = asked.checkpoint or _own_checkpoint(table, model)
        goes_on = table.checkpoint.exists()
        if n_rows >= n_columns:  # a wide table is read whole, and soon
            words_of_it = "Goes on from" if goes_on else "Keeps what is done in"
            print_aside(
                f"{words_of_it} {table.checkpoint}; after an interruption the same command goes on "
                "from it."
            )
    else:
        source = _on_cluster(table, asked.scheduler)
    start = time.perf_counter()
    _fit(model, source, table)
    seconds = time.perf_counter() - start
    kept = np.argsort(model.ranking_)[: int(model.get_support().sum())]
    write_in_blocks(
        table, model, chosen.name, asked.paths, aside=asked.aside, format=asked.output_format
    )
    decisions = read_decisions(model, names)
    rows = [
        {
            "rank": rank,
            "column": int(column),
            "name": str(names[column]),
            "score": float(model.scores_[column]),
        }
        for rank, column in enumerate(kept, start=1)
    ]
    if asked.as_json:
        print_json(
            {
                "source": table.name,
                "n_samples": n_rows,
                "n_columns": n_columns,
                "n_blocks": len(table.blocks),
                "method": chosen.name,
                "why": asked.why,
                "scaling": scaling,
                "notes": words,
                "seconds": round(seconds, 3),
                "n_kept": len(rows),
                "kept": rows,
                "files": {
                    option.removeprefix("--"): str(path) for option, path in asked.paths.items()
                },
                **found_in_json(model, decisions, scale_asked_for=not finds_scale),
            }
        )
        return
    print_text(
        f"{table.name}: {n_rows:,} rows × {n_columns:,} columns, read in {len(table.blocks):,} "
        f"blocks of at most {table.most_rows:,} rows."
    )
    for sentence in words:
        print_text(sentence)
    print_text(f"Method: {chosen.name}, {asked.why}.")
    sentences = decisions.sentences if decisions is not None else ()
    for sentence in sentences or (f"Keeps {len(rows):,} columns: {why_so_many}.",):
        print_text(sentence)
    print_text("")
    print_kept(rows, asked.top)
    if decisions is not None:
        print_reasons(decisions)
    for option, path in asked.paths.items():
        if option != "--output" or not asked.to_stdout:
            print_text(f"Wrote {path}")


def _refuse_method(chosen: Method) -> None:
    from tamis.base import IN_BLOCKS
    from tamis.registry import METHODS

    if chosen.selector.__name__ not in IN_BLOCKS:
        able = [name for name, one in METHODS.items() if one.selector.__name__ in IN_BLOCKS]
        raise CommandError(
            f"{chosen.name} needs all rows of the table at once, and this one is read in blocks; "
            f"name one of {', '.join(able)} with --method, or one file without --memory."
        )


def _own_checkpoint(table: LazyTable, model: Selector) -> Path:
    """A file in the current folder that belongs to this table and this task."""
    parameters = {name: repr(value) for name, value in model.get_params().items()}
    paths = [[part[0], part[3]] for part in table.layout()]
    task = [paths, table.names, table.scaling, type(model).__name__, parameters]
    digest = hashlib.blake2b(json.dumps(task, sort_keys=True).encode(), digest_size=6)
    return Path(f"tamis-{digest.hexdigest()}.checkpoint")


def _on_cluster(table: LazyTable, address: str) -> Any:
    from tamis.distributed import on_cluster

    try:
        return on_cluster(table, address)
    except (OSError, ValueError, ImportError) as error:
        raise CommandError(f"--scheduler {address}: {error}") from error


def _fit(model: Selector, source: Any, table: LazyTable) -> None:
    from tamis import io
    from tamis.distributed import ClusterError

    try:
        fit(model, source, table.name)
    except CommandError as error:
        if isinstance(error.__cause__, io.TableError):  # it names the file itself
            raise CommandError(command_words(error.__cause__)) from error
        if isinstance(error.__cause__, ClusterError):  # no parameter would help
            raise CommandError(str(error.__cause__), error.code) from error
        raise
    except KeyboardInterrupt:
        if table.checkpoint is None or not table.checkpoint.exists():
            raise
        raise CommandError(
            f"stopped; what is done is kept in {table.checkpoint}, and the same command goes on "
            "from it.",
            INTERRUPTED,
        ) from None
