"""Tables that are read in blocks: every format, and every way in which a file can be wrong."""

from __future__ import annotations

import os

import h5py
import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
import zarr

from tamis import io

N, D = 900, 7


@pytest.fixture(name="X")
def table_fixture():
    return np.random.default_rng(0).normal(size=(N, D)).astype(np.float32)


def frame(X):
    return pa.table({f"c{j}": X[:, j] for j in range(X.shape[1])})


def write_npy(X, folder):
    np.save(folder / "x.npy", X)
    return folder / "x.npy"


def write_npy_by_columns(X, folder):
    np.save(folder / "x.npy", np.asfortranarray(X))
    return folder / "x.npy"


def write_parquet(X, folder):
    for part in range(3):
        rows = frame(X[part * 300 : (part + 1) * 300])
        pq.write_table(rows, folder / f"part-{part}.parquet", row_group_size=130)
    return folder / "*.parquet"


def write_feather(X, folder):
    pa.feather.write_feather(frame(X), folder / "x.feather", chunksize=250)
    return folder / "x.feather"


def write_csv(X, folder):
    head = ",".join(f"c{j}" for j in range(D))
    np.savetxt(folder / "x.csv", X, delimiter=",", header=head, comments="", fmt="%.9g")
    return folder / "x.csv"


def write_zarr(X, folder):
    zarr.save_array(folder / "x.zarr", X)
    return folder / "x.zarr"


def write_h5ad(X, folder, *, sparse=False):
    with h5py.File(folder / "x.h5ad", "w") as file:
        if sparse:
            table = sp.csr_array(X)
            group = file.create_group("X")
            group.attrs["encoding-type"], group.attrs["shape"] = "csr_matrix", table.shape
            for part in ("data", "indices", "indptr"):
                group[part] = getattr(table, part)
        else:
            file["X"] = X
        names = file.create_group("var")
        names.attrs["_index"] = "_index"
        names["_index"] = np.array([f"c{j}" for j in range(D)], dtype=h5py.string_dtype())
    return folder / "x.h5ad"


def write_sparse_h5ad(X, folder):
    return write_h5ad(X, folder, sparse=True)


FORMATS = [
    write_npy,
    write_npy_by_columns,
    write_parquet,
    write_feather,
    write_csv,
    write_zarr,
    write_h5ad,
    write_sparse_h5ad,
]


def whole(table, first=0):
    return np.vstack([rows for _, rows in table.read(first)])


@pytest.mark.parametrize("write", FORMATS)
def test_every_format(write, X, tmp_path, monkeypatch):
    monkeypatch.setattr("tamis.io._lazy.LARGEST_BLOCK", 100 * D)
    table = io.open(write(X, tmp_path))
    assert table.shape == (N, D)
    assert table.ndim == 2
    assert len(table.blocks) >= 9
    assert [block.number for block in table.blocks] == list(range(len(table.blocks)))
    assert table.names in (None, [f"c{j}" for j in range(D)])
    for (block, rows), start in zip(
        table.read(), np.cumsum([0] + [b.n_rows for b in table.blocks]), strict=False
    ):
        assert (block.start, block.n_rows) == (start, len(rows))
        assert rows.dtype == table.dtype
    np.testing.assert_allclose(whole(table), X, rtol=1e-8)
    np.testing.assert_array_equal(whole(table, 4), whole(table)[table.blocks[4].start :])
    np.testing.assert_allclose(table.first_row(), X[0], rtol=1e-8)
    assert "rows" in repr(table)
    if table.names:
        fewer = io.open(write(X, tmp_path), drop=["c1", "c[56]"])
        assert fewer.names == ["c0", "c2", "c3", "c4"]
        np.testing.assert_allclose(whole(fewer), X[:, [0, 2, 3, 4]], rtol=1e-8)


def test_types(tmp_path):
    columns = {
        "flag": [True, False, True],
        "small": np.array([1, 2, 3], dtype=np.int16),
        "large": np.array([1, 2, 2**40]),
        "gaps": pa.array([1.5, None, 2.5]),
        "name": ["a", "b", "c"],
        "day": pa.array([1, 2, 3], pa.date32()),
    }
    path = tmp_path / "mixed.parquet"
    pq.write_table(pa.table(columns), path)
    with pytest.raises(io.TableError, match=r"columns 'name', 'day' hold text, not numbers.*drop="):
        io.open(path)
    table = io.open(path, numeric_only=True)
    assert table.left_out == ["name", "day"]
    assert table.dtype == np.float64
    expected = [[1, 1, 1, 1.5], [0, 2, 2, np.nan], [1, 3, 2**40, 2.5]]
    np.testing.assert_array_equal(whole(table), expected)
    assert io.open(path, drop=["large", "gaps", "name", "day"]).dtype == np.float32


