"""``tamis apply``: the columns of a saved selection, cut from a new table."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tamis.cli._completion import format_names
from tamis.cli._failures import CommandError, reason
from tamis.cli._options import AsJson, File, Format, Header, Key, Labels
from tamis.cli._screen import print_json, print_text, working
from tamis.cli._source import Source, read_source
from tamis.cli._standard_output import STANDARD_OUTPUT, format_on_stdout, sent_to_stdout
from tamis.cli._targets import check_output, check_targets, write_all

if TYPE_CHECKING:
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
    labels: Labels = None,
    ids: Annotated[
        str | None,
        typer.Option(
            "--id",
            metavar="COLUMN",
            help="A column that names the samples: it goes along to the output.",
        ),
    ] = None,
    format: Format = None,
    key: Key = None,
    header: Header = None,
    as_json: AsJson = False,
) -> None:
    """Cut the columns of a saved selection from a new table.

    The new table may have its columns in another order, and others
    beside them. What it lacks, or holds as another type, is named.

    For example:
      tamis select data.csv --save selection.json
      tamis apply selection.json new.csv -o small.csv
      tamis apply selection.json new.csv -o small.csv --raw
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
    source = read_source(file, labels=labels, ids=ids, format=format, key=key, header=header)
    notes = list(source.table.notes)
    ctx.with_resource(sent_to_stdout(paths))
    _write(paths["--output"], source, chosen, raw, output_format)
    kept = chosen.kept if raw else chosen.get_feature_names_out().tolist()
    if as_json:
        print_json(
            {
                "source": source.name,
                "selection": str(selection),
                "n_samples": source.table.X.shape[0],
                "columns": list(kept),
                "raw": raw,
                "notes": notes,
                "files": {"output": str(paths["--output"])},
            }
        )
        return
    print_text(source.describe())
    for note in notes:
        print_text(note)
    how = "as they are in the file" if raw else "as prepared numbers"
    print_text(f"Cut {len(kept):,} columns of {selection}, {how}.")
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


def _write(path: Path, source: Source, selection: Selection, raw: bool, format: str | None) -> None:
    """Write the columns, all or nothing."""
    import numpy as np

    from tamis import io

    table = source.table
    names = [str(name) for name in table.feature_names]
    places = {name: place for place, name in enumerate(names)}
    try:
        if raw:
            selection.cut(dict.fromkeys(names))  # refuses what is not there
            columns = [places[name] for name in selection.kept]
        else:
            X = selection.transform(_columns(source))
            columns = list(range(X.shape[1]))
            made = np.array(selection.get_feature_names_out(), dtype=object)
            table = replace(table, X=X, feature_names=made, origin=None, stored_dtype=None)
    except ValueError as error:
        raise CommandError(f"{source.name}: {reason(error)}.") from None
    with working("writing"):
        write_all({path: lambda beside: io.write_table(table, columns, beside, format=format)})


def _columns(source: Source) -> object:
    """The table as columns by name; a sparse one as it is."""
    import scipy.sparse as sp

    X, names = source.table.X, source.table.feature_names
    if sp.issparse(X):
        return X
    return {str(name): X[:, place] for place, name in enumerate(names)}
