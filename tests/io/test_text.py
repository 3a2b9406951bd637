"""CSV and TSV as people have them."""

from __future__ import annotations

import numpy as np
import pytest

from tamis import io
from tamis.io import TableError, TableWarning


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


@pytest.mark.slow
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
        ("a,b,a\n1,2,3\n", "of the same name: column 'a'; rename"),
        ("a,b\n", "columns but no rows"),
        ("a\n1\n2\n", "has 1 numeric column; there is nothing to select from"),
        ("\n\n", "holds no text"),
        ("#1,2\n#3,4\n", "every line begins with #, as comments do"),
        ("a  b  c\nx  y  z\n", "has no comma, semicolon or tab; part the cells by one"),
        ("a b c\nx y z\n", "has no comma, semicolon or tab; part the cells by one"),
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


class TestEncodings:
    TEXT = "größe,b\n1,2\n3,4\n"

    @pytest.mark.parametrize(
        "encoding",
        ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "latin-1", "cp1252"],
    )
    def test_read(self, read, encoding):
        table = read(self.TEXT.encode(encoding))
        assert table.feature_names.tolist() == ["größe", "b"]
        assert table.X.tolist() == [[1, 2], [3, 4]]

    def test_what_is_assumed_is_said(self, read):
        (note,) = read(self.TEXT.encode("latin-1")).notes
        assert note.startswith("The text is not UTF-8 (byte 2): read as Western European")
        assert read(self.TEXT.encode()).notes == ()

    def test_bytes_that_no_letter_has(self, read):
        assert read(b"a\x81,b\n1,2\n3,4\n").feature_names.tolist() == ["a\x81", "b"]


class TestComments:
    def test_before_the_header(self, read):
        table = read("# made by X, on Monday\n\n#units: mm\na,b\n1,2\n3,4\n")
        assert table.feature_names.tolist() == ["a", "b"]
        assert table.X.tolist() == [[1, 2], [3, 4]]

    def test_as_the_header(self, read):
        for content in ("# a,b\n1,2\n3,4\n", "# made by numpy\n#a,b\n1,2\n3,4\n"):
            table = read(content)
            assert table.feature_names.tolist() == ["a", "b"]
            assert "The comment before the data is taken as the names: a" in table.notes[0]
        assert read("#name,a,b\nx,1,2\ny,3,4\n", ids="name").ids.tolist() == ["x", "y"]

    def test_without_a_header(self, read):
        table = read("# a,b\n1,2\n3,4\n", header=False)
        assert table.feature_names.tolist() == ["column0", "column1"]
        assert read("# by X\n1,2\n3,4\n").X.tolist() == [[1, 2], [3, 4]]

    def test_among_the_data(self, read):
        with pytest.raises(TableError, match=r"line 4 has 1 cells.*remove comments among the data"):
            read("# by X\na,b\n1,2\n# half\n3,4\n")