def test_files_are_taken_in_the_order_of_their_numbers(tmp_path):
    for number in (0, 1, 2, 9, 10, 11, *range(3, 9)):
        np.save(tmp_path / f"part{number}.npy", np.full((3, 2), number))
    (tmp_path / "_SUCCESS").touch()
    for name in (
        tmp_path,
        f"{tmp_path}/*.npy",
        [f"{tmp_path}/part?.npy", f"{tmp_path}/part1?.npy"],
    ):
        np.testing.assert_array_equal(whole(io.open(name))[::3, 0], range(12))
    (tmp_path / "part4.npy").unlink()
    with pytest.warns(io.TableWarning, match="numbered from 0 to 11, but 4 is missing"):
        assert io.open(tmp_path).shape == (33, 2)


@pytest.mark.parametrize(
    ("memory", "n_bytes"), [("2GB", 2 * 10**9), ("64 MiB", 64 << 20), ("1.5g", 15 * 10**8)]
)
def test_amounts_of_memory(memory, n_bytes, tmp_path):
    np.save(tmp_path / "x.npy", np.eye(3))
    assert io.open(tmp_path / "x.npy", memory=memory).memory == n_bytes


@pytest.mark.parametrize("memory", ["two", "3 XB", "GB", 1000])
def test_no_amounts_of_memory(memory, tmp_path):
    np.save(tmp_path / "x.npy", np.eye(3))
    with pytest.raises(io.TableError, match="memory="):
        io.open(tmp_path / "x.npy", memory=memory)


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("none.npy", "there is no such file"),
        ("none-*.npy", "no file matches"),
        ("empty", "the folder holds no table"),
        ("text.npy", "not NPY"),
        ("three.npy", "3 dimensions"),
        ("words.npy", "objects or text, not numbers"),
        ("short.npy", "cut short"),
        ("short.parquet", "damaged, cut short, or not Parquet"),
        ("one.npy", "1 rows are too few"),
        ("x.xlsx", "are not read in blocks"),
    ],
)
def test_what_cannot_be_opened(name, what, tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "text.npy").write_text("a,b\n1,2\n")
    np.save(tmp_path / "three.npy", np.ones((2, 2, 2)))
    np.save(tmp_path / "words.npy", np.array([["a", "b"]] * 3))
    np.save(tmp_path / "one.npy", np.ones((1, 3)))
    np.save(tmp_path / "short.npy", np.ones((100, 3)))
    pq.write_table(frame(np.ones((100, 3))), tmp_path / "short.parquet")
    for damaged in ("short.npy", "short.parquet"):
        os.truncate(tmp_path / damaged, (tmp_path / damaged).stat().st_size // 2)
    with pytest.raises(io.TableError, match=what) as raised:
        io.open(tmp_path / name)
    assert name in str(raised.value)
    assert "\n" not in str(raised.value)


def test_parts_with_other_columns(X, tmp_path):
    first, second = tmp_path / "a.parquet", tmp_path / "b.parquet"
    pq.write_table(frame(X), first)
    pq.write_table(frame(X).rename_columns(["c0", "b", "c2", "c3", "c4", "c5", "c6"]), second)
    with pytest.raises(io.TableError, match=r"b.parquet has other .* without column 'c1'; with"):
        io.open(tmp_path)
    pq.write_table(frame(X).select([f"c{j}" for j in reversed(range(D))]), second)
    with pytest.raises(io.TableError, match="the same columns in another order"):
        io.open(tmp_path)


def test_a_part_that_changes_or_goes(X, tmp_path):
    pattern = write_parquet(X, tmp_path)
    table = io.open(pattern)
    blocks = table.read()
    next(blocks)
    last = tmp_path / "part-2.parquet"
    os.utime(last, ns=(1, 1))
    with pytest.raises(io.TableError, match=r"part-2.parquet, row group 0: the file has changed"):
        list(blocks)
    table = io.open(pattern)
    last.unlink()
    with pytest.raises(io.TableError, match=r"part-2.parquet, row group 0: the file is gone"):
        list(table.read())


def test_a_row_group_that_is_damaged_in_the_middle(X, tmp_path):
    path = tmp_path / "x.parquet"
    pq.write_table(frame(X), path, row_group_size=300, compression="snappy", use_dictionary=False)
    start = pq.ParquetFile(path).metadata.row_group(1).column(0).data_page_offset
    with path.open("r+b") as file:
        file.seek(start)
        file.write(b"\xff" * 200)
    table = io.open(path)
    with pytest.raises(io.TableError, match=r"x.parquet, row group 1: damaged or cut short"):
        list(table.read())


def test_a_file_that_is_cut_behind_our_back(X, tmp_path, monkeypatch):
    path = write_npy(X, tmp_path)
    table = io.open(path)
    os.truncate(path, 1000)
    monkeypatch.setattr(type(table), "_refuse_changed", lambda *_: None)
    with pytest.raises(io.TableError, match="the file ends too early"):
        list(table.read())


def test_text_further_down(X, tmp_path):
    path = tmp_path / "x.csv"
    # Types are read off the first megabyte.
    path.write_text("a,b\n" + "123456789,1234567890\n" * 60_000 + "1,three\n")
    table = io.open(path)
    with pytest.raises(io.TableError, match="three"):
        list(table.read())


def test_text_without_names_and_with_semicolons(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("1;2\n3;\n5;6.5\n")
    table = io.open(path)
    assert table.names is None
    np.testing.assert_array_equal(whole(table), [[1, 2], [3, np.nan], [5, 6.5]])


# --- writing ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "target", ["x.csv", "x.tsv", "x.parquet", "x.feather", "x.npy", "x.csv.gz"]
)
@pytest.mark.parametrize("write", FORMATS)
def test_columns_are_written_in_blocks(write, target, X, tmp_path, monkeypatch):
    monkeypatch.setattr("tamis.io._lazy.LARGEST_BLOCK", 100 * D)
    (tmp_path / "in").mkdir()
    table = io.open(write(X, tmp_path / "in"))
    names = [table.all_names[j] for j in (4, 1)]
    io.write_columns(table, names, tmp_path / target)
    if target == "x.npy":
        found = np.load(tmp_path / target)
    else:
        again = io.read(tmp_path / target)
        assert again.feature_names.tolist() == names
        found = again.X
    np.testing.assert_array_equal(found.astype(np.float32), X[:, [4, 1]])
    assert {path.name for path in tmp_path.iterdir()} == {"in", target}


def test_types_are_kept_and_widened(tmp_path):
    first = {"day": pa.array([1, 2], pa.date32()), "a": pa.array([1, None], pa.int8())}
    second = {"day": pa.array([3, 4], pa.date32()), "a": pa.array([2.5, 1.0])}
    for name, columns in (("0", first), ("1", second)):
        pq.write_table(pa.table(columns | {"b": [1.0, 2.0]}), tmp_path / f"{name}.parquet")
    table = io.open(tmp_path / "?.parquet", numeric_only=True)
    io.write_columns(table, ["day", "a"], tmp_path / "both.parquet")
    found = pq.read_table(tmp_path / "both.parquet")
    assert found.schema.types == [pa.date32(), pa.float64()]
    assert found.column("a").to_pylist() == [1.0, None, 2.5, 1.0]
    io.write_columns(table, ["day", "a"], tmp_path / "both.csv")
    rows = (tmp_path / "both.csv").read_text().splitlines()
    assert rows == ["day,a", "1970-01-02,1", "1970-01-03,", "1970-01-04,2.5", "1970-01-05,1.0"]
    with pytest.raises(io.TableError, match=r"NPY holds numbers only, .* in column 'day'"):
        io.write_columns(table, ["day", "a"], tmp_path / "both.npy")


def test_what_is_not_written(X, tmp_path):
    pattern = write_parquet(X, tmp_path)
    table = io.open(pattern)
    for name, columns, what in [
        ("out.xlsx", ["c1"], "Excel files are not written in blocks"),
        ("out.csv", ["d1"], "there is no column 'd1' to write; there are 'c0'"),
        ("part-1.parquet", ["c1"], "this is the input"),
        ("out.csv", [], "there is no column to write"),
    ]:
        before = sorted(tmp_path.iterdir())
        with pytest.raises(io.TableError, match=what):
            io.write_columns(table, columns, tmp_path / name)
        assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize("target", ["small.npy", "small.csv"])
def test_memory_while_writing_is_that_of_a_block(target, tmp_path):
    from references.memory import with_peak_memory

    X = np.random.default_rng(0).integers(0, 9, size=(60_000, 40)).astype(float)
    np.save(tmp_path / "x.npy", X)
    table = io.open(tmp_path / "x.npy", memory="16MiB")
    names = table.all_names[:10]
    _, peak = with_peak_memory(io.write_columns, table, names, tmp_path / target)
    assert peak < 4 << 20  # the table has 19 million bytes, the columns 5
