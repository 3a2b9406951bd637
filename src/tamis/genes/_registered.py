"""Any method of the registry, on genes."""

from __future__ import annotations

from inspect import signature
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.sparsefuncs import inplace_column_scale

from tamis._typing import SparseMatrix
from tamis.genes._choice import Choice, by_median_rank
from tamis.genes._groups import Batches, graph_of_cells, groups_of
from tamis.genes._matrix import Cells, cells_with
from tamis.preprocessing import scaled
from tamis.registry import get
from tamis.utils.columns import variances

# A gene that is seen in fewer cells has wild standardised values.
FEWEST_CELLS = 3


def choose_by_selector(
    cells: Cells,
    method: str,
    n_top: int,
    *,
    graph: SparseMatrix | None,
    n_clusters: int | str,
    seed: int,
) -> Choice:
    """Fit a selector to the logged values, with the graph of cells and the number of its groups."""
    entry = get(method)
    n_cells, n_genes = cells.logged.shape
    n_seen = cells_with(cells.logged)
    usable = np.flatnonzero(n_seen >= min(FEWEST_CELLS, n_cells))
    if len(usable) < n_top:
        usable = np.argsort(-n_seen, kind="stable")[:n_top]
        usable.sort()
    table = sp.csr_array(cells.logged[:, usable], dtype=np.float64)
    known = signature(entry.selector).parameters
    parameters: dict[str, Any] = {"n_features_to_select": n_top}
    if "random_state" in known:
        parameters["random_state"] = seed
    told: dict[str, Any] = {}
    if "affinity" in known or entry.cluster_parameter is not None:
        if graph is None:
            graph = graph_of_cells(cells.logged, Batches.one(n_cells), seed)
        n_groups = int(groups_of(graph, n_clusters).max()) + 1
        told["n_groups"] = n_groups
        if "affinity" in known:
            parameters["affinity"] = graph
        if entry.cluster_parameter is not None:
            parameters[entry.cluster_parameter] = min(n_groups + 1, n_cells)
    if entry.scaling == "standard":
        deviation = np.sqrt(variances(table))
        inplace_column_scale(table, np.divide(1, deviation, where=deviation > 0, out=deviation))
    elif entry.scaling != "none":
        table = scaled(table, entry.scaling)
    selector = entry.selector(**parameters).fit(table)
    scores = np.zeros(n_genes)
    scores[usable] = selector.scores_
    cost = np.full(n_genes, np.inf)
    cost[usable] = selector.ranking_
    for name, attribute in (("n_support", "n_support_"), ("optimality", "optimality_")):
        if hasattr(selector, attribute):
            told[name] = _plain(getattr(selector, attribute))
    return Choice(by_median_rank(cost[None], n_top, tie=cost), scores, told=told)


def _plain(value: Any) -> float | int:
    return int(value) if isinstance(value, (int, np.integer)) else float(value)
