"""``tamis apply``: the columns of a saved selection, cut from a new table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tamis.cli._blocks import comes_in_blocks, refuse_options, refuse_reading_options
from tamis.cli._blocks_writing import cut_in_blocks, opened_for_apply
from tamis.cli._completion import format_names
from tamis.cli._failures import CommandError, reason
from tamis.cli._mixed import prepared_columns
from tamis.cli._options import (
    AsJson,
    Decimal,
    Encoding,
    File,
    Format,
    Header,
    Ids,
    Key,
    Labels,
    Memory,
    Na,
    ReadingOptions,
    Sep,
    Sheet,
    Thousands,
)
from tamis.cli._screen import print_json, print_text, working
from tamis.cli._source import read_as_it_comes
from tamis.cli._standard_output import STANDARD_OUTPUT, format_on_stdout, sent_to_stdout
from tamis.cli._targets import check_output, check_targets, write_all
from tamis.utils.messages import describe_columns

if TYPE_CHECKING:
    from tamis.io import RawTable
    from tamis.preprocessing import Selection

__all__ = ["apply"]


def apply(
    ctx: typer.Context,
    selection: Annotated[
        Path,
        typer.Argument(
            metavar="SELECTION",
            help="What tamis select --save has written.",
            show_default=False,
        ),
    ],
    file: File,
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Where the columns go; the name tells the format. - is standard output, as CSV.",
            show_default=False,
        ),
    ],
    output_format: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="The format of the output, where its name does not tell.",
            autocompletion=format_names,
        ),
    ] = None,
    raw: Annotated[
        bool,
        typer.Option("--raw", help="Write the columns as they are in FILE, not prepared."),
    ] = False,
    memory: Memory = None,
    labels: Labels = None,
    ids: Ids = None,
    format: Format = None,
    key: Key = None,
    header: Header = None,
    sep: Sep = None,
    decimal: Decimal = None,
    thousands: Thousands = None,
    encoding: Encoding = None,
    sheet: Sheet = None,
    na: Na = None,
    as_json: AsJson = False,
) -> None:
    """Cut the columns of a saved selection from a new table.

    The new table may have its columns in another order, and others
    beside them. What it lacks, or holds as another type, is named. Gaps
    are filled and categories encoded as in the table that the selection
    was made on. Ids, labels, dates and text go along, if they are there.

    For example:
      tamis select data.csv --save selection.json
      tamis apply selection.json new.csv -o small.csv
      tamis apply selection.json new.csv -o small.csv --raw
      tamis apply selection.json 'big/*.parquet' -o small.parquet
    """
    output_format = format_on_stdout(output, output_format, as_json)
    to_stdout = output == STANDARD_OUTPUT
    folders = check_output(output, output_format)
    targets = {"--output": None if to_stdout else output}
    inputs = [selection, *([] if file.startswith("dataset:") else [Path(file)])]
    paths: dict[str, Path] = {}
    for source_path in inputs:
        paths = check_targets(targets, source_path, folders)
    if to_stdout:
        paths["--output"] = STANDARD_OUTPUT
    chosen = read_selection(selection)
    if comes_in_blocks(file, memory, None):
        refuse_reading_options(
            header=header, sep=sep, decimal=decimal, thousands=thousands, encoding=encoding, na=na
        )
        refuse_options({"--sheet": sheet})
        table = opened_for_apply(file, chosen, paths, output_format, memory, format, key, raw=raw)
        ctx.with_resource(sent_to_stdout(paths))
        aside = [*(ids or ()), *([] if labels is None else [labels])]
        along = cut_in_blocks(table, chosen, paths["--output"], aside, output_format)
        (n_rows, _), n_columns, notes = table.shape, len(table.all_names), []
        kept = list(chosen.kept)
    else:
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
        raw_table = read_as_it_comes(file, options)
        ctx.with_resource(sent_to_stdout(paths))
        n_rows, n_columns = raw_table.n_rows, len(raw_table.names)
        notes = list(raw_table.notes)
        along = _write(paths["--output"], file, raw_table, chosen, raw, output_format)
        kept = list(chosen.kept) if raw else chosen.get_feature_names_out().tolist()
    if as_json:
        print_json(
            {
                "source": file,
                "selection": str(selection),
                "n_samples": n_rows,
                "columns": kept,
                "passthrough": along,
                "raw": raw,
                "notes": notes,
                "files": {"output": str(paths["--output"])},
            }
        )
        return
    print_text(f"{file}: {n_rows:,} samples × {n_columns:,} columns.")
    for note in notes:
        print_text(note)
    how = "as they are in the file" if raw else "as prepared numbers"
    print_text(f"Cut {len(kept):,} columns of {selection}, {how}.")
    if along:
        print_text(f"Along with them: {describe_columns(range(len(along)), along)}.")
    if not to_stdout:
        print_text(f"Wrote {paths['--output']}")


def read_selection(path: Path) -> Selection:
    """A saved selection; a failure says in one line why it cannot be used."""
    from tamis.preprocessing import Selection

    try:
        return Selection.from_json(path)
    except FileNotFoundError:
        raise CommandError(f"{path}: there is no such file; check the name.") from None
    except OSError as error:
        raise CommandError(f"cannot read {path}: {reason(error)}.") from None
    except ValueError as error:
        raise CommandError(str(error)) from None


def _write(
    path: Path, file: str, table: RawTable, selection: Selection, raw: bool, format: str | None
) -> list[str]:
    """Write the columns, all or nothing; return those that go along with the kept ones."""
    import scipy.sparse as sp

    from tamis import io

    there = set(table.names)
    beside = [name for name in (*table.aside, *selection.passthrough) if name in there]
    along = [name for name in dict.fromkeys(beside) if name not in set(selection.kept)]
    try:
        with working("writing"):
            if selection.preparation is None or raw:
                selection.cut(dict.fromkeys(table.names))  # refuses what is not there
            whole = table.table
            if selection.preparation is None and whole is not None and sp.issparse(whole.X):
                names = whole.feature_names.tolist()
                places = [names.index(name) for name in selection.kept]
                write_all({path: lambda p: io.write_table(whole, places, p, format=format)})
            elif raw:
                names = [*along, *selection.kept]
                write_all({path: lambda p: io.write_columns(table, names, p, format=format)})
            else:
                _refuse_without(selection, table)
                cut = prepared_columns(table, selection, along)
                write_all({path: lambda p: io.write_columns(cut, cut.names, p, format=format)})
    except ValueError as error:
        raise CommandError(f"{file}: {reason(error).removeprefix('X ')}.") from None
    return along


def _refuse_without(selection: Selection, table: RawTable) -> None:
    """Name the columns that preparing takes, though they are not kept, and that are not there."""
    lacking = [name for name in selection.columns if name not in set(table.names)]
    if lacking and set(selection.kept) <= set(table.names):
        which, those = ("is", "it") if len(lacking) == 1 else ("are", "them")
        raise ValueError(
            f"lacks {describe_columns(range(len(lacking)), lacking)}, which {which} not kept, but "
            f"preparing the others takes {those}; add {those}, or cut the cells as they are with "
            "--raw"
        )
