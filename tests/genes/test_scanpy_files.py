"""AnnData in memory, in files, backed and with dask; the command line on its files."""

from __future__ import annotations

import numpy as np
import pytest
from typer.testing import CliRunner

from genes.planted import planted
from tamis import genes
from tamis.cli import app

NEEDS = "needs anndata, which `make test` has in an environment of its own (.venv-scanpy)"
anndata = pytest.importorskip("anndata", reason=NEEDS)

pytestmark = pytest.mark.filterwarnings("ignore")  # of anndata and what it stands on


@pytest.fixture
def cells():
    counts, kinds, _ = planted()
    adata = anndata.AnnData(counts)
    adata.obs["sample"] = (np.arange(len(kinds)) % 2).astype(str)
    adata.layers["counts"] = adata.X.copy()
    return adata


def expected(adata):
    return genes.select(adata, n_top_genes=50, inplace=False)


@pytest.mark.parametrize("method", ["auto", "seurat_v3"])
@pytest.mark.parametrize("format", ["h5ad", "zarr"])
def test_what_is_written_comes_back(cells, tmp_path, format, method):
    genes.select(cells, n_top_genes=50, method=method, batch_key="sample")
    path = tmp_path / f"cells.{format}"
    getattr(cells, f"write_{format}")(path)
    back = getattr(anndata, f"read_{format}")(path)
    assert back.var.equals(cells.var)
    assert back.uns["hvg"] == cells.uns["hvg"]
    told = back.uns["tamis"]
    assert set(told) == set(cells.uns["tamis"])
    assert genes.sentences(told["nuisances"]) == genes.sentences(cells.uns["tamis"]["nuisances"])


@pytest.mark.parametrize("dense", [False, True])
def test_backed(cells, tmp_path, dense):
    frame = expected(cells)
    if dense:
        cells.X = cells.X.toarray()
    cells.write_h5ad(tmp_path / "cells.h5ad")
    backed = anndata.read_h5ad(tmp_path / "cells.h5ad", backed="r")
    genes.select(backed, n_top_genes=50)
    assert backed.isbacked
    assert (backed.var["highly_variable"] == frame["highly_variable"]).all()
    with pytest.raises(ValueError, match="cannot be cut in place"):
        genes.select(backed, n_top_genes=50, subset=True)


@pytest.mark.parametrize("dense", [False, True])
def test_dask(cells, dense):
    dask = pytest.importorskip("dask.array")
    frame = expected(cells)
    X = cells.X.toarray() if dense else cells.X
    parts = [X[start : start + 150] for start in range(0, X.shape[0], 150)]
    cells.X = dask.concatenate([dask.from_array(part, chunks=part.shape) for part in parts])
    assert expected(cells).equals(frame)


def test_views_and_subsets(cells):
    view = cells[50:, :300]
    genes.select(view, n_top_genes=30)
    assert view.var["highly_variable"].sum() == 30
    assert "highly_variable" not in cells.var
    genes.select(cells, n_top_genes=30, subset=True)
    assert cells.shape == (cells.n_obs, 30)
    assert cells.layers["counts"].shape[1] == 30


def run(*arguments):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments], prog_name="tamis")
    assert result.exit_code == 0, result.output
    return result.stdout


def test_the_command_line_marks_genes(cells, tmp_path):
    path, out = tmp_path / "cells.h5ad", tmp_path / "marked.h5ad"
    cells.write_h5ad(path)
    said = run("select", path, "--layer", "counts", "--batch", "sample", "-k", 50, "-o", out)
    assert "Ranked within 2 batches" in said
    assert "raw counts" in said
    assert "all 600 genes; the chosen are marked in var" in said
    back = anndata.read_h5ad(out)
    assert back.shape == cells.shape
    frame = genes.select(cells, n_top_genes=50, layer="counts", batch_key="sample", inplace=False)
    assert back.var.equals(frame)
    assert "highly_variable" not in anndata.read_h5ad(path).var


def test_the_command_line_cuts_to_genes(cells, tmp_path):
    path, out = tmp_path / "cells.h5ad", tmp_path / "cut.zarr"
    cells.write_h5ad(path)
    said = run("select", path, "--subset", "-k", "0.1", "-m", "seurat_v3", "-o", out)
    assert "It holds the 60 chosen genes" in said
    assert anndata.read_zarr(out).shape == (cells.n_obs, 60)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--batch", "smple"], "did you mean sample?"),
        (["--subset"], "--subset says what -o writes"),
        (["--genes", "-o", "x.csv"], "h5ad files and Zarr stores only"),
        (["--genes", "--keep", "g1"], "--keep does not go with --genes"),
    ],
)
def test_the_command_line_refuses(cells, tmp_path, monkeypatch, options, message):
    monkeypatch.chdir(tmp_path)
    cells.write_h5ad("cells.h5ad")
    result = CliRunner().invoke(app, ["select", "cells.h5ad", *options], prog_name="tamis")
    assert result.exit_code == 2
    assert message in result.stderr
