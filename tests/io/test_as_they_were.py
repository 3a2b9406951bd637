"""What is written is what the file holds: values, types, text, separator and encoding."""

from __future__ import annotations

import csv
import datetime
import decimal
from dataclasses import replace

import numpy as np
import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tamis import io
from tamis.io import TableError, TableWarning

BIG = 9007199254740993  # the first whole number that is no float


def copied(path, columns, target, **options):
    """Columns of a file, written to another; X is scaled in place before, as the command does."""
    table = io.read(path, **options)
    if isinstance(table.X, np.ndarray):
        table.X[:] = 0
    io.write_table(table, columns, target)
    return target


class TestText:
    CELLS = (
        f"name;day;a;b;c;d\n"
        f"p1;2024-01-02;{BIG};1.10;TRUE;007\n"
        f"p2;2024-01-03;{BIG + 2};2.50;false;1e3\n"
        f"p3;2024-01-04;-5;0.30;True;+4\n"
    )  # fmt: skip
    KEPT = (
        f"day;name;a;b;c;d\n"
        f"2024-01-02;p1;{BIG};1.10;TRUE;007\n"
        f"2024-01-03;p2;{BIG + 2};2.50;false;1e3\n"
        f"2024-01-04;p3;-5;0.30;True;+4\n"
    )  # fmt: skip

    @pytest.mark.parametrize("separator", [";", ",", "\t"])
    @pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
    @pytest.mark.parametrize(
        "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-be", "utf-16-le", "latin-1"]
    )
    def test_cells_separator_line_ends_and_encoding_stay(
        self, tmp_path, separator, ending, encoding
    ):
        def written(text):
            text = text.replace("p1", "pé").replace(";", separator).replace("\n", ending)
            return text.encode(encoding)

        (tmp_path / "in.csv").write_bytes(written(self.CELLS))
        out = copied(
            tmp_path / "in.csv", [0, 1, 2, 3], tmp_path / "out.csv", labels="name", ids="day"
        )
        assert out.read_bytes() == written(self.KEPT)

    def test_utf_16_with_its_mark_the_other_way_round(self, tmp_path):
        text = "\ufeffä,b,c\n1,2,3\n4,6,5\n"
        (tmp_path / "in.csv").write_bytes(text.encode("utf-16-be"))
        out = copied(tmp_path / "in.csv", [0, 2], tmp_path / "out.csv")
        assert out.read_bytes().decode("utf-16-be") == "\ufeffä,c\n1,3\n4,5\n"

    def test_quotes_and_comments_stay(self, tmp_path):
        (tmp_path / "in.csv").write_text(
            '# by X, in mm\n\n"a ""x""",b ,"c,d",e\n"1,000", 2 ,"3",x "y"\n"4","5\n",6.0,"z,\nz"\n'
        )
        out = copied(tmp_path / "in.csv", [2, 0, 1], tmp_path / "out.csv", labels="e")
        assert out.read_text() == (
            '# by X, in mm\ne,"c,d","a ""x""",b \nx "y","3","1,000", 2 \n"z,\nz",6.0,"4","5\n"\n'
        )

    def test_tabs_where_the_name_asks_for_them(self, tmp_path):
        (tmp_path / "in.csv").write_text('a;b;"c\td"\n1,50;2;3\n4;5;6\n')
        out = copied(tmp_path / "in.csv", [0, 2], tmp_path / "out.tsv")
        assert out.read_text() == 'a\t"c\td"\n1,50\t3\n4\t6\n'
        back = copied(tmp_path / "out.tsv", [0, 1], tmp_path / "back.csv")
        assert back.read_text() == "a;c\td\n1,50;3\n4;6\n"

    def test_compression_is_that_of_the_name(self, tmp_path):
        (tmp_path / "in.csv").write_text("a,b,c\n1.0,2,3\n4.50,5,6\n")
        out = copied(tmp_path / "in.csv", [0, 2], tmp_path / "out.csv.gz")
        assert copied(out, [0, 1], tmp_path / "b.csv").read_text() == "a,c\n1.0,3\n4.50,6\n"

    def test_names_that_are_numbers_are_still_names(self, tmp_path):
        (tmp_path / "in.csv").write_text("10,20,30\n1,2,3\n4,5,7\n")
        table = io.read(tmp_path / "in.csv", header=True)
        io.write_table(table, [0, 2], tmp_path / "out.csv")
        assert (tmp_path / "out.csv").read_text() == '"10","30"\n1,3\n4,7\n'
        assert io.read(tmp_path / "out.csv").feature_names.tolist() == ["10", "30"]

    @settings(
        max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
    )
    @given(
        texts=st.lists(
            st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0")),
            min_size=3,
            max_size=6,
        ),
        separator=st.sampled_from(",;\t"),
        quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC]),
    )
    def test_any_text_beside_the_numbers(self, tmp_path, texts, separator, quoting):
        rows = [["name", "a", "b", "c"]]
        rows += [[text, f"{i * i}.50", str(-i), f"{i}e3"] for i, text in enumerate(texts)]
        with open(tmp_path / "in.csv", "w", newline="", encoding="utf-8") as file:
            csv.writer(file, delimiter=separator, quoting=quoting).writerows(rows)
        written = (tmp_path / "in.csv").read_bytes()
        out = copied(tmp_path / "in.csv", [0, 1, 2], tmp_path / "out.csv", ids="name")
        assert out.read_bytes() == written

    def test_other_formats_get_types(self, tmp_path):
        (tmp_path / "in.csv").write_text(self.CELLS)
        out = copied(
            tmp_path / "in.csv", [0, 1, 2, 3], tmp_path / "o.parquet", labels="name", ids="day"
        )
        frame = pa.parquet.read_table(out).to_pydict()
        assert frame["a"] == [BIG, BIG + 2, -5]
        assert frame["b"] == [1.1, 2.5, 0.3]
        assert frame["c"] == [True, False, True]
        assert frame["d"] == [7.0, 1000.0, 4.0]
        whole = copied(tmp_path / "in.csv", [0], tmp_path / "o.npy", labels="name", ids="day")
        assert np.load(whole).dtype == np.int64
        assert np.load(whole).ravel().tolist() == [BIG, BIG + 2, -5]

    def test_types_of_many_blocks(self, tmp_path, monkeypatch):
        monkeypatch.setattr("tamis.io._text_copy.BLOCK_SIZE", 4)
        lines = [f"{i % 2 == 0},{BIG + 7 * (i * i % 5)},{i * i}" for i in range(9)]
        lines[7] = "3,5,0.5"
        (tmp_path / "in.csv").write_text("a,b,c\n" + "\n".join(lines))
        frame = pd.read_parquet(copied(tmp_path / "in.csv", [0, 1, 2], tmp_path / "o.parquet"))
        assert frame.dtypes.astype(str).tolist() == ["int64", "int64", "float64"]
        assert frame["a"].tolist() == [1, 0, 1, 0, 1, 0, 1, 3, 1]
        assert frame["b"][1] == BIG + 7


