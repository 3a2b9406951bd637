"""AnnData files on the command line: which of their matrices is ranked, and what is written."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tamis.cli._failures import CommandError

if TYPE_CHECKING:
    from tamis.cli._source import Source

__all__ = ["layer_key", "what_it_holds"]

_LAYERS = "layers/"


def layer_key(layer: str | None, key: str | None, file: str, format: str | None) -> str | None:
    """What --key would say for the layer."""
    if layer is None:
        return key
    if key is not None:
        raise CommandError("--layer and --key both name the matrix to take; leave one out.")
    from tamis import io

    try:
        name = io.format_of(Path(file), format).name
    except io.TableError:
        name = ""  # reading says what is wrong with it
    if file.startswith("dataset:") or name not in ("h5ad", "zarr", ""):
        raise CommandError(f"{file} has no layers, only h5ad and Zarr have; leave out --layer.")
    return _LAYERS + layer.removeprefix(_LAYERS)


def what_it_holds(
    source: Source, key: str | None, output: Path | None, format: str | None, n_kept: int
) -> list[str]:
    """What an h5ad or Zarr output holds, a sentence each: all columns, the kept ones marked."""
    if output is None:
        return []
    from tamis import io

    written = io.format_of(output, format)
    if not written.keeps_all_columns:
        return []
    n_columns = len(source.table.feature_names)
    matrix = key or "X"
    if source.table.format == written.name and source.table.path is not None:
        contents = (
            f"It is a copy of {source.name}: all {n_columns:,} columns, with X, obs, layers and "
            "everything else as they were."
        )
        ranked = f", ranked on {matrix},"
    else:
        where = f" of {matrix}" if key else ""
        contents = (
            f"It holds all {n_columns:,} columns{where}, unscaled, as X; obs has the ids and "
            "labels, and nothing else of the input is in it."
        )
        ranked = ""
    return [
        contents,
        f"The {n_kept:,} kept columns{ranked} are marked in var, as tamis_selected, beside "
        "tamis_score and tamis_rank.",
    ]
