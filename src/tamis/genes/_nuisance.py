"""What a choice of genes does with depth, batches, and mitochondrial and ribosomal genes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from tamis._typing import BoolArray, FloatArray, SparseMatrix
from tamis.genes._groups import Batches, sums_of_squares
from tamis.genes._matrix import mean_and_scatter

# Names of human and mouse genes, and alike; case plays no part.
PATTERNS = {
    "mitochondrial": re.compile(r"^mt[-.:]", re.IGNORECASE),
    "ribosomal": re.compile(r"^rp[sl]\d", re.IGNORECASE),
}
# Most names begin otherwise, and are not looked at any further.
BEGINNINGS = {"mt", "Mt", "mT", "MT", "rp", "Rp", "rP", "RP"}


def nuisances(
    logged: SparseMatrix,
    depth: FloatArray,
    batches: Batches,
    names: Any,
    selected: BoolArray,
) -> dict[str, Any]:
    """What the chosen genes have of each, beside all genes that are seen. O(nnz).

    Returns
    -------
    dict
        "depth": the median, over genes, of the absolute correlation of the logged values with the
        logged depth of the cell; "batch": the median share of a gene's variance that lies between
        batches, where there are several; "mitochondrial" and "ribosomal": how many genes. Of each
        a dict of "selected" and "all".
    """
    mean, scatter = mean_and_scatter(logged)
    seen = mean > 0
    correlation = _correlation(logged, scatter, np.log1p(depth))
    told: dict[str, Any] = {"depth": _medians(np.abs(correlation), selected, seen)}
    if len(batches.sizes) > 1:
        squares = sums_of_squares(batches.sizes[None], batches.means(logged))[0]
        between = np.maximum(squares - logged.shape[0] * mean**2, 0)
        share = np.divide(between, scatter, out=np.zeros_like(mean), where=scatter > 0)
        told["batch"] = _medians(share, selected, seen)
    names = list(map(str, names))
    begins = [place for place, name in enumerate(names) if name[:2] in BEGINNINGS]
    for what, pattern in PATTERNS.items():
        named = np.zeros(len(names), dtype=bool)
        named[[place for place in begins if pattern.match(names[place])]] = True
        told[what] = {
            "selected": int(np.count_nonzero(named & selected)),
            "all": int(np.count_nonzero(named & seen)),
        }
    return told


def sentences(told: Mapping[str, Any]) -> list[str]:
    """What :func:`nuisances` found, in words."""
    said = [_of_medians("correlation with the depth of the cell", told["depth"])]
    if "batch" in told:
        said.append(_of_medians("share of variance between batches", told["batch"]))
    for what in PATTERNS:
        if told[what]["all"]:
            selected, everywhere = int(told[what]["selected"]), int(told[what]["all"])
            are = "is" if selected == 1 else "are"
            said.append(f"Of {everywhere:,} {what} genes, {selected:,} {are} among the chosen.")
        else:
            said.append(f"No gene has the name of a {what} one.")
    return said


def _of_medians(what: str, found: Mapping[str, float]) -> str:
    return (
        f"Median {what}: {float(found['selected']):.2f} of the chosen genes, "
        f"{float(found['all']):.2f} of all."
    )


def _medians(values: FloatArray, selected: BoolArray, seen: BoolArray) -> dict[str, float]:
    return {
        "selected": float(np.median(values[selected & seen])) if (selected & seen).any() else 0.0,
        "all": float(np.median(values[seen])) if seen.any() else 0.0,
    }


def _correlation(logged: SparseMatrix, scatter: FloatArray, values: FloatArray) -> FloatArray:
    centred = values - values.mean()
    length = np.sqrt(centred @ centred * scatter)
    products = np.asarray(logged.T @ centred.astype(logged.dtype), dtype=np.float64)
    return np.divide(products, length, out=np.zeros_like(length), where=length > 0)
