"""Genes in order, the best first: by groups of cells that are found, in batches and over them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from tamis._typing import BoolArray, FloatArray, IntArray, SparseMatrix
from tamis.genes._dispersion import (
    Moments,
    log_variance,
    mean_and_variance,
    residual_variance,
    standardised_variance_within,
)
from tamis.genes._evidence import N_BY_GROUPS, Sums, filled, mean_rank, ranks
from tamis.genes._groups import Batches, graph_of_cells, groups_of
from tamis.genes._matrix import Cells, cells_with, column_sums, with_data
from tamis.utils.blocks import row_blocks

# The graph of cells is made of so many genes, those that vary most beyond chance.
MOST_VARIABLE = 2000
# Within batches no more genes are ranked than these, or twice those that are asked for.
BEST_GENES = 2000
# A gene that is seen in fewer cells says nothing of any group.
FEWEST_CELLS = 3
# Numbers in the sums of the groups of several batches.
SUMS_AT_ONCE = 1 << 18


@dataclass(frozen=True)
class Ranking:
    """An order of the genes, and how it came about.

    Attributes
    ----------
    costs : ndarray of shape (n_batches, n_genes)
        The place of each gene in each batch, smaller for better ones; inf where it says nothing.
    overall : ndarray of shape (n_genes,)
        The same of all batches together.
    groups : ndarray of int of shape (n_cells,)
        The groups of cells in the end.
    by_groups : bool
        Whether there were two groups, so that genes can be told by them.
    """

    costs: FloatArray
    overall: FloatArray
    groups: IntArray
    by_groups: bool


def rank_genes(
    cells: Cells,
    batches: Batches,
    *,
    n_top_genes: int,
    graph: SparseMatrix | None,
    n_clusters: int | str,
    seed: int,
) -> Ranking:
    """Rank by groups of cells that are found in a graph, of the genes that vary most.

    Parameters
    ----------
    cells : Cells
    batches : Batches
    n_top_genes : int
    graph : csr_array or None
        The graph to find the groups in; None makes one.
    n_clusters : int or "auto"
    seed : int
    """
    n_cells, n_genes = cells.logged.shape
    seen = cells_with(cells.logged) >= min(FEWEST_CELLS, n_cells)
    usable = np.flatnonzero(seen)
    if len(usable) < 2:
        raise ValueError(f"Fewer than two genes are seen in {FEWEST_CELLS} cells or more.")
    logged, counts = cells.logged, cells.counts
    moments = _moments(logged if counts is None else counts, seen) if batches.is_one else None
    varies = _variation(cells, batches, seen, moments)[usable]

    if graph is None:
        candidates = usable[np.argsort(-varies, kind="stable")[:MOST_VARIABLE]]
        graph = graph_of_cells(_columns(logged, np.sort(candidates)), batches, seed)
    groups = groups_of(graph, n_clusters)
    sums = Sums.within(logged, groups, batches).of_genes(usable)
    overall, by_groups = _cost(sums, ranks(varies))
    if by_groups and len(usable) > N_BY_GROUPS:
        if counts is None:  # the counts at equal depth stand in for the counts
            counts = with_data(logged, np.expm1(logged.data))
            moments = _moments(counts, seen) if batches.is_one else None
        deviates = standardised_variance_within(counts, batches, seen, moments)[usable]
        overall = filled(overall, ranks(deviates))
    else:
        deviates = varies
    everywhere = np.full(n_genes, np.inf)
    everywhere[usable] = overall
    if batches.is_one:
        return Ranking(everywhere[None], everywhere, groups, by_groups)
    best = np.sort(np.argsort(overall, kind="stable")[: max(BEST_GENES, 2 * n_top_genes)])
    part = _columns(logged, usable[best])
    of_varies, of_deviates = ranks(varies[best]), ranks(deviates[best])
    # Places within batches are whole numbers or halves: single precision has them exactly.
    costs = np.full((len(batches.sizes), n_genes), np.inf, dtype=np.float32)
    for cost, sums in zip(costs, _sums_of_batches(part, groups, batches), strict=True):
        place, by_groups_here = _cost(sums, of_varies)
        if by_groups_here:
            place = filled(place, of_deviates)
        cost[usable[best]] = np.where(sums.sums.sum(axis=0) == 0, np.inf, place)
    return Ranking(costs, everywhere, groups, by_groups)


def _moments(X: SparseMatrix, seen: BoolArray) -> Moments:
    """Means and variances; genes that are not seen count as constant, and make no curve."""
    means, variances = mean_and_variance(X)
    return means, np.where(seen, variances, 0)


def _variation(
    cells: Cells, batches: Batches, seen: BoolArray, moments: Moments | None
) -> FloatArray:
    """How much the genes vary beyond chance, on average over the batches in which they are seen.

    Residuals are clipped by the number of all cells: by those of a small batch, the few cells in
    which a marker is high would count as little as those of any other gene. For the same reason a
    batch in which a gene is not seen says nothing of it.
    """
    counts, logged, depth = cells.counts, cells.logged, cells.depth
    if moments is not None:
        if counts is None:
            return log_variance(logged, moments=moments)
        return residual_variance(counts, depth=depth, means=moments[0])
    clip = float(np.sqrt(len(depth)))
    found, weight = np.zeros((2, len(seen)))
    for rows in batches.rows():
        if len(rows) == 1:
            continue
        if counts is None:
            part = sp.csr_array(logged[rows])
            of_batch = _moments(part, seen)
            means, varies = of_batch[0], log_variance(part, moments=of_batch)
        else:
            part = sp.csr_array(counts[rows])
            means = column_sums(part) / len(rows)
            varies = residual_variance(part, clip=clip, depth=depth[rows], means=means)
        found += len(rows) * varies
        weight += len(rows) * (means > 0)
    return found / np.maximum(weight, 1)


def _sums_of_batches(logged: SparseMatrix, groups: IntArray, batches: Batches) -> Iterator[Sums]:
    """The sums of one batch after the other, made for a few batches at once."""
    n_batches, n_groups = len(batches.sizes), int(groups.max()) + 1
    for some in row_blocks(n_batches, n_groups * logged.shape[1], block_size=SUMS_AT_ONCE):
        rows = np.flatnonzero((batches.codes >= some.start) & (batches.codes < some.stop))
        codes = (batches.codes[rows] - some.start) * n_groups + groups[rows]
        n_here = some.stop - some.start
        sums = Sums.of(sp.csr_array(logged[rows]), codes, n_here * n_groups)
        for place in range(n_here):
            yield sums.of_groups(slice(place * n_groups, (place + 1) * n_groups))


def _cost(sums: Sums, rank_of_variation: FloatArray) -> tuple[FloatArray, bool]:
    """The mean rank of each gene, smaller for better ones, and whether groups had a part in it."""
    evidence = sums.evidence()
    if evidence is None:
        return rank_of_variation, False
    return mean_rank(evidence, rank_of_variation), True


def _columns(X: SparseMatrix, chosen: IntArray) -> SparseMatrix:
    return X if len(chosen) == X.shape[1] else sp.csr_array(X[:, chosen])
