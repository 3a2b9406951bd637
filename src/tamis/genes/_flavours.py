"""The highly variable genes of scanpy and Seurat, batch by batch."""

from __future__ import annotations

from typing import Any

import numpy as np

from tamis._typing import FloatArray, SparseMatrix
from tamis.genes._choice import Choice, by_mean, by_median_rank, mean_where_defined
from tamis.genes._dispersion import (
    Dispersion,
    mean_and_variance,
    normalised_dispersion,
    residual_variance,
    standardised_variance,
)
from tamis.genes._groups import Batches
from tamis.genes._matrix import Cells

# Each with what it is computed of.
FLAVOURS = {
    "seurat": "logged",
    "cell_ranger": "logged",
    "seurat_v3": "counts",
    "seurat_v3_paper": "counts",
    "pearson_residuals": "counts",
}


def choose_by_flavour(cells: Cells, batches: Batches, flavour: str, n_top: int) -> Choice:
    """The genes that scanpy's function chooses by this flavour, and its columns of ``var``."""
    if FLAVOURS[flavour] == "logged":
        return _by_dispersion(cells.logged, batches, flavour, n_top)
    if cells.counts is None:
        raise ValueError(
            f"method={flavour!r} needs raw counts, and {cells.what_was_done.split(' holds')[0]} "
            "does not hold any; name their layer with layer=, or use method='auto'."
        )
    found = []
    for rows in batches.rows():
        if len(rows) < 2:
            raise ValueError(f"method={flavour!r} needs at least two cells in every batch.")
        part = cells.counts if len(batches.sizes) == 1 else cells.counts[rows]
        if flavour == "pearson_residuals":
            found.append(residual_variance(part))
        else:
            found.append(standardised_variance(part))
    normalised = np.array(found)
    mean = normalised.mean(axis=0)
    chosen = by_median_rank(
        -normalised, n_top, tie=np.arange(len(mean)), batches_first=flavour != "seurat_v3"
    )
    means, variances = mean_and_variance(cells.counts)
    name = "residual_variances" if flavour == "pearson_residuals" else "variances_norm"
    return Choice(chosen, mean, {"means": means, "variances": variances, name: mean})


def _by_dispersion(logged: SparseMatrix, batches: Batches, flavour: Any, n_top: int) -> Choice:
    n_genes = logged.shape[1]
    if len(batches.sizes) == 1:
        found = normalised_dispersion(logged, flavour)
        everywhere = np.ones((1, n_genes), dtype=bool)
        chosen = by_mean(found.normalised[None], everywhere, n_top)
        return Choice(chosen, finite(found.normalised), _columns(found))
    parts, seen = [], []
    for rows in batches.rows():
        part = logged[rows]
        expressed = np.bincount(part.indices[part.data > 0], minlength=n_genes) > 0
        genes = np.flatnonzero(expressed)
        one = normalised_dispersion(part[:, genes], flavour)
        whole = np.zeros((3, n_genes))
        whole[:, genes] = one
        parts.append(whole)
        seen.append(expressed)
    stacked = np.array(parts)
    chosen = by_mean(stacked[:, 2], np.array(seen), n_top)
    merged = Dispersion(*(mean_where_defined(stacked[:, i]) for i in range(3)))
    return Choice(chosen, finite(merged.normalised), _columns(merged))


def _columns(found: Dispersion) -> dict[str, FloatArray]:
    return {
        "means": found.means,
        "dispersions": found.spread,
        "dispersions_norm": found.normalised,
    }


def finite(scores: FloatArray) -> FloatArray:
    """The scores with the lowest in place of what is not defined, and the highest of infinity."""
    finite = scores[np.isfinite(scores)]
    lowest, highest = (finite.min(), finite.max()) if len(finite) else (0.0, 0.0)
    return np.nan_to_num(scores, nan=lowest, posinf=highest, neginf=lowest)
