"""Beside scanpy itself: its flavours, to the last gene, and our choice in its pipeline."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from genes.planted import planted
from tamis import genes
from tamis.solvers.loess import loess

NEEDS = "needs scanpy, which `make test` has in an environment of its own (.venv-scanpy)"
anndata = pytest.importorskip("anndata", reason=NEEDS)
sc = pytest.importorskip("scanpy", reason=NEEDS)
skmisc = pytest.importorskip("skmisc.loess", reason=NEEDS)

pytestmark = pytest.mark.filterwarnings("ignore")  # of scanpy and what it stands on


def cells(n_batches=1, **options):
    counts, kinds, _ = planted(**options)
    adata = anndata.AnnData(counts)
    adata.var_names = [f"g{i:05d}" for i in range(adata.n_vars)]
    adata.obs["type"] = kinds.astype(str)
    adata.obs["batch"] = (np.arange(len(kinds)) % n_batches).astype(str)
    adata.layers["counts"] = adata.X.copy()
    sc.pp.normalize_total(adata)
    sc.pp.log1p(adata)
    return adata


@pytest.mark.parametrize("n_points", [40, 500, 3000])
@pytest.mark.parametrize("step", [None, 0.01, 0.2])
def test_the_curve_is_that_of_scikit_misc(n_points, step):
    rng = np.random.default_rng(n_points)
    x = rng.normal(size=n_points)
    x = x if step is None else np.round(x / step) * step
    y = np.sin(2 * x) + 0.1 * rng.normal(size=n_points)
    model = skmisc.loess(x, y, span=0.3, degree=2)
    try:
        model.fit()
    except ValueError:
        pytest.skip("scikit-misc gives up where many points share one x")
    np.testing.assert_allclose(loess(x, y, 0.3), model.outputs.fitted_values, atol=1e-9)


@pytest.mark.parametrize("n_batches", [1, 3])
@pytest.mark.parametrize("flavour", ["seurat", "cell_ranger"])
def test_normalised_dispersions_are_those_of_scanpy(flavour, n_batches):
    adata = cells(n_batches)
    key = {"batch_key": "batch"} if n_batches > 1 else {}
    theirs = sc.pp.highly_variable_genes(
        adata, flavor=flavour, n_top_genes=150, inplace=False, **key
    )
    ours = genes.select(adata, method=flavour, n_top_genes=150, inplace=False, **key)
    theirs.index = ours.index
    for name in ("means", "dispersions", "dispersions_norm"):
        np.testing.assert_allclose(ours[name], theirs[name], rtol=2e-4, atol=2e-5)
    np.testing.assert_array_equal(ours["highly_variable"], theirs["highly_variable"])
    if n_batches > 1:
        for name in ("highly_variable_nbatches", "highly_variable_intersection"):
            np.testing.assert_array_equal(ours[name], theirs[name])


@pytest.mark.parametrize("n_batches", [1, 3])
@pytest.mark.parametrize("flavour", ["seurat_v3", "seurat_v3_paper", "pearson_residuals"])
def test_ranks_of_counts_are_those_of_scanpy(flavour, n_batches):
    adata = cells(n_batches, n_cells=300, scale=20)  # so that no two genes are equal
    key = {"batch_key": "batch"} if n_batches > 1 else {}
    if flavour == "pearson_residuals":
        function, statistic = sc.experimental.pp.highly_variable_genes, "residual_variances"
    else:
        function, statistic = sc.pp.highly_variable_genes, "variances_norm"
    theirs = function(adata, flavor=flavour, layer="counts", n_top_genes=150, inplace=False, **key)
    ours = genes.select(
        adata, method=flavour, layer="counts", n_top_genes=150, inplace=False, **key
    )
    for name in ("means", "variances", statistic):
        np.testing.assert_allclose(ours[name], theirs[name], rtol=1e-5)
    np.testing.assert_array_equal(ours["highly_variable"], theirs["highly_variable"])
    chosen = ours["highly_variable"].to_numpy()
    np.testing.assert_array_equal(
        ours["highly_variable_rank"][chosen], theirs["highly_variable_rank"][chosen]
    )
    assert ours["highly_variable_rank"][~chosen].isna().all()
    if n_batches > 1:
        np.testing.assert_array_equal(
            ours["highly_variable_nbatches"], theirs["highly_variable_nbatches"]
        )


def test_real_counts_give_the_genes_of_scanpy(benchmark_set):
    X, _ = benchmark_set("MouseBladder_sc")
    counts = X[:, np.asarray((X > 0).sum(axis=0)).ravel() >= 3].astype(np.float32)
    adata = anndata.AnnData(sp.csr_matrix(counts))
    ours = genes.select(adata, method="seurat_v3", inplace=False)
    theirs = sc.pp.highly_variable_genes(adata, flavor="seurat_v3", n_top_genes=2000, inplace=False)
    np.testing.assert_array_equal(ours["highly_variable"], theirs["highly_variable"])
    np.testing.assert_allclose(ours["variances_norm"], theirs["variances_norm"], rtol=1e-6)


def test_in_the_pipeline():
    adata = cells()
    genes.select(adata, n_top_genes=100)
    assert adata.uns["hvg"]["flavor"] == "tamis"
    sc.pp.pca(adata, n_comps=10)  # of the genes that are marked
    assert not adata.varm["PCs"][~adata.var["highly_variable"].to_numpy()].any()
    sc.pp.neighbors(adata)
    again = genes.select(adata, n_top_genes=100, neighbors_key="neighbors", inplace=False)
    both = again["highly_variable"] & adata.var["highly_variable"]
    assert both.sum() > 60


def test_logarithms_to_another_base():
    adata = cells()
    other = cells()
    other.X = other.layers["counts"].copy()
    sc.pp.normalize_total(other)
    sc.pp.log1p(other, base=2)
    ours = genes.select(adata, n_top_genes=100, inplace=False)
    same = genes.select(other, n_top_genes=100, inplace=False)
    assert (ours["highly_variable"] == same["highly_variable"]).mean() > 0.99
