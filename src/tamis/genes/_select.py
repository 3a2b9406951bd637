"""Genes of an AnnData object, chosen as scanpy's users expect it."""

from __future__ import annotations

import warnings
from numbers import Integral
from typing import Any

import numpy as np

from tamis._typing import BoolArray, FloatArray, IntArray, SparseMatrix
from tamis.genes._choice import Choice, by_median_rank
from tamis.genes._flavours import FLAVOURS, choose_by_flavour
from tamis.genes._groups import Batches
from tamis.genes._matrix import Cells, read_cells
from tamis.genes._nuisance import nuisances
from tamis.genes._ranking import rank_genes
from tamis.genes._registered import choose_by_selector
from tamis.graphs import check_affinity, symmetrize
from tamis.registry import METHODS
from tamis.utils.messages import did_you_mean
from tamis.utils.threads import one_thread


def select(
    adata: Any,
    *,
    n_top_genes: int = 2000,
    method: str = "auto",
    layer: str | None = None,
    batch_key: str | None = None,
    mask_var: Any = None,
    neighbors_key: str | None = None,
    n_clusters: int | str = "auto",
    subset: bool = False,
    inplace: bool = True,
    random_state: int = 0,
) -> Any:
    """Choose genes without labels, and mark them where scanpy looks for them.

    It stands where ``scanpy.pp.highly_variable_genes`` does, and needs anndata alone. ``"auto"``
    finds groups of cells by the 2000 genes that vary most, and ranks each gene by three things: how
    well it marks the group that it marks best, so that a small group has its genes among the first;
    how well it tells all groups apart; and how much it varies beyond what its mean lets expect
    (the variance of its Pearson residuals, or of logged values). The order is that of the
    geometric mean of the three ranks; beyond the first 500 genes, that mean and the rank by
    ``"seurat_v3"`` count alike.

    Parameters
    ----------
    adata : AnnData of shape (n_cells, n_genes)
        In memory, backed, or with dask arrays. Raw counts are recognised: they are brought to equal
        depth and logged on a copy. Logged values are taken as they are.
    n_top_genes : int, default=2000
        How many genes to choose.
    method : str, default="auto"
        "auto"; a flavour of highly variable genes, equal to scanpy's: "seurat", "cell_ranger",
        "seurat_v3", "seurat_v3_paper", "pearson_residuals" (the last three need raw counts); or
        the name of any method of :mod:`tamis.registry`, which is fitted to the logged values,
        with the same graph of cells.
    layer : str or None, default=None
        The layer to take in place of ``X``.
    batch_key : str or None, default=None
        A column of ``obs``. Genes are ranked within each batch, then by the number of batches in
        which they are among the best, then by the median of their ranks there.
    mask_var : str, array of bool or None, default=None
        The genes to choose from: a column of ``var``, or a mask.
    neighbors_key : str or None, default=None
        A graph of cells that is there, by its key in ``obsp``, or in ``uns`` as
        ``scanpy.pp.neighbors`` leaves it. The groups are found in it, and no other graph is made.
    n_clusters : int or "auto", default="auto"
        The number of groups. "auto" takes the communities of the graph.
    subset : bool, default=False
        Whether to cut `adata` (or the frame that is returned) to the chosen genes.
    inplace : bool, default=True
        Whether to write into `adata`. False returns the columns as a frame.
    random_state : int, default=0
        Seed of the principal components.

    Returns
    -------
    None or pandas.DataFrame
        With ``inplace=False`` a row for each gene, or for each chosen one with `subset`.

    Notes
    -----
    Written are ``var["highly_variable"]``; ``var["highly_variable_rank"]``, from 0, NaN for genes
    that are not chosen; ``var["tamis_score"]``, larger for better genes; with several batches
    ``var["highly_variable_nbatches"]`` and ``var["highly_variable_intersection"]``, and the rank is
    the median over the batches that a gene has won; for a flavour its own statistics, by the names
    that scanpy gives them. ``uns["hvg"]`` has the flavour, ``uns["tamis"]`` the parameters, what
    was done to the values, the number of groups, and what the choice has to do with the depth of
    the cells, their batches, and mitochondrial and ribosomal genes.

    O(nnz) for the ranks and O(n²) for the neighbours of n cells. Beside the table it holds one copy
    of its values, and for a while another (with mask_var also the table of those genes), and some
    numbers per cell, per gene, and per gene and batch.

    Of more than 20,000 cells "auto" looks at as many, drawn at random from each batch alike; a
    warning says so.

    Examples
    --------
    >>> import tamis
    >>> tamis.genes.select(adata, n_top_genes=2000)  # doctest: +SKIP
    >>> scanpy.pp.pca(adata)  # of the chosen genes  # doctest: +SKIP
    """
    _check(method, n_top_genes, n_clusters)
    genes = _candidates(adata, mask_var)
    if subset and inplace and getattr(adata, "isbacked", False):
        raise ValueError(
            "A backed AnnData cannot be cut in place; call select with subset=False, then "
            "adata[:, adata.var['highly_variable']].to_memory()."
        )
    n_top = int(n_top_genes)
    if n_top > np.count_nonzero(genes):
        n_top = int(np.count_nonzero(genes))
        _warn(f"n_top_genes={n_top_genes}, but there are only {n_top} genes: all are chosen.")
    batches, levels = _batches(adata, batch_key)
    graph = _graph(adata, neighbors_key)
    with one_thread():
        cells = read_cells(adata, layer, genes)
        if cells.counts is not None and layer is None and FLAVOURS.get(method) != "counts":
            _warn(cells.what_was_done)
        choice = _choose(cells, batches, method, n_top, graph, n_clusters, random_state)
        told = {
            "method": method,
            "n_top_genes": n_top,
            "layer": layer or "",
            "batch_key": batch_key or "",
            "neighbors_key": neighbors_key or "",
            "n_clusters": n_clusters,
            "random_state": random_state,
            "values": cells.what_was_done,
            **choice.told,
        }
        names = np.asarray(adata.var_names)[genes]
        told["nuisances"] = nuisances(
            cells.logged, cells.depth, batches, names, choice.chosen.selected
        )
    columns = _columns(choice, genes, len(levels) if batch_key is not None else 0)
    frame = type(adata.var)(columns, index=adata.var_names)
    if not inplace:
        return frame[frame["highly_variable"]] if subset else frame
    kept = [name for name in adata.var.columns if name not in STALE or name in columns]
    adata.var = adata.var[kept].assign(**{name: frame[name] for name in frame.columns})
    adata.uns["hvg"] = {"flavor": method if method in FLAVOURS else "tamis"}
    adata.uns["tamis"] = told
    if subset:
        adata._inplace_subset_var(columns["highly_variable"])
    return None