class TestArrow:
    @pytest.fixture
    def frame(self):
        return pa.table(
            {
                "day": pa.array([datetime.date(2024, 1, i) for i in (1, 2, 3)]),
                "big": pa.array([BIG, 5, 7], pa.int64()),
                "huge": pa.array([2**64 - 1, 5, 7], pa.uint64()),
                "flag": [True, False, True],
                "small": pa.array([0.1, 0.2, 0.5], pa.float32()),
                "price": pa.array([decimal.Decimal(f"{i}.10") for i in (1, 2, 5)]),
                "kind": pa.array(["x", None, "y"]).dictionary_encode(),
            }
        )

    @pytest.mark.parametrize("source", ["in.parquet", "in.feather"])
    @pytest.mark.parametrize("target", ["out.parquet", "out.feather"])
    def test_types_stay(self, tmp_path, frame, source, target):
        write = pa.parquet.write_table if "parquet" in source else pa.feather.write_feather
        write(frame, str(tmp_path / source))
        out = copied(tmp_path / source, [4, 2, 0, 3], tmp_path / target, labels="kind", ids="day")
        read = pa.parquet.read_table if "parquet" in target else pa.feather.read_table
        kept = read(str(out))
        assert kept.equals(frame.select(["day", "kind", "price", "flag", "big", "small"]))

    def test_the_index_of_a_pandas_frame_stays_one(self, tmp_path):
        index = pd.date_range("2024-01-01", periods=3, name="day")
        frame = pd.DataFrame({"a": [1, 2, 4], "b": [0.5, 1, 2], "c": [True, False, True]}, index)
        frame.to_parquet(tmp_path / "in.parquet")
        out = copied(tmp_path / "in.parquet", [0, 2], tmp_path / "out.parquet")
        pd.testing.assert_frame_equal(pd.read_parquet(out), frame[["a", "c"]], check_freq=False)

    def test_to_text_and_to_a_sheet(self, tmp_path, frame):
        pa.parquet.write_table(frame, tmp_path / "in.parquet")
        options = {"labels": "kind", "ids": "day"}
        out = copied(tmp_path / "in.parquet", range(5), tmp_path / "out.csv", **options)
        assert out.read_text() == (
            "day,kind,big,huge,flag,small,price\n"
            f"2024-01-01,x,{BIG},{2**64 - 1},True,0.1,1.10\n"
            "2024-01-02,,5,5,False,0.2,2.10\n"
            "2024-01-03,y,7,7,True,0.5,5.10\n"
        )
        out = copied(tmp_path / "in.parquet", [0, 2], tmp_path / "out.xlsx", **options)
        rows = list(openpyxl.load_workbook(out).active.iter_rows(values_only=True))
        assert rows[1] == (datetime.datetime(2024, 1, 1), "x", BIG, True)
        assert rows[2] == (datetime.datetime(2024, 1, 2), None, 5, False)

    def test_to_arrays(self, tmp_path, frame):
        pa.parquet.write_table(frame, tmp_path / "in.parquet")
        out = copied(
            tmp_path / "in.parquet", [0, 2], tmp_path / "out.npz", labels="kind", ids="day"
        )
        with np.load(out) as arrays:
            assert arrays["X"].dtype == np.int64
            assert arrays["X"].tolist() == [[BIG, 1], [5, 0], [7, 1]]
            assert arrays["y"].tolist() == ["x", "", "y"]
            assert arrays["ids"].tolist() == ["2024-01-01", "2024-01-02", "2024-01-03"]