class TestNotations:
    @pytest.mark.parametrize(
        ("content", "first"),
        [
            ("a;b\n1,5;2\n3,25;4\n", [1.5, 2]),
            ("a;b\n1.234,5;2\n1.000;4\n", [1234.5, 2]),
            ("a;b\n1.234.567;2,5\n1.000;4\n", [1234567, 2.5]),
            ("a\tb\n-1,5e3\t2\n,25\t4\n", [-1500, 2]),
            ('a,b\n"1,234",2\n"4",5.5\n', [1234, 2]),
            ('a,b\n"1,234",2\n"4",5\n', [1234, 2]),
            ('a,b\n"1,5",2\n"4",5\n', [1.5, 2]),
            ("a;b\n1,234;2.5\n4;5.5\n", [1234, 2.5]),
            ("a;b\n1,234,567;2\n4;5\n", [1234567, 2]),
            ("a,b\n1 234,2\n4,5\n", [1234, 2]),
            ("a;b\n1\u202f234,5;2\n4;5\n", [1234.5, 2]),
            ("a,b\n1'234.5,2\n4,5\n", [1234.5, 2]),
        ],
    )
    def test_told_by_the_file(self, read, content, first):
        table = read(content)
        assert table.feature_names.tolist() == ["a", "b"]
        assert table.X[0].tolist() == first
        assert "are read as written with" in table.notes[-1]

    def test_without_a_header(self, read):
        assert read("1,5;2,5;3,5\n4,5;5,5;6,5\n").X.tolist() == [[1.5, 2.5, 3.5], [4.5, 5.5, 6.5]]

    @pytest.mark.slow
    def test_many_blocks(self, read):
        X = np.random.default_rng(0).normal(size=(40_000, 3)).round(3)
        lines = [";".join(map(str, row)).replace(".", ",") for row in X.tolist()]
        np.testing.assert_array_equal(read("a;b;c\n" + "\n".join(lines)).X, X)

    @pytest.mark.parametrize(
        ("content", "message"),
        [
            ("a;b\n1,234;2\n4;5\n", "'1,234' may be 1234 or 1.234; write thousands without"),
            ("a;b\n1,5;2.5\n4;5\n", "some numbers .* decimal comma, others .* point .*'1,5'"),
            ("a;b\n1,5;2\n1,234.5;5\n", "some numbers .* decimal comma, others .* point"),
            ("a;b\n1,5;2\n3;x\n", "not numbers in column 'b' .*'x'"),
            ("a;b\n1,2345;2\n1,23,4;5\n", "not numbers in column 'a' .*'1,23,4'"),
        ],
    )
    def test_refused(self, read, content, message):
        with pytest.raises(TableError, match=message):
            read(content)

    def test_labels_stay_text(self, read):
        assert read("a;b;y\n1,5;2;1,5\n3;4;2\n", labels="y").labels.tolist() == ["1,5", "2"]


class TestHeader:
    YEARS = "2019,2020,2021\n1.5,2.5,0.5\n2.5,1.5,4.5\n"

    def test_said(self, read):
        assert read(self.YEARS, header=True).feature_names.tolist() == ["2019", "2020", "2021"]
        assert read(self.YEARS, header=False).X.shape == (3, 3)
        table = read("a,1\n2,3\n4,6\n", header=True)
        assert table.feature_names.tolist() == ["a", "1"]
        with pytest.raises(TableError, match="not numbers in column 'column0'"):
            read("a,1\n2,3\n4,6\n", header=False)

    @pytest.mark.parametrize("content", [YEARS, YEARS.replace("2019", "", 1)])
    def test_numbers_that_count_on_are_names(self, read, content):
        with pytest.warns(TableWarning, match=r"goes up like names .*header=False"):
            table = read(content)
        assert table.feature_names.tolist()[-2:] == ["2020", "2021"]
        assert table.X.shape[0] == 2

    @pytest.mark.parametrize(
        "names",
        ["400.5,401,401.5,402,402.5", "10,20,30,40,50", "1,3,4,8,9,15,16.5,20", ",0,1,2,3"],
    )
    def test_wavelengths_are_names(self, read, names):
        data = np.random.default_rng(0).normal(size=(3, names.count(",") + 1)).round(2)
        lines = [",".join(map(str, row)) for row in data.tolist()]
        with pytest.warns(TableWarning, match="goes up like names"):
            table = read("\n".join([names, *lines]))
        assert table.X.shape[0] == 3
        assert table.feature_names[-1] == names.rpartition(",")[2]

    @pytest.mark.parametrize(
        "content",
        [
            "1,2,3\n4,5,6\n5,3,1\n",
            "1,2,4\n4,5,3\n5,3,1\n",
            "5,10,15\n1,7,2\n5,3,1\n",
            "1,3,4,8,9,15,16,20\n0,2,5,7,9,10,16,21\n0,2,5,7,9,10,16,21\n",
        ],
    )
    def test_other_numbers_are_data(self, read, content):
        assert read(content).X.shape[0] == 3

    def test_whole_numbers_over_decimals_are_data_with_a_hint(self, read):
        with pytest.warns(TableWarning, match="is read as data; does it hold names.*header=True"):
            assert read(self.YEARS.replace("2021", "2024")).X.shape == (3, 3)

    def test_decimals_among_names_are_hinted_at(self, read):
        content = "p1,5.1,3.5\np2,4.9,3.0\np3,4.2,2.0\n"
        with pytest.raises(
            TableError, match=r"column 'p1' .*The first line \(p1, 5.1, 3.5\) holds"
        ):
            read(content)
        with pytest.warns(TableWarning, match="holds numbers and is taken as names; is it data"):
            read("x,5.1,3.5\n1,4.9,3.0\n2,4.2,2.0\n")

    def test_formats_without_one(self, tmp_path):
        np.save(tmp_path / "t.npy", np.eye(3))
        with pytest.raises(TableError, match=r"NPY files keep names apart .* leave out header=…"):
            io.read(tmp_path / "t.npy", header=True)