# Groups are looked for in no more cells.
MOST_CELLS = 20_000
# What an earlier choice may have left in var, and this one does not write.
STALE = ("highly_variable_nbatches", "highly_variable_intersection")


def _choose(
    cells: Cells,
    batches: Batches,
    method: str,
    n_top: int,
    graph: SparseMatrix | None,
    n_clusters: int | str,
    seed: int,
) -> Choice:
    if method in FLAVOURS:
        return choose_by_flavour(cells, batches, method, n_top)
    if method != "auto":
        if len(batches.sizes) > 1:
            raise ValueError(
                f"method={method!r} does not rank within batches; leave batch_key out, or use "
                f"'auto' or one of {', '.join(FLAVOURS)}."
            )
        return choose_by_selector(
            cells, method, n_top, graph=graph, n_clusters=n_clusters, seed=seed
        )
    if graph is None and len(batches.codes) > MOST_CELLS:
        rows = _some(batches, MOST_CELLS, seed)
        _warn(f"ranks by {len(rows):,} of the {len(batches.codes):,} cells, drawn at random.")
        cells, batches = cells.of(rows), Batches.of(batches.codes[rows])
    found = rank_genes(
        cells, batches, n_top_genes=n_top, graph=graph, n_clusters=n_clusters, seed=seed
    )
    if not found.by_groups:
        _warn("finds no two groups of cells: genes are ranked by how much they vary alone.")
    chosen = by_median_rank(found.costs, n_top, tie=found.overall)
    n_genes = len(found.overall)
    score = np.where(np.isinf(found.overall), 0.0, 1 - (found.overall - 1) / n_genes)
    told = {
        "n_cells": len(found.groups),
        "n_groups": int(found.groups.max()) + 1,
        "group_sizes": np.bincount(found.groups),
        "n_ranked": int(np.count_nonzero(np.isfinite(found.overall))),
    }
    return Choice(chosen, score, told=told)


