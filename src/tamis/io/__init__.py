r"""Read a table of any usual format; write the selection and the ranking.

>>> import tempfile
>>> from pathlib import Path
>>> from tamis import io
>>> folder = tempfile.TemporaryDirectory()
>>> path = Path(folder.name) / "flowers.csv"
>>> _ = path.write_text("name,length,width,kind\na,5.1,3.5,0\nb,4.9,3,1\n")
>>> table = io.read(path, labels="kind", ids="name")
>>> table.feature_names, table.labels
(array(['length', 'width'], dtype=object), array([0, 1]))
>>> folder.cleanup()
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tamis._array_files import ArrayFileError
from tamis.io._errors import TableError
from tamis.io._formats import check_content, columns_of_var, format_of, formats
from tamis.io._table import Table
from tamis.io._text import delimited_writer
from tamis.io._writing import refuse_input_as_output, replacing

__all__ = ["Table", "TableError", "formats", "read", "write_ranking", "write_table"]


def read(
    path: str | os.PathLike[str],
    *,
    labels: str | None = None,
    ids: str | None = None,
    format: str | None = None,
    key: str | None = None,
) -> Table:
    """Read a table.

    Parameters
    ----------
    path : path
        A file, or the folder of a Zarr store.
    labels, ids : str or None
        Name of the column (array, column of ``obs``) to set aside as labels or as row ids. NPZ,
        MATLAB, libsvm and ARFF files whose labels have a usual name need none.
    format : str or None
        A name of :func:`formats`; None goes by the extension.
    key : str or None
        Which array of an NPZ or MATLAB file, which sheet of a workbook, which matrix of an AnnData
        file (``"layers/counts"``); None takes the usual one.

    Returns
    -------
    Table

    Raises
    ------
    TableError
        One line: what is wrong, where, and what to do.
    """
    source = Path(path)
    chosen = format_of(source, format)
    try:
        check_content(source, chosen)
        return chosen.read(source, format=chosen.name, labels=labels, ids=ids, key=key)
    except TableError:
        raise
    except ArrayFileError as error:
        raise TableError(f"{source}: {error}.") from error
    except FileNotFoundError as error:
        raise TableError(f"{source}: there is no such file; check the name.") from error
    except PermissionError as error:
        raise TableError(f"{source}: reading is not permitted; change its rights.") from error
    except MemoryError as error:
        raise TableError(f"{source}: the table does not fit into memory; split it.") from error
    except Exception as error:  # parsers fail in many ways on damaged files; the cause is kept
        reason = str(error).strip() or type(error).__name__
        raise TableError(
            f"{source}: damaged, cut short, or not {chosen.title} ({reason[:200]}); check how it "
            "was made or copied."
        ) from error


def write_table(
    table: Table,
    columns: Sequence[int] | np.ndarray[Any, Any],
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    selector: Any = None,
) -> None:
    """Write the selected columns, with ids and labels beside them; whole or not at all.

    h5ad and Zarr get a full copy instead, with ``tamis_selected`` in ``.var`` and, given the
    fitted selector, ``tamis_score`` and ``tamis_rank``.

    Parameters
    ----------
    table : Table
    columns : sequence of int
        Indices of the columns to keep, in the order to write them.
    path : path
        Never that of the table itself.
    format : str or None
        A name of :func:`formats`; None goes by the extension.
    selector : fitted selector or None
        Used by h5ad and Zarr only.
    """
    target = Path(path)
    chosen = format_of(target, format)
    refuse_input_as_output(target, table.path)
    kept = np.asarray(columns, dtype=np.intp)
    n_features = table.X.shape[1]
    if kept.ndim != 1 or not len(kept) or kept.min() < 0 or kept.max() >= n_features:
        raise TableError(
            f"{target}: columns must be indices from 0 to {n_features - 1}, at least 1."
        )
    with replacing(target, folder=chosen.name == "zarr") as beside:
        if chosen.keeps_all_columns:
            mask = np.zeros(n_features, dtype=bool)
            mask[kept] = True
            chosen.write(table, beside, format=chosen.name, var=columns_of_var(selector, mask))
        else:
            chosen.write(table.take(kept), beside, format=chosen.name)


def write_ranking(
    selector: Any,
    feature_names: Sequence[str] | np.ndarray[Any, Any],
    path: str | os.PathLike[str],
    *,
    source: str | os.PathLike[str] | None = None,
) -> None:
    """Write feature, index, score, rank and selected of every column, best first.

    Parameters
    ----------
    selector : fitted selector
    feature_names : sequence of str
    path : path
        ``.csv``, ``.tsv`` or ``.json`` (a list of objects).
    source : path or None
        The input file, which is never written over.
    """
    target = Path(path)
    refuse_input_as_output(target, None if source is None else Path(source))
    kind = target.suffix.lower()
    if kind not in (".csv", ".tsv", ".json"):
        raise TableError(f"{target}: a ranking is written as .csv, .tsv or .json; rename it.")
    support = selector.get_support()
    if len(feature_names) != len(support):
        raise TableError(
            f"{target}: {len(feature_names)} names for {len(support)} features; pass one a feature."
        )
    records = [
        {
            "feature": str(feature_names[j]),
            "index": int(j),
            "score": float(selector.scores_[j]),
            "rank": int(selector.ranking_[j]),
            "selected": bool(support[j]),
        }
        for j in np.argsort(selector.ranking_, kind="stable")
    ]
    with replacing(target) as beside, open(beside, "w", encoding="utf-8", newline="") as file:
        if kind == ".json":
            json.dump(records, file, ensure_ascii=False, indent=1)
            file.write("\n")
        else:
            separator = "\t" if kind == ".tsv" else ","
            names = [str(record["feature"]) for record in records]
            writer = delimited_writer(file, separator, names)
            writer.writerow(records[0])
            writer.writerows(record.values() for record in records)