def test_names_with_spaces_around_them(read):
    table = read(" species ,a, b\nx,1,2\ny,3,4\n", labels="species")
    assert table.labels.tolist() == ["x", "y"]
    assert table.feature_names.tolist() == ["a", " b"]
    assert table.notes == (
        "The labels are the column ' species ', whose name has spaces around it.",
    )
    assert read("s, s,a,b\nx,1,2,3\ny,3,4,5\n", labels="s").labels.tolist() == ["x", "y"]


class TestRunningNumbers:
    DATA = np.random.default_rng(0).normal(size=(8, 3)).round(2)

    def content(self, name, values):
        lines = [f"a,b,{name},c"]
        lines += [f"{a},{b},{v},{c}" for (a, b, c), v in zip(self.DATA, values, strict=True)]
        return "\n".join(lines)

    @pytest.mark.parametrize(
        ("name", "values"),
        [
            ("x", range(8)),
            ("x", range(8, 0, -1)),
            ("x", [3, 1, 2, 8, 5, 6, 7, 4]),
            ("x", np.arange(8) * 0.1 + 5),
            ("id", [907, 13, 55, 41, 802, 17, 99, 3]),
            ("Customer ID", [907, 13, 55, 41, 802, 17, 99, 3]),
            ("sampleId", [907, 13, 55, 41, 802, 17, 99, 3]),
            ("id", [1, 1, 2, 2, 3, 3, 4, 4]),
        ],
    )
    def test_hinted_at(self, read, name, values):
        with pytest.warns(TableWarning, match=f"'{name}' looks like .* aside with ids='{name}'"):
            table = read(self.content(name, values))
        assert table.X.shape == (8, 4)

    @pytest.mark.parametrize(
        ("name", "values"),
        [
            ("x", [907, 13, 55, 41, 802, 17, 99, 3]),
            ("acid", [907, 13, 55, 41, 802, 17, 99, 3]),
            ("x", [1, 2, 3, 4, 5, 6, 7, 9]),
            ("x", [5] * 8),
        ],
    )
    def test_not_hinted_at(self, read, name, values):
        assert read(self.content(name, values)).X.shape == (8, 4)

    def test_several(self, read):
        lines = [f"{i},{i * 10},{a},{b},{c}" for i, (a, b, c) in enumerate(self.DATA)]
        with pytest.warns(TableWarning, match=r"Columns 'n', 't' look like .* with ids='n'"):
            read("\n".join(["n,t,a,b,c", *lines]))

    def test_with_other_ids(self, read):
        with pytest.warns(TableWarning, match="'x' looks .*; leave it out of the file"):
            read(self.content("x", range(8)), ids="a")

    def test_a_table_of_ranks_is_none_of_them(self, read):
        ranks = np.argsort(self.DATA, axis=0)
        read("a,b,c\n" + "\n".join(",".join(map(str, row)) for row in ranks.tolist()))

    def test_as_pandas_calls_it(self, read):
        table = read("Unnamed: 0,a,b\n0,1,2\n1,3,4\n")
        assert table.ids.tolist() == ["0", "1"]
        assert "is called 'Unnamed: 0': taken as row ids" in table.notes[0]