def _some(batches: Batches, wanted: int, seed: int) -> IntArray:
    """Cells drawn at random, of each batch its share but at least ten, if it has them."""
    random = np.random.default_rng(seed)
    share = wanted / len(batches.codes)
    drawn = [
        random.choice(rows, min(len(rows), max(10, round(share * len(rows)))), replace=False)
        for rows in batches.rows()
    ]
    return np.sort(np.concatenate(drawn))


def _check(method: str, n_top_genes: Any, n_clusters: Any) -> None:
    known = ["auto", *FLAVOURS, *(name for name in METHODS if name != "auto")]
    if method not in known:
        raise ValueError(
            f"There is no method {method!r}{did_you_mean(str(method), known)}; use 'auto', "
            f"{', '.join(map(repr, FLAVOURS))}, or a name that tamis.registry.METHODS has."
        )
    if not isinstance(n_top_genes, Integral) or int(n_top_genes) < 1:
        raise ValueError(f"n_top_genes={n_top_genes!r} must be a whole number of at least 1.")
    if n_clusters != "auto" and not (isinstance(n_clusters, Integral) and int(n_clusters) >= 2):
        raise ValueError(f"n_clusters={n_clusters!r} must be 'auto' or a whole number from 2 on.")


def _candidates(adata: Any, mask_var: Any) -> BoolArray:
    """The genes to choose from."""
    n_genes = adata.shape[1]
    if mask_var is None:
        return np.ones(n_genes, dtype=bool)
    if isinstance(mask_var, str):
        if mask_var not in adata.var.columns:
            hint = did_you_mean(mask_var, map(str, adata.var.columns))
            raise ValueError(f"mask_var: var has no column {mask_var!r}{hint}.")
        mask_var = adata.var[mask_var]
    mask = np.asarray(mask_var)
    if mask.dtype != bool or mask.shape != (n_genes,):
        raise ValueError(
            f"mask_var must hold {n_genes} values True or False, one for each gene; it has the "
            f"type {mask.dtype} and the shape {mask.shape}."
        )
    if not mask.any():
        raise ValueError("mask_var leaves no gene to choose from.")
    return mask


def _batches(adata: Any, batch_key: str | None) -> tuple[Batches, Any]:
    n_cells = adata.shape[0]
    if batch_key is None:
        return Batches.one(n_cells), np.array([""])
    if batch_key not in adata.obs.columns:
        hint = did_you_mean(batch_key, map(str, adata.obs.columns))
        raise ValueError(f"batch_key: obs has no column {batch_key!r}{hint}.")
    values = adata.obs[batch_key]
    if values.isna().any():
        raise ValueError(
            f"obs[{batch_key!r}] is missing for {int(values.isna().sum())} cells; fill it in, or "
            "leave these cells out."
        )
    levels, codes = np.unique(values.to_numpy().astype(str), return_inverse=True)
    return Batches.of(codes.astype(np.intp)), levels


def _graph(adata: Any, key: str | None) -> SparseMatrix | None:
    if key is None:
        return None
    name = key
    if key in adata.uns and key not in adata.obsp:
        name = adata.uns[key].get("connectivities_key", "connectivities")
    if name not in adata.obsp:
        known = ", ".join(map(repr, adata.obsp)) or "none"
        raise ValueError(
            f"neighbors_key={key!r} names no graph; those in obsp are: {known}. "
            "scanpy.pp.neighbors makes one."
        )
    return check_affinity(symmetrize(adata.obsp[name]), adata.shape[0])


def _columns(choice: Choice, genes: BoolArray, n_batches: int) -> dict[str, FloatArray]:
    """The columns of var, for all genes."""
    chosen = choice.chosen
    found: dict[str, tuple[FloatArray, Any]] = {
        "highly_variable": (chosen.selected, False),
        "highly_variable_rank": (chosen.rank, np.nan),
        "tamis_score": (choice.score, min(0.0, float(choice.score.min()))),
    }
    if n_batches:
        found["highly_variable_nbatches"] = (chosen.n_batches, 0)
        found["highly_variable_intersection"] = (chosen.n_batches == n_batches, False)
    found |= {name: (values, np.nan) for name, values in choice.columns.items()}
    columns = {}
    for name, (values, elsewhere) in found.items():
        columns[name] = np.full(len(genes), elsewhere, dtype=np.asarray(values).dtype)
        columns[name][genes] = values
    return columns


def _warn(what: str) -> None:
    warnings.warn(f"tamis.genes.select: {what}", UserWarning, stacklevel=3)
