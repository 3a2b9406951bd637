"""The contract of `tamis.genes.select`, on a stand-in for AnnData: pandas is newer than its own."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from genes.planted import Cells, planted
from tamis import MaxVariance, genes
from tamis.genes._evidence import filled, ranks

COUNTED = "raw counts"


def counted(**options):
    counts, kinds, marked = planted(**options)
    cells = Cells(counts)
    cells.layers["counts"] = counts
    cells.obs["batch"] = np.where(np.arange(len(kinds)) % 3 == 0, "b", "a")
    return cells, kinds, marked


def logged(cells):
    depth = np.asarray(cells.X.sum(axis=1)).ravel()
    return sp.csr_matrix(sp.diags(np.median(depth) / depth) @ cells.X).log1p()


def test_every_type_has_its_markers_first_a_rare_one_too():
    cells, kinds, marked = counted(n_cells=800, shares=(0.5, 0.3, 0.19, 0.01))
    frame = genes.select(cells, n_top_genes=60, layer="counts", inplace=False)
    chosen = frame["highly_variable"].to_numpy()
    assert chosen.sum() == 60
    for kind in range(4):
        assert chosen[marked == kind].sum() >= 10, kind
    assert np.count_nonzero(kinds == 3) == 8


@pytest.mark.slow
@pytest.mark.parametrize(("name", "n_rare"), [("WormNeuron_sc", 1), ("MouseBladder_sc", 6)])
def test_real_rare_types_keep_their_markers_among_1000(benchmark_set, name, n_rare):
    X, types = benchmark_set(name)
    cells = Cells(sp.csr_matrix(X, dtype=np.float32))
    cells.layers["counts"] = cells.X
    frame = genes.select(cells, n_top_genes=1000, layer="counts", inplace=False)
    chosen = frame["highly_variable"].to_numpy()
    values = logged(cells)
    kinds, sizes = np.unique(types, return_counts=True)
    rare = kinds[sizes < 0.02 * len(types)]
    assert len(rare) == n_rare
    for kind in rare:
        best = np.argsort(-welch(values, types == kind))[:10]
        assert np.count_nonzero(chosen[best]) >= 8, kind


def welch(values, of_type):
    """Student's t of each gene, of one type against the rest, with its labels."""
    means, errors = [], []
    for rows in (of_type, ~of_type):
        part = values[rows]
        mean, square = (np.asarray(one.mean(axis=0)).ravel() for one in (part, part.power(2)))
        means.append(mean)
        errors.append((square - mean**2) / (np.count_nonzero(rows) - 1))
    return (means[0] - means[1]) / (np.sqrt(errors[0] + errors[1]) + 1e-3)


def test_the_first_500_are_ranked_by_groups_alone():
    rng = np.random.default_rng(0)
    cost, varies = rng.permutation(1500), rng.random(1500)
    places = filled(cost, ranks(varies))
    order = np.argsort(cost)
    np.testing.assert_array_equal(places[order[:500]], np.arange(1, 501))
    assert sorted(places) == list(range(1, 1501))
    # Afterwards neither the cost alone decides nor the variation.
    later = order[500:]
    both = [np.corrcoef(places[later], of)[0, 1] for of in (cost[later], -varies[later])]
    assert min(both) > 0.3


def test_what_is_written():
    cells, _, _ = counted()
    before = cells.X.copy()
    assert genes.select(cells, n_top_genes=50, layer="counts") is None
    var = cells.var
    chosen = var["highly_variable"].to_numpy()
    assert chosen.dtype == bool
    assert sorted(var["highly_variable_rank"][chosen]) == list(range(50))
    assert var["highly_variable_rank"][~chosen].isna().all()
    assert np.isfinite(var["tamis_score"]).all()
    assert var["tamis_score"][chosen].min() >= var["tamis_score"][~chosen].max()
    assert "highly_variable_nbatches" not in var
    assert cells.uns["hvg"] == {"flavor": "tamis"}
    told = cells.uns["tamis"]
    assert told["n_groups"] == len(told["group_sizes"]) >= 3
    assert COUNTED in told["values"]
    assert (before != cells.X).nnz == 0


def test_a_guess_is_said():
    cells, _, _ = counted(n_cells=100)
    with pytest.warns(UserWarning, match=COUNTED):
        genes.select(cells, n_top_genes=50)


def test_counts_and_their_logarithms_give_one_choice_but_for_what_counts_tell():
    cells, _, _ = counted()
    ours = genes.select(cells, n_top_genes=40, layer="counts", inplace=False)
    cells.X = logged(cells)
    same = genes.select(cells, n_top_genes=40, inplace=False)
    assert (ours["highly_variable"] & same["highly_variable"]).sum() >= 34


