"""CSV and TSV as people have them."""

from __future__ import annotations

import numpy as np
import pytest

from tamis import io
from tamis.io import TableError


@pytest.fixture
def read(tmp_path):
    def read(content, name="t.csv", **options):
        data = content if isinstance(content, bytes) else content.encode()
        (tmp_path / name).write_bytes(data)
        return io.read(tmp_path / name, **options)

    return read


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_separators(read, separator):
    table = read("a,b,c\n1,2.5,-3e2\n4,5,6\n".replace(",", separator))
    assert table.feature_names.tolist() == ["a", "b", "c"]
    assert table.X.tolist() == [[1, 2.5, -300], [4, 5, 6]]
    assert table.X.dtype == np.float64


def test_commas_within_quoted_names_do_not_count(read):
    table = read('"a,1,2";"b,3"\n1;2\n3;4\n')
    assert table.feature_names.tolist() == ["a,1,2", "b,3"]


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
def test_line_endings_mark_and_blank_lines(read, ending):
    table = read("\ufeffa,b\n\n1,2\n3,4\n\n\n".replace("\n", ending))
    assert table.feature_names.tolist() == ["a", "b"]
    assert table.X.tolist() == [[1, 2], [3, 4]]


def test_no_newline_at_the_end(read):
    assert read("a,b\n1,2\n3,4").X.tolist() == [[1, 2], [3, 4]]


def test_no_header(read):
    table = read("1,2\n3,4\n")
    assert table.feature_names.tolist() == ["column0", "column1"]
    assert table.X.tolist() == [[1, 2], [3, 4]]
    assert "numbers only" in table.notes[0]
    assert read("1,2,3\n3,4,5\n", labels="column2").labels.tolist() == [3, 5]


def test_numbers_as_names_where_one_is_asked_for(read):
    table = read("0,1,2\n5,6,7\n8,9,1\n", labels="2")
    assert table.feature_names.tolist() == ["0", "1"]
    assert table.labels.tolist() == [7, 1]


def test_unnamed_first_column_is_the_row_names(read):
    table = read(",a,b\n0,1,2\n1,3,4\n")
    assert table.ids.tolist() == ["0", "1"]
    assert table.feature_names.tolist() == ["a", "b"]
    assert "taken as row ids" in table.notes[0]


@pytest.mark.parametrize("quote", ["", '"'])
@pytest.mark.parametrize("order", [(0, 1, 2, 3), (3, 2, 1, 0), (2, 0, 3, 1)])
def test_columns_set_aside_anywhere(read, order, quote):
    columns = [["id", "007", "008"], ["a", "1", "2"], ["b", "3", "4"], ["kind", "x", "y"]]
    lines = [",".join(quote + columns[j][i] + quote for j in order) for i in range(3)]
    table = read("\n".join(lines), labels="kind", ids="id")
    assert table.ids.tolist() == ["007", "008"]
    assert table.labels.tolist() == ["x", "y"]
    expected = [name for name in (columns[j][0] for j in order) if name in "ab"]
    assert table.feature_names.tolist() == expected
    assert table.X[:, expected.index("a")].tolist() == [1, 2]


@pytest.mark.parametrize(
    ("cells", "labels"),
    [(["1", "2"], [1, 2]), (["01", "2"], ["01", "2"]), (["0.5", "1.0"], [0.5, 1.0])],
)
def test_labels_are_numbers_only_where_written_so(read, cells, labels):
    table = read(f"a,b,y\n1,2,{cells[0]}\n3,4,{cells[1]}\n", labels="y")
    assert table.labels.tolist() == labels


def test_booleans_are_numbers(read):
    assert read("a,b\nTrue,1\nfalse,2\n").X.tolist() == [[1, 1], [0, 2]]


def test_quoted_numbers_and_line_breaks_in_ids(read):
    table = read('name,a,b\n"one\nline","1",2\ntwo,3,4\n', ids="name")
    assert table.ids.tolist() == ["one\nline", "two"]
    assert table.X.tolist() == [[1, 2], [3, 4]]


def test_many_blocks(read):
    X = np.arange(60_000.0).reshape(-1, 3)
    lines = [",".join(map(str, row)) for row in X.tolist()]
    table = read("a,b,c\n" + "\n".join(lines))
    np.testing.assert_array_equal(table.X, X)
    lines[15_000] = "1,2"
    with pytest.raises(TableError, match=r"line 15002 has 2 cells, but there are 3 columns"):
        read("a,b,c\n" + "\n".join(lines))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a,b\n1,2\n3\n", "line 3 has 1 cells, but there are 2 columns"),
        ("a,b\n1,2\n\n3,4,5\n", "line 4 has 3 cells"),
        ('a,b\n"x\ny",2\n3,4,5\n', "line 4 has 3 cells"),
        ('a,b\n1,2\n"3,4\n', "line 3: .*check its quotes"),
        ("a,b,c\n1,x,2\n3,y,z\n", "not numbers in columns 'b', 'c' .*'x'.*name them as labels"),
        ("day,a\n2021_03,1\n2021_04,2\n", "not numbers in column 'day'"),
        (
            "a,b\n1,\nNA,2\n3,nan\n",
            "missing, NaN or infinite values in columns 'a', 'b', in 3 of 3",
        ),
        ("a,b\n1,inf\n2,3\n", "infinite values in column 'b', in 1 of 2 rows; fill them in"),
        ("a,b,a\n1,2,3\n", "called the same: column 'a'; rename"),
        ("a,b\n", "columns but no rows"),
        ("a\n1\n2\n", "has 1 numeric column; there is nothing to select from"),
        ("\n\n", "holds no text"),
        (b"a,b\n\xe9,1\n", "not numbers in column 'a' .*'é'"),
        (b"\xff\xfea\0,\0b\0\n\0" + b"1", "not UTF-16-LE throughout"),
        (b"a,b\n\0\1\2", "the content is unknown, not CSV"),
        ("<!DOCTYPE html><html>404</html>", "the content is an HTML page, not CSV"),
    ],
)
def test_refusals(read, content, message):
    with pytest.raises(TableError, match=message) as caught:
        read(content)
    assert "\n" not in str(caught.value)
    assert "t.csv" in str(caught.value)


def test_wrong_column_names(read):
    content = "length,width,species\n1,2,x\n3,4,y\n"
    with pytest.raises(TableError, match=r"no column 'Specie' to take as labels; .* 'species'"):
        read(content, labels="Specie")
    with pytest.raises(TableError, match="no column 'qqq' to take as ids; there are 'length'"):
        read(content, ids="qqq")
    with pytest.raises(TableError, match="named both as labels and as ids"):
        read(content, ids="species", labels="species")
    with pytest.raises(TableError, match="has 1 numeric column"):
        read(content, ids="species", labels="width")


def test_a_header_of_months_is_no_data(read):
    table = read("2021_01,2021_02\n1,2\n3,4\n")
    assert table.feature_names.tolist() == ["2021_01", "2021_02"]
    assert table.X.tolist() == [[1, 2], [3, 4]]
