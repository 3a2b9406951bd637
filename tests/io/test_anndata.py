"""Files that anndata itself wrote: read, marked, and otherwise left as they are."""

from __future__ import annotations

import shutil
from pathlib import Path

import h5py
import numpy as np
import pytest
import scipy.sparse as sp
import zarr

from tamis import MaxVariance, io
from tamis.io import TableError

DATA = Path(__file__).parent / "data"
COUNTS = np.load(DATA / "counts.npy")


@pytest.fixture(params=["dense.h5ad", "csc.h5ad", "csr.zarr"])
def path(request, tmp_path):
    if request.param.endswith(".zarr"):
        shutil.unpack_archive(DATA / f"{request.param}.zip", tmp_path / request.param)
        return tmp_path / request.param
    return Path(shutil.copy(DATA / request.param, tmp_path))


def opened(path):
    return h5py.File(path, "r") if path.suffix == ".h5ad" else zarr.open(path, mode="r")


def test_read(path):
    table = io.read(path, labels="cell_type")
    assert sp.issparse(table.X) == (path.name != "dense.h5ad")
    np.testing.assert_array_equal(table.X.toarray() if sp.issparse(table.X) else table.X, COUNTS)
    assert table.X.dtype == np.float32
    assert table.feature_names.tolist() == ["TP53", "BRCA1", "MYC", "GAPDH"]
    assert table.ids.tolist() == [f"cell{i}" for i in range(5)]
    assert table.labels.tolist() == ["T", "B", "T", "", "B"]


def test_other_columns_and_layers(path):
    table = io.read(path, labels="batch", ids="cell_type", key="layers/counts")
    assert table.labels.tolist() == [0, 1, 0, 1, 1]
    assert table.ids.tolist() == ["T", "B", "T", "", "B"]
    assert io.read(path, labels="good").labels.tolist() == ["True", "False", "", "True", "True"]


def test_selection_is_written_into_var_of_a_full_copy(path, tmp_path):
    table = io.read(path)
    selector = MaxVariance(2).fit(table.X)
    out = tmp_path / f"out{path.suffix}"
    columns = selector.get_support(indices=True)
    for _ in range(2):  # the second time over its own output
        io.write_table(table, columns, out, selector=selector)
    tree = opened(out)
    var = tree["var"]
    np.testing.assert_array_equal(var["tamis_score"][...], selector.scores_)
    np.testing.assert_array_equal(var["tamis_rank"][...], selector.ranking_)
    np.testing.assert_array_equal(var["tamis_selected"][...], selector.get_support())
    assert list(var.attrs["column-order"]) == [
        "chromosome",
        "tamis_score",
        "tamis_rank",
        "tamis_selected",
    ]
    assert "X_pca" in tree["obsm"]
    assert "note" in tree["uns"]
    assert "tamis_score" not in opened(path)["var"]
    # Marks of an earlier selection are replaced.
    again = tmp_path / f"again{path.suffix}"
    io.write_table(io.read(out), [0], again)
    assert opened(again)["var"]["tamis_selected"][...].tolist() == [True, False, False, False]


def test_wrong_names(path):
    with pytest.raises(
        TableError, match=r"obs has no column 'celltype'.* did you mean 'cell_type'"
    ):
        io.read(path, labels="celltype")
    with pytest.raises(TableError, match=r"no layer 'count' \(did you mean 'counts'"):
        io.read(path, key="layers/count")


def test_output_inside_the_input_store(tmp_path):
    store = tmp_path / "in.zarr"
    shutil.unpack_archive(DATA / "csr.zarr.zip", store)
    before = sorted(store.rglob("*"))
    for target in (store, store / "X" / "out.csv", tmp_path / "." / "in.zarr"):
        with pytest.raises(TableError, match="this is the input"):
            io.write_table(io.read(store), [0], target)
    assert sorted(store.rglob("*")) == before


def test_plain_zarr_array(tmp_path):
    zarr.save_array(tmp_path / "plain.zarr", np.arange(6.0).reshape(2, 3))
    assert io.read(tmp_path / "plain.zarr").X.tolist() == [[0, 1, 2], [3, 4, 5]]


def test_plain_zarr_group(tmp_path):
    group = zarr.open_group(tmp_path / "group.zarr", mode="w")
    group.create_array("X", data=np.arange(6.0).reshape(2, 3))
    assert io.read(tmp_path / "group.zarr").X.shape == (2, 3)
    with pytest.raises(TableError, match="without a table obs"):
        io.read(tmp_path / "group.zarr", labels="kind")


def test_a_folder_of_other_things_is_not_replaced(tmp_path):
    (tmp_path / "out.zarr").mkdir()
    (tmp_path / "out.zarr" / "thesis.txt").write_text("years of work")
    table = io.Table(X=np.eye(3), feature_names=np.array(list("abc"), dtype=object))
    with pytest.raises(TableError, match="holds no Zarr store"):
        io.write_table(table, [0, 1], tmp_path / "out.zarr")
    assert (tmp_path / "out.zarr" / "thesis.txt").read_text() == "years of work"
    assert len(list(tmp_path.iterdir())) == 1