def test_a_frame_and_a_subset():
    cells, _, _ = counted()
    frame = genes.select(cells, n_top_genes=30, layer="counts", inplace=False)
    assert list(frame.index) == list(cells.var_names)
    assert "highly_variable" not in cells.var
    assert not cells.uns
    few = genes.select(cells, n_top_genes=30, layer="counts", inplace=False, subset=True)
    assert list(few.index) == list(frame.index[frame["highly_variable"]])
    genes.select(cells, n_top_genes=30, layer="counts", subset=True)
    assert list(cells.var_names) == list(few.index)
    assert cells.X.shape[1] == cells.layers["counts"].shape[1] == 30


def test_the_order_of_genes_and_cells_plays_no_part_and_neither_does_the_form_of_the_matrix():
    cells, _, _ = counted()
    frame = genes.select(cells, n_top_genes=40, layer="counts", inplace=False)
    dense = Cells(cells.X.toarray())
    dense.layers["counts"] = np.asfortranarray(dense.X.astype(np.int64))
    same = genes.select(dense, n_top_genes=40, layer="counts", inplace=False)
    assert same.equals(frame)
    order = np.random.default_rng(0).permutation(600)
    turned = Cells(cells.X[:, order])
    turned.layers["counts"] = turned.X
    other = genes.select(turned, n_top_genes=40, layer="counts", inplace=False)
    again = other["highly_variable"].to_numpy()[np.argsort(order)]
    assert (again & frame["highly_variable"]).sum() >= 38


def test_batches():
    cells, _, marked = counted(n_cells=600)
    # A batch effect in fifty genes that mark nothing.
    shifted = np.flatnonzero(marked < 0)[:50]
    X = cells.X.toarray()
    first = (cells.obs["batch"] == "a").to_numpy()
    depth = X[first].sum(axis=1, keepdims=True)
    rate = np.repeat(6 * depth / np.median(depth), 50, axis=1)
    X[np.ix_(first, shifted)] = np.random.default_rng(1).poisson(rate)
    cells.layers["counts"] = sp.csr_matrix(X)
    with_key = genes.select(cells, n_top_genes=48, layer="counts", batch_key="batch", inplace=False)
    without = genes.select(cells, n_top_genes=48, layer="counts", inplace=False)
    assert without["highly_variable"].to_numpy()[shifted].sum() > 10
    assert with_key["highly_variable"].to_numpy()[shifted].sum() <= 2
    won = with_key["highly_variable_nbatches"]
    assert won.max() == 2
    assert (with_key["highly_variable_intersection"] == (won == 2)).all()
    chosen = with_key["highly_variable"]
    assert won[chosen].min() >= won[~chosen].max()


def test_a_mask_leaves_genes_out():
    cells, _, marked = counted()
    cells.var["ok"] = marked != 0
    frame = genes.select(cells, n_top_genes=60, layer="counts", mask_var="ok", inplace=False)
    assert not frame["highly_variable"][marked == 0].any()
    assert frame["highly_variable"].sum() == 60
    same = genes.select(cells, n_top_genes=60, layer="counts", mask_var=marked != 0, inplace=False)
    assert same.equals(frame)


def test_a_graph_that_is_there():
    cells, kinds, marked = counted(n_cells=800)
    same = sp.csr_matrix((kinds[:, None] == kinds).astype(float))
    same.setdiag(0)
    same.eliminate_zeros()
    cells.obsp["graph"] = same
    cells.uns["neighbors"] = {"connectivities_key": "graph"}
    for key in ("graph", "neighbors"):
        genes.select(cells, n_top_genes=48, layer="counts", neighbors_key=key)
        assert cells.uns["tamis"]["n_groups"] == 4
        assert cells.var["highly_variable"].to_numpy()[marked >= 0].sum() >= 44
    genes.select(cells, n_top_genes=48, layer="counts", neighbors_key="graph", n_clusters=2)
    assert cells.uns["tamis"]["n_groups"] == 2


def test_without_groups_dispersion_decides():
    rng = np.random.default_rng(0)
    cells = Cells(sp.csr_matrix(rng.poisson(1.0, (60, 80)).astype(np.float32)))
    cells.obsp["one"] = sp.csr_matrix(np.ones((60, 60)) - np.eye(60))
    cells.layers["counts"] = cells.X
    with pytest.warns(UserWarning, match="no two groups"):
        frame = genes.select(
            cells, n_top_genes=10, layer="counts", neighbors_key="one", inplace=False
        )
    best = genes.select(
        cells, n_top_genes=10, layer="counts", method="pearson_residuals", inplace=False
    )
    assert (frame["highly_variable"] == best["highly_variable"]).all()


