"""Parquet, Feather, Excel, ARFF and MATLAB files as other programs write them."""

from __future__ import annotations

import sys

import h5py
import numpy as np
import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
import scipy.io
import scipy.sparse as sp

from tamis import io
from tamis.io import TableError


class TestArrow:
    @pytest.fixture(params=["t.parquet", "t.feather"])
    def save(self, request, tmp_path):
        def save(columns, **options):
            frame = columns if isinstance(columns, pa.Table) else pa.table(columns)
            path = tmp_path / request.param
            if request.param == "t.parquet":
                pa.parquet.write_table(frame, path, row_group_size=options.get("rows"))
            else:
                pa.feather.write_feather(frame, path, chunksize=options.get("rows"))
            return path

        return save

    def test_missing_labels_and_ids_are_empty(self, save):
        X = {"a": [1.0, 2.0, 3.0], "b": [4.0, 6.0, 5.0]}
        path = save({**X, "kind": ["x", None, "y"], "name": [None, "p", "q"]})
        table = io.read(path, labels="kind", ids="name")
        assert table.labels.tolist() == ["x", "", "y"]
        assert table.ids.tolist() == ["", "p", "q"]
        numbers = save({**X, "kind": [1, None, 2]})
        assert io.read(numbers, labels="kind").labels.tolist() == ["1", "", "2"]

    def test_several_groups(self, save):
        X = np.arange(30.0).reshape(10, 3)
        path = save({name: X[:, j] for j, name in enumerate(["a", "a.b", "c"])}, rows=3)
        table = io.read(path)
        np.testing.assert_array_equal(table.X, X)
        assert table.feature_names.tolist() == ["a", "a.b", "c"]

    def test_parts_of_a_group(self, save, monkeypatch):
        monkeypatch.setattr("tamis.io._arrow._PART_SIZE", 12)
        X = np.arange(50.0).reshape(10, 5)
        table = io.read(
            save({f"c{j}": X[:, j] for j in range(5)} | {"y": list("ababababab")}, rows=4),
            labels="y",
        )
        np.testing.assert_array_equal(table.X, X)
        assert table.labels.tolist() == list("ababababab")

    def test_types(self, save):
        single = {"a": np.ones(2, np.float32), "b": np.zeros(2, np.float32)}
        assert io.read(save(single)).X.dtype == np.float32
        mixed = {"a": [True, False], "b": np.array([1, 2], np.int16), "c": [0.5, 1.5]}
        table = io.read(save(mixed))
        assert table.X.dtype == np.float64
        assert table.X.tolist() == [[1, 1, 0.5], [0, 2, 1.5]]
        assert io.read(save({"a": [True, False], "b": [True, True]})).X.tolist() == [[1, 1], [0, 1]]

    def test_refusals(self, save):
        for columns, message in (
            ({"a": [1.0], "b": ["x"], "c": [1.0]}, "not numbers in column 'b' .*of type string"),
            (
                {"a": [1.0, None, 2], "b": [None, None, 1], "c": [1, 2, 3]},
                "values in columns 'a', 'b', in 2 of 3 rows",
            ),
            ({"a": [1.0, np.nan], "b": [1.0, 2]}, "values in column 'a', in 1 of 2 rows"),
            ({"a": pa.array([], pa.float64()), "b": pa.array([], pa.float64())}, "no rows"),
            (
                pa.Table.from_arrays([pa.array([1.0]), pa.array([2.0])], names=["a", "a"]),
                "of the same name: column 'a'",
            ),
        ):
            with pytest.raises(TableError, match=message):
                io.read(save(columns))

    def test_the_index_of_a_pandas_frame(self, save):
        frame = pd.DataFrame({"a": [1.0, 2], "b": [3.0, 4]}, index=["r1", "r2"])
        table = io.read(save(pa.Table.from_pandas(frame)))
        assert table.ids.tolist() == ["r1", "r2"]
        assert table.feature_names.tolist() == ["a", "b"]
        assert "index of the pandas frame" in table.notes[0]