def test_cells_of_a_sheet_keep_type_and_format(tmp_path):
    book = openpyxl.Workbook()
    book.active.title = "données"
    day = datetime.datetime(2024, 5, 1, 12, 30)
    for row in (["day", 2019, "flag", "b", "c"], [day, BIG, True, 1.5, 3], [day, 7, False, 2, 9]):
        book.active.append(row)
    book.active["D2"].number_format = "0.00 %"
    book.active["B2"].value = str(BIG)  # openpyxl would cut the number to 16 digits
    book.active["B2"].data_type = "n"
    book.save(tmp_path / "in.xlsx")
    out = copied(tmp_path / "in.xlsx", [0, 2, 1], tmp_path / "out.xlsx", ids="day")
    sheet = openpyxl.load_workbook(out)["données"]
    rows = list(sheet.iter_rows(values_only=True))
    assert rows == [("day", 2019, "b", "flag"), (day, BIG, 1.5, True), (day, 7, 2, False)]
    assert isinstance(rows[1][3], bool)
    assert sheet["C2"].number_format == "0.00 %"
    out = copied(tmp_path / "in.xlsx", [0, 1], tmp_path / "out.parquet", ids="day")
    frame = pd.read_parquet(out)
    assert frame["2019"].tolist() == [BIG, 7]
    assert frame["flag"].tolist() == [True, False]
    assert frame["day"].tolist() == [day, day]


@pytest.mark.parametrize("dtype", [bool, np.float16, np.int64, ">f4", np.uint8, np.float32])
@pytest.mark.parametrize("ending", ["npy", "npz", "mat", "h5ad"])
def test_arrays_keep_their_type(tmp_path, dtype, ending):
    X = np.array([[0, 1, 1], [1, 0, 1], [1, 1, 0], [0, 0, 1]]).astype(dtype)
    np.save(tmp_path / "in.npy", X)
    path = tmp_path / f"out.{ending}"
    io.write_table(io.read(tmp_path / "in.npy"), [2, 0], path)
    if ending == "npy":
        assert np.load(path).dtype == X.dtype
        np.testing.assert_array_equal(np.load(path), X[:, [2, 0]])
    elif ending == "npz":
        with np.load(path) as arrays:
            assert arrays["X"].dtype == X.dtype
    back = io.read(path).X
    np.testing.assert_array_equal(back, X if ending == "h5ad" else X[:, [2, 0]])


