"""Made-up cells with planted types, and a stand-in for AnnData with what `select` uses of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp


def planted(
    n_cells=400, n_genes=600, shares=(0.5, 0.3, 0.19, 0.01), n_markers=12, seed=0, fold=8, scale=1.0
):
    """Counts, the type of each cell, and of each gene the type that it marks, or −1.

    Genes differ in their mean, cells in their depth; a tenth of the genes vary more than Poisson
    in no relation to the types.
    """
    rng = np.random.default_rng(seed)
    rate = rng.gamma(0.7, 1.0, n_genes) + 0.05
    marked = np.full(n_genes, -1)
    for kind in range(len(shares)):
        marked[kind * n_markers : (kind + 1) * n_markers] = kind
    rate[marked >= 0] = rng.uniform(0.3, 1.0, np.count_nonzero(marked >= 0))
    sizes = np.round(np.array(shares) * n_cells).astype(int)
    kinds = np.repeat(np.arange(len(shares)), sizes)
    of_cell = rate * np.where(marked == kinds[:, None], fold, 1.0)
    noisy = np.flatnonzero((rng.random(n_genes) < 0.1) & (marked < 0))
    of_cell[:, noisy] *= rng.gamma(2, 0.5, (len(kinds), len(noisy)))
    of_cell *= rng.lognormal(0, 0.3, (len(kinds), 1))
    counts = sp.csr_matrix(rng.poisson(scale * of_cell).astype(np.float32))
    return counts, kinds, marked


@dataclass
class Cells:
    """The attributes of AnnData that `select` reads and writes, in memory."""

    X: Any
    layers: dict[str, Any] = field(default_factory=dict)
    obsp: dict[str, Any] = field(default_factory=dict)
    uns: dict[str, Any] = field(default_factory=dict)
    obs: pd.DataFrame = None
    var: pd.DataFrame = None

    def __post_init__(self):
        n_cells, n_genes = self.shape
        if self.obs is None:
            self.obs = pd.DataFrame(index=[f"c{i}" for i in range(n_cells)])
        if self.var is None:
            self.var = pd.DataFrame(index=[f"g{i}" for i in range(n_genes)])

    @property
    def shape(self):
        return self.X.shape

    @property
    def var_names(self):
        return self.var.index

    def _inplace_subset_var(self, mask):
        self.X, self.var = self.X[:, np.flatnonzero(mask)], self.var[mask]
        self.layers = {name: X[:, np.flatnonzero(mask)] for name, X in self.layers.items()}