class TestExcel:
    @pytest.fixture
    def save(self, tmp_path):
        def save(*sheets):
            book = openpyxl.Workbook()
            book.remove(book.active)
            for i, rows in enumerate(sheets):
                sheet = book.create_sheet(f"sheet{i}")
                for row in rows:
                    sheet.append(row)
            book.save(tmp_path / "t.xlsx")
            return tmp_path / "t.xlsx"

        return save

    def test_sheets(self, save):
        path = save([["a", "b"], [1, 2]], [["c", "d"], [3, 4]])
        table = io.read(path)
        assert table.feature_names.tolist() == ["a", "b"]
        assert table.notes == ("Of 2 sheets, 'sheet0' is taken; key=… names another: 'sheet1'.",)
        assert io.read(path, key="sheet1").X.tolist() == [[3, 4]]
        with pytest.raises(TableError, match="no sheet 'sheet7'; did you mean"):
            io.read(path, key="sheet7")

    def test_an_index_column(self, save):
        table = io.read(save([[None, "a", "b"], [0, 1.5, 2], [1, 3, 4]]))
        assert table.ids.tolist() == ["0", "1"]
        assert table.feature_names.tolist() == ["a", "b"]
        assert table.notes == ("The first column has no name: taken as row ids.",)

    def test_a_header_of_numbers(self, save):
        path = save([[2019, 2020, 2021], [1.5, 2.5, 4.5], [2.5, 0.5, 3.5]])
        with pytest.warns(io.TableWarning, match="goes up like names"):
            assert io.read(path).feature_names.tolist() == ["2019", "2020", "2021"]
        assert io.read(path, header=False).X.shape == (3, 3)
        assert io.read(path, labels="2020").X.shape == (2, 2)

    def test_a_first_sheet_that_holds_no_table(self, save):
        with pytest.raises(TableError, match=r"not numbers.*Of 2 sheets, 'sheet0' is taken; key="):
            io.read(save([["read", "me"], ["some", "text"]], [["a", "b"], [1, 2]]))

    def test_numbers_written_as_text(self, save):
        table = io.read(save([["a", "b"], ["1,5", 2.5], ["3,25", 1]]))
        assert table.X.tolist() == [[1.5, 2.5], [3.25, 1]]

    def test_without_header_and_with_blank_rows(self, save):
        table = io.read(save([[1, 2], [], [3, True]]))
        assert table.X.tolist() == [[1, 2], [3, 1]]
        assert "numbers only" in table.notes[0]

    def test_refusals(self, save):
        for rows, message in (
            ([], "is empty"),
            ([["a", "b"], [1, None]], "missing.*column 'b'"),
            ([["a", "b"], [1, "x"]], "not numbers in column 'b'"),
            ([["a", "b"], [1, 2, 3]], "row 2 has 3 cells"),
        ):
            with pytest.raises(TableError, match=message):
                io.read(save(rows))

    def test_sheets_have_an_end(self, tmp_path):
        table = io.Table(X=np.zeros((1, 17_000)), feature_names=np.arange(17_000).astype(object))
        with pytest.raises(TableError, match="do not fit a sheet"):
            io.write_table(table, range(17_000), tmp_path / "t.xlsx")


class TestArff:
    HEADER = (
        "@relation r\n@attribute a numeric\n@attribute 'b c' real\n@attribute Class {x,y}\n@data\n"
    )

    @pytest.fixture
    def read(self, tmp_path):
        def read(content, **options):
            (tmp_path / "t.arff").write_text(content)
            return io.read(tmp_path / "t.arff", **options)

        return read

    def test_dense(self, read):
        table = read("% comment\n" + self.HEADER + "1,2,x\n3,4.5,y\n")
        assert table.feature_names.tolist() == ["a", "b c"]
        assert table.X.tolist() == [[1, 2], [3, 4.5]]
        assert table.labels.tolist() == ["x", "y"]
        assert "'Class' is taken as labels" in table.notes[0]

    def test_sparse(self, read):
        table = read(self.HEADER + "{0 1, 2 y}\n{}\n{1 2.5}\n")
        assert sp.issparse(table.X)
        assert table.X.toarray().tolist() == [[1, 0], [0, 0], [0, 2.5]]
        assert table.labels.tolist() == ["y", "x", "x"]  # the first value stands for zero

    def test_refusals(self, read):
        for content, message in (
            (self.HEADER + "1,?,x\n", "missing.*'b c'"),
            (self.HEADER + "{0 1, 1 ?}\n", "missing.*'b c'"),
            (self.HEADER + "1,2\n", "damaged"),
            (self.HEADER.replace("Class", "kind") + "1,2,x\n", "not numbers in column 'kind'"),
            (self.HEADER.replace("Class", "kind") + "{0 1}\n", "not numbers in column 'kind'"),
            (self.HEADER.replace("'b c'", "a") + "1,2,x\n", "called the same"),
            (self.HEADER, "no rows"),
            ("hello\nworld\n", "damaged, cut short, or not ARFF"),
        ):
            with pytest.raises(TableError, match=message):
                read(content)