def test_libsvm_lines_stay(tmp_path):
    (tmp_path / "in.libsvm").write_text(
        f"+1 qid:3 1:0.10 3:{BIG} 4:2 # first\n\n-1 2:1.0 4:1e-3\n0 3:5\n"
    )
    out = copied(tmp_path / "in.libsvm", [3, 0, 2], tmp_path / "out.libsvm")
    assert out.read_text() == f"+1 qid:3 1:2 2:0.10 3:{BIG} # first\n-1 1:1e-3\n0 3:5\n"
    (tmp_path / "zero.libsvm").write_text("1 0:0.10 2:3\n2 1:1 2:4\n")
    out = copied(tmp_path / "zero.libsvm", [0, 2], tmp_path / "out.libsvm")
    assert out.read_text() == "1 1:0.10 2:3\n2 2:4\n"


class TestArff:
    HEADER = (
        "% made by X\n@relation 'my table'\n@attribute a INTEGER\n@attribute 'b, c' real\n"
        "@ATTRIBUTE d numeric\n@attribute class {x,'y z'}\n\n@data\n"
    )

    def test_dense(self, tmp_path):
        (tmp_path / "in.arff").write_text(
            self.HEADER + f"{BIG},1.10,3,x\n% note\n5, 2.0 ,4,'y z'\n", encoding="utf-8"
        )
        out = copied(tmp_path / "in.arff", [1, 0], tmp_path / "out.arff")
        assert out.read_text() == (
            "% made by X\n@relation 'my table'\n\n"
            "@attribute class {x,'y z'}\n@attribute 'b, c' real\n@attribute a INTEGER\n@data\n"
            f"x,1.10,{BIG}\n% note\n'y z',2.0,5\n"
        )
        frame = pd.read_parquet(copied(tmp_path / "in.arff", [0, 1], tmp_path / "o.parquet"))
        assert frame["a"].tolist() == [BIG, 5]
        assert frame["b, c"].tolist() == [1.1, 2.0]
        assert frame["class"].tolist() == ["x", "y z"]

    def test_sparse(self, tmp_path):
        (tmp_path / "in.arff").write_text(
            self.HEADER + f"{{0 {BIG}, 1 1.10, 3 'y z'}}\n{{}}\n{{2 2.50}}\n"
        )
        out = copied(tmp_path / "in.arff", [2, 0], tmp_path / "out.arff")
        data = out.read_text().partition("@data\n")[2]
        assert data == f"{{0 'y z',2 {BIG}}}\n{{}}\n{{1 2.50}}\n"
        assert io.read(out).X.toarray()[2].tolist() == [2.5, 0]


class TestWhenTheFileIsNoLongerTheTable:
    @pytest.fixture
    def table(self, tmp_path):
        (tmp_path / "in.csv").write_text("a,b,c\n1.10,2,3\n4.50,5,7\n")
        return io.read(tmp_path / "in.csv")

    def test_replaced_arrays_are_written(self, tmp_path, table):
        io.write_table(replace(table, X=table.X * 10), [0, 1], tmp_path / "out.csv")
        assert (tmp_path / "out.csv").read_text() == "a,b\n11,20\n45,50\n"
        names = np.array(["x", "y", "z"], dtype=object)
        io.write_table(replace(table, feature_names=names), [0, 1], tmp_path / "out.csv")
        assert (tmp_path / "out.csv").read_text() == "x,y\n1.1,2\n4.5,5\n"

    def test_some_of_the_columns(self, tmp_path, table):
        io.write_table(table.take(np.array([2, 0])), [1], tmp_path / "out.csv")
        assert (tmp_path / "out.csv").read_text() == "a\n1.10\n4.50\n"

    @pytest.mark.parametrize("gone", [False, True])
    def test_a_changed_file_is_told(self, tmp_path, table, gone):
        if gone:
            table.path.unlink()
        else:
            table.path.write_text("a,b,c\n9,9,9\n8,8,8\n9,9,9\n")
        with pytest.warns(TableWarning, match=r"gone, or was changed .* numbers that were read"):
            io.write_table(table, [0], tmp_path / "out.csv")
        assert (tmp_path / "out.csv").read_text() == "a\n1.1\n4.5\n"
        with pytest.raises(TableError, match="changed since it was read; read it again"):
            io.write_table(replace(table, X=None), [0], tmp_path / "out.csv")