@pytest.mark.parametrize("method", ["mrsf", "max_variance", "laplacian_score"])
def test_a_method_of_the_registry(method):
    cells, _, marked = counted()
    genes.select(cells, n_top_genes=30, layer="counts", method=method)
    assert cells.var["highly_variable"].sum() == 30
    assert cells.uns["tamis"]["method"] == method
    if method == "mrsf":
        assert cells.uns["tamis"]["n_support"] > 0
        assert cells.uns["tamis"]["optimality"] < 1e-3
        assert (marked[cells.var["highly_variable"].to_numpy()] >= 0).sum() >= 20


def test_what_is_told_of_depth_batches_and_names():
    cells, _, _ = counted()
    names = [f"g{i}" for i in range(600)]
    names[0], names[1], names[500] = "MT-CO1", "Rps4x", "mt-Nd1"
    cells.var.index = names
    genes.select(cells, n_top_genes=60, layer="counts", batch_key="batch")
    told = cells.uns["tamis"]["nuisances"]
    assert told["mitochondrial"]["all"] == 2
    assert told["ribosomal"] == {"selected": 1, "all": 1}
    assert 0 <= told["batch"]["all"] < 0.1
    said = genes.sentences(told)
    assert len(said) == 4
    assert "Of 2 mitochondrial genes, 1 is among the chosen." in said


def test_many_cells_are_drawn_from(monkeypatch):
    cells, _, marked = counted(n_cells=600)
    monkeypatch.setattr("tamis.genes._select.MOST_CELLS", 300)
    with pytest.warns(UserWarning, match="by 300 of the 600 cells"):
        genes.select(cells, n_top_genes=48, layer="counts", batch_key="batch")
    assert cells.uns["tamis"]["n_cells"] == 300
    assert cells.var["highly_variable"].to_numpy()[marked >= 0].sum() >= 32


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "seurat_v4"}, r"no method 'seurat_v4' \(did you mean seurat_v3"),
        ({"n_top_genes": 0}, "n_top_genes=0 must be a whole number"),
        ({"n_clusters": 1}, "n_clusters=1 must be"),
        ({"layer": "count"}, r"no layer 'count' \(did you mean counts\?\)"),
        ({"batch_key": "bach"}, r"no column 'bach' \(did you mean batch\?\)"),
        ({"mask_var": "ok"}, "var has no column 'ok'"),
        ({"mask_var": [True]}, "must hold 600 values"),
        ({"mask_var": np.zeros(600, dtype=bool)}, "leaves no gene"),
        ({"neighbors_key": "neighbors"}, "names no graph"),
        ({"method": "mrsf", "batch_key": "batch"}, "does not rank within batches"),
        ({"layer": "scaled"}, "negative values, as scaled"),
        ({"layer": "gaps"}, "contains NaN"),
        ({"layer": "logged", "method": "seurat_v3"}, "needs raw counts"),
    ],
)
def test_refusals(options, message):
    cells, _, _ = counted(n_cells=60)
    cells.layers["scaled"] = cells.X - 1.5 * (cells.X > 0)
    cells.layers["logged"] = logged(cells)
    cells.layers["gaps"] = np.full(cells.shape, np.nan)
    with pytest.raises(ValueError, match=message):
        genes.select(cells, **{"n_top_genes": 20, "layer": "counts", **options})


def test_missing_batches_and_too_many_genes():
    cells, _, _ = counted(n_cells=60)
    with pytest.warns(UserWarning, match="only 600 genes"):
        frame = genes.select(cells, layer="counts", method="seurat_v3", inplace=False)
    assert frame["highly_variable"].all()
    cells.obs.loc[cells.obs.index[3], "batch"] = None
    with pytest.raises(ValueError, match="missing for 1 cells"):
        genes.select(cells, n_top_genes=20, layer="counts", batch_key="batch")


def test_values_that_are_not_logged():
    cells, _, _ = counted(n_cells=100)
    cells.X = sp.csr_matrix(cells.X * 1000.5)
    genes.select(cells, n_top_genes=20)
    assert "not logged" in cells.uns["tamis"]["values"]


def test_a_selector_names_the_function():
    AnnData = type("AnnData", (), {"__module__": "anndata._core.anndata"})
    with pytest.raises(TypeError, match=r"tamis\.genes\.select\(adata\)"):
        MaxVariance().fit(AnnData())