class TestMatlab:
    @pytest.mark.parametrize(("X", "y"), [("X", "Y"), ("fea", "gnd"), ("anything", "label")])
    def test_usual_names(self, tmp_path, X, y):
        scipy.io.savemat(tmp_path / "t.mat", {X: np.eye(3), y: np.array([[1], [2], [1]])})
        table = io.read(tmp_path / "t.mat")
        assert table.X.tolist() == np.eye(3).tolist()
        assert table.labels.tolist() == [1, 2, 1]

    def test_version_7_3(self, tmp_path):
        X = sp.csc_array(np.array([[0, 1.5, 0], [2, 0, 3]]))
        with h5py.File(tmp_path / "t.mat", "w", userblock_size=512) as file:
            file["X"] = np.arange(6.0).reshape(3, 2)  # columns come first
            file["Y"] = np.array([[1.0, 2.0]])
            group = file.create_group("S")
            group.attrs["MATLAB_sparse"] = 2
            group["data"], group["ir"], group["jc"] = X.data, X.indices, X.indptr
            names = file.create_group("#refs#")
            cells = []
            for i, name in enumerate(["a", "bé", "c"]):
                units = np.frombuffer(name.encode("utf-16-le"), "<u2").reshape(-1, 1)
                cells.append(names.create_dataset(str(i), data=units).ref)
            file.create_dataset("feature_names", data=np.array([cells], dtype=h5py.ref_dtype))
        with open(tmp_path / "t.mat", "r+b") as file:
            file.write(b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM")
        table = io.read(tmp_path / "t.mat")
        assert table.X.tolist() == [[0, 2, 4], [1, 3, 5]]
        assert table.labels.tolist() == [1, 2]
        assert table.feature_names.tolist() == ["a", "bé", "c"]
        sparse = io.read(tmp_path / "t.mat", key="S")
        assert sparse.X.toarray().tolist() == X.toarray().tolist()

    @pytest.mark.parametrize(("kind", "name"), [(6, "double"), (9, "logical"), (9, "uint8")])
    def test_the_class_of_a_variable_stays(self, tmp_path, kind, name):
        X = np.array([[0, 1, 1], [1, 0, 1]], dtype=np.uint8)
        scipy.io.savemat(tmp_path / "in.mat", {"X": X.astype(bool) if name == "logical" else X})
        content = bytearray((tmp_path / "in.mat").read_bytes())
        content[144] = kind  # as MATLAB does, which stores small doubles as bytes
        (tmp_path / "in.mat").write_bytes(content)
        assert scipy.io.whosmat(tmp_path / "in.mat")[0][2] == name
        table = io.read(tmp_path / "in.mat")
        assert table.X.tolist() == X.tolist()
        io.write_table(table, [2, 0], tmp_path / "out.mat")
        assert scipy.io.whosmat(tmp_path / "out.mat")[0] == ("X", (2, 2), name)

    def test_version_7_3_without_h5py(self, tmp_path, monkeypatch):
        (tmp_path / "t.mat").write_bytes(b"MATLAB 7.3 MAT-file".ljust(512))
        monkeypatch.setitem(sys.modules, "h5py", None)
        with pytest.raises(TableError, match=r"library h5py: pip install 'tamis\[hdf5\]'"):
            io.read(tmp_path / "t.mat")

    def test_sparse_indices_out_of_range(self, tmp_path):
        with h5py.File(tmp_path / "t.mat", "w") as file:
            group = file.create_group("X")
            group.attrs["MATLAB_sparse"] = 2
            group["data"], group["ir"], group["jc"] = np.ones(2), [0, 10**6], [0, 1, 2]
        with pytest.raises(TableError, match="damaged"):
            io.read(tmp_path / "t.mat")


def test_missing_labels_and_ids_of_a_workbook_are_empty(tmp_path):
    book = openpyxl.Workbook()
    for row in (["a", "b", "kind", "name"], [1, 3, "x", None], [2, 5, None, "p"]):
        book.active.append(row)
    book.save(tmp_path / "t.xlsx")
    table = io.read(tmp_path / "t.xlsx", labels="kind", ids="name")
    assert table.labels.tolist() == ["x", ""]
    assert table.ids.tolist() == ["", "p"]
    io.write_table(table, [0], tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text() == "name,kind,a\n,x,1\np,,2\n"
