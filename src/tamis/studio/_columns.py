"""What the page shows of each column, as compact arrays that are sent once."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from tamis._typing import FloatArray, IntArray, Matrix
from tamis.preprocessing import drawn_samples
from tamis.studio._choice import Chosen

N_BINS = 16
# Characters of a cell that are shown.
LONGEST_CELL = 60
# Rows that histograms and correlations are made on, fewer of wide tables.
MOST_ROWS, FEWEST_ROWS = 1000, 200
MOST_CELLS = 2e7
# Numbers of columns up to which the page knows, without asking, which column stands for which.
MOST_RANKED = 300
# Products with so many kept columns are held at once.
BLOCK = 32
# Numbers in a dense block.
BLOCK_SIZE = 1 << 22


def packed(arrays: Mapping[str, Any], **rest: Any) -> bytes:
    """Arrays one after the other, each at a multiple of eight, behind a header in JSON."""
    fields, parts, offset = [], [], 0
    for name, values in arrays.items():
        data = np.ascontiguousarray(values)
        raw = data.astype(data.dtype.newbyteorder("<"), copy=False).tobytes()
        fields.append({"name": name, "type": data.dtype.name, "at": offset, "length": data.size})
        padding = -len(raw) % 8
        parts += [raw, b"\0" * padding]
        offset += len(raw) + padding
    header = json.dumps({"fields": fields, **rest}, ensure_ascii=False, allow_nan=False).encode()
    header += b" " * (-(len(header) + 8) % 8)
    return b"".join([len(header).to_bytes(8, "little"), header, *parts])


def histograms(columns: Sequence[Any]) -> Any:
    """How the values of each column are spread: the heights of 16 bars from 0 to 255.

    Columns of text have none, columns of few levels have as many bars as levels.
    """
    heights = np.zeros((len(columns), N_BINS), dtype=np.uint8)
    for place, values in enumerate(columns):
        counts = _counts(np.asarray(values))
        if counts is not None and counts.max() > 0:
            heights[place, : len(counts)] = np.ceil(255 * counts / counts.max())
    return heights


def _counts(values: Any) -> FloatArray | None:
    """How many values fall into each bin, or have each of the commonest levels."""
    if values.dtype.kind == "M":
        values = np.where(np.isnat(values), np.nan, values.astype("datetime64[s]").astype(float))
    if values.dtype.kind == "b":
        return np.array([np.count_nonzero(~values), np.count_nonzero(values)], dtype=float)
    if values.dtype.kind in "iuf":
        known = values[np.isfinite(values)].astype(np.float64)
        if not len(known):
            return None
        low, high = known.min(), known.max()
        width = high - low
        if not (width > 0 and np.isfinite(width)):
            return np.array([float(len(known))])
        places = np.minimum(((known - low) / width * N_BINS).astype(np.intp), N_BINS - 1)
        return np.bincount(places, minlength=N_BINS).astype(float)
    text = [str(value) for value in values if value is not None and value == value]
    levels, counts = np.unique(np.array(text, dtype=object), return_counts=True)
    if not len(levels) or len(levels) > max(N_BINS, len(text) // 2):
        return None
    return np.sort(counts)[::-1][:N_BINS].astype(float)


def matrix_histograms(X: Matrix) -> Any:
    """The same for the columns of a matrix of numbers, block by block."""
    heights = np.zeros((X.shape[1], N_BINS), dtype=np.uint8)
    for columns, block in _blocks(X):
        low, high = block.min(axis=0), block.max(axis=0)
        width = np.where(high > low, high - low, 1.0)
        places = np.minimum(((block - low) / width * N_BINS).astype(np.intp), N_BINS - 1)
        places += N_BINS * np.arange(block.shape[1])
        counts = np.bincount(places.ravel(), minlength=N_BINS * block.shape[1])
        counts = counts.reshape(-1, N_BINS).astype(float)
        heights[columns] = np.ceil(255 * counts / counts.max(axis=1, keepdims=True))
    return heights


def some_rows(X: Matrix) -> Matrix:
    """At most a thousand rows, of wide tables fewer, drawn."""
    most = int(max(FEWEST_ROWS, min(MOST_ROWS, MOST_CELLS / X.shape[1])))
    return X[drawn_samples(X.shape[0], most, 0)]


def _blocks(X: Matrix) -> Iterator[tuple[slice, FloatArray]]:
    if sp.issparse(X):
        X = sp.csc_array(X)
    step = max(1, BLOCK_SIZE // max(1, X.shape[0]))
    for start in range(0, X.shape[1], step):
        columns = slice(start, min(start + step, X.shape[1]))
        block: Any = X[:, columns]
        yield columns, np.asarray(block.toarray() if sp.issparse(block) else block, dtype=float)


def nearest_by_number(chosen: Chosen) -> dict[str, Any]:
    """Which kept column each column is most like, for every number of columns at once.

    With more columns kept, the one that a column is most like changes only where a better one
    joins, a few times in all. Those times are listed, column by column.

    Returns
    -------
    dict
        "starts": where the entries of each source begin; "rank": which rank joins, from 0;
        "alike": the correlation, from -127 to 127.
    """
    X = some_rows(chosen.X)[:, chosen.representative]
    n_sources = X.shape[1]
    order = chosen.order[:MOST_RANKED]
    lengths = np.empty(n_sources)
    means = np.empty(n_sources)
    for columns, block in _blocks(X):
        means[columns] = block.mean(axis=0)
        lengths[columns] = np.linalg.norm(block - means[columns], axis=0)
    lengths[lengths == 0] = np.inf  # a constant is like nothing
    leaders: Any = X[:, order]
    leaders = np.asarray(leaders.toarray() if sp.issparse(leaders) else leaders, dtype=np.float32)
    leaders = (leaders - means[order].astype(np.float32)) / lengths[order].astype(np.float32)
    best = np.zeros(n_sources, dtype=np.float32)
    found: list[tuple[IntArray, IntArray, IntArray]] = []
    for columns, block in _blocks(X):
        unit = ((block - means[columns]) / lengths[columns]).astype(np.float32)
        products = unit.T @ leaders
        own = order[(order >= columns.start) & (order < columns.stop)]
        for rank in range(len(order)):
            alike = products[:, rank]
            here = best[columns]
            better = np.abs(alike) > np.abs(here) + 1e-3
            if columns.start <= order[rank] < columns.stop and order[rank] in own:
                better[order[rank] - columns.start] = False  # no column stands for itself
            places = np.flatnonzero(better)
            here[places] = alike[places]
            levels = np.rint(127 * alike[places].clip(-1, 1)).astype(np.int8)
            found.append((columns.start + places, np.full(len(places), rank), levels))
    where = np.concatenate([one[0] for one in found])
    ranks = np.concatenate([one[1] for one in found])
    levels = np.concatenate([one[2] for one in found])
    by_column = np.lexsort((ranks, where))
    counts = np.bincount(where, minlength=n_sources)
    return {
        "starts": np.concatenate([[0], np.cumsum(counts)]).astype(np.uint32),
        "rank": ranks[by_column].astype(np.uint16),
        "alike": levels[by_column].astype(np.int8),
    }


def drawn(n_rows: int) -> Any:
    """The rows that pictures of single columns are made on."""
    return drawn_samples(n_rows, MOST_ROWS, 0)


def share_missing(values: Any) -> float:
    """The share of the values that are missing."""
    values = np.asarray(values)
    if values.dtype.kind == "f":
        return float(np.isnan(values).mean())
    if values.dtype.kind == "M":
        return float(np.isnat(values).mean())
    if values.dtype.kind != "O":
        return 0.0
    return float(np.mean([_is_missing(value) for value in values.tolist()]))


def _is_missing(value: Any) -> bool:
    return value is None or value == "" or value != value


def examples(values: Any, most: int = 5) -> list[str]:
    """The first different values of a column, as text of bounded length."""
    found = dict.fromkeys(text for text in cells(np.asarray(values)[:200]) if text)
    return list(found)[:most]


def cells(values: Any) -> list[str]:
    """Values as text of bounded length; missing ones are empty."""
    if values.dtype.kind == "M":
        values = values.astype("datetime64[s]").astype(object)
    texts = [
        "" if _is_missing(value) else f"{value:.6g}" if type(value) is float else str(value)
        for value in values.tolist()
    ]
    return [text if len(text) <= LONGEST_CELL else f"{text[: LONGEST_CELL - 1]}…" for text in texts]
