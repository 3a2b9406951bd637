"""Tables as they come: mixed types, gaps, other notations, and columns written back unchanged."""

from __future__ import annotations

import gzip
from datetime import datetime

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tamis import io
from tamis.io import TableError

MIXED = "town,rent,pets,rooms\nTours,640.5,true,2\nMetz,,false,3\nNice,700,true,4\n"


def as_lists(raw):
    """Columns as Python values, NaN as None."""
    return {
        name: [None if v is None or v != v else v for v in values.tolist()]
        for name, values in raw.columns.items()
    }


def said(raw):
    return " ".join(raw.notes)


@pytest.fixture
def write(tmp_path):
    def written(text, name="table.csv", encoding="utf-8"):
        path = tmp_path / name
        path.write_bytes(text.encode(encoding))
        return path

    return written


@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.csv.gz"])
def test_text_of_mixed_types(tmp_path, name):
    path = tmp_path / name
    text = (MIXED.replace(",", "\t") if "tsv" in name else MIXED).encode()
    path.write_bytes(gzip.compress(text) if name.endswith("gz") else text)
    raw = io.read_columns(path)
    assert as_lists(raw) == {
        "town": ["Tours", "Metz", "Nice"],
        "rent": [640.5, None, 700.0],
        "pets": [True, False, True],
        "rooms": [2, 3, 4],
    }
    assert raw.columns["pets"].dtype == bool
    assert raw.columns["rooms"].dtype.kind == "i"


@pytest.mark.parametrize("suffix", [".parquet", ".feather", ".xlsx", ".arff"])
def test_written_from_text_and_read_again(write, tmp_path, suffix):
    raw = io.read_columns(write(MIXED))
    target = tmp_path / f"copy{suffix}"
    io.write_columns(raw, ["rooms", "town", "rent"], target)
    again = as_lists(io.read_columns(target))
    assert list(again) == ["rooms", "town", "rent"]
    assert again == {name: as_lists(raw)[name] for name in again}


@pytest.mark.parametrize("gap", ["", "NA", "n/a", "?", "-", ".", "NaN", "null"])
def test_gaps_among_numbers(write, gap):
    raw = io.read_columns(write(f"a,b\n1,x\n{gap},y\n3,z\n"))
    assert as_lists(raw)["a"] == [1, None, 3]
    assert not gap or repr(gap) in said(raw)


def test_a_dash_may_be_a_category(write):
    assert as_lists(io.read_columns(write("a,b\nup,1\n-,2\n")))["a"] == ["up", "-"]


def test_own_gaps(write):
    raw = io.read_columns(write("a,b\n1,x\n-999,none given\n"), na=["-999", "none given"])
    assert as_lists(raw) == {"a": [1, None], "b": ["x", None]}


def test_european_text(write):
    raw = io.read_columns(write("n;v;t\n1;1.234,5;x\n2;0,5;y\n"))
    assert as_lists(raw)["v"] == [1234.5, 0.5]
    assert "semicolons" in said(raw)
    assert "decimal comma" in said(raw)


def test_thousands(write):
    raw = io.read_columns(write('v,t\n"1,234.5",x\n"12,000",y\n'))
    assert as_lists(raw)["v"] == [1234.5, 12000]


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16", "utf-8-sig"])
def test_encodings(write, encoding):
    raw = io.read_columns(write("näme,b\né,1\nü,2\n", encoding=encoding))
    assert as_lists(raw) == {"näme": ["é", "ü"], "b": [1, 2]}
    assert ("Western European" in said(raw)) == (encoding == "latin-1")


def test_no_header(write):
    raw = io.read_columns(write("x,1\ny,2\n"), header=False)
    assert as_lists(raw) == {"column0": ["x", "y"], "column1": [1, 2]}


def test_repeated_and_empty_names(write):
    raw = io.read_columns(write("a,a,,b\n1,2,3,x\n4,5,6,y\n"))
    assert raw.names == ["a", "a_2", "column2", "b"]
    assert "'a' as 'a_2'" in said(raw)


def test_quoted_line_breaks(write):
    assert as_lists(io.read_columns(write('a,b\n"x\ny",1\nz,2\n')))["a"] == ["x\ny", "z"]


def test_ragged_row_is_named(write):
    with pytest.raises(TableError, match="line 3 has 1 cells, but there are 2"):
        io.read_columns(write("a,b\nx,1\ny\n"))


def test_sheets(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.append(["a", "b"])
    book.active.append([1, "x"])
    other = book.create_sheet("Results")
    for row in (["day", "n"], [datetime(2024, 5, 1), "7"], [None, "8"]):
        other.append(row)
    path = tmp_path / "book.xlsx"
    book.save(path)
    for sheet in ("Results", 2):
        raw = io.read_columns(path, sheet=sheet)
        assert raw.columns["day"].dtype.kind == "M"
        assert np.isnat(raw.columns["day"]).tolist() == [False, True]
        assert as_lists(raw)["n"] == [7, 8]
    assert "Of 2 sheets" in said(io.read_columns(path))
    with pytest.raises(TableError, match="Results"):
        io.read_columns(path, sheet="Result")
    with pytest.raises(TableError, match="no sheet number 3"):
        io.read_columns(path, sheet=3)


def test_cells_are_written_as_they_are(write, tmp_path):
    path = write("code;v;day;t\n007;1e5;01.02.2024;x\n010;-;02.02.2024;NA\n")
    target = tmp_path / "small.csv"
    io.write_columns(io.read_columns(path), ["day", "code", "v", "t"], target)
    assert target.read_text() == ("day;code;v;t\n01.02.2024;007;1e5;x\n02.02.2024;010;-;NA\n")


def test_unknown_column_is_not_written(write, tmp_path):
    with pytest.raises(TableError, match="rent"):
        io.write_columns(io.read_columns(write(MIXED)), ["rend"], tmp_path / "o.csv")
    assert not (tmp_path / "o.csv").exists()


WORDS = st.none() | st.text("abcxyz", min_size=2, max_size=5).filter(
    lambda word: word not in ("nan", "na", "null", "none")
)
NUMBERS = st.none() | st.floats(allow_nan=False, allow_infinity=False)


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".feather"])
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(rows=st.lists(st.tuples(st.integers(0, 99), NUMBERS, WORDS), min_size=2, max_size=6))
def test_round_trip(tmp_path, suffix, rows):
    number, value, word = (list(cells) for cells in zip(*rows, strict=True))
    columns = {
        "number": np.array(number),
        "value": np.array([np.nan if v is None else v for v in value], dtype=float),
        "word": np.array([*word, None], dtype=object)[:-1],
    }
    raw = io.RawTable(path=tmp_path / "made", format="csv", typed=columns)
    target = tmp_path / f"t{suffix}"
    io.write_columns(raw, list(columns), target)
    again = as_lists(io.read_columns(target))
    assert again == {"number": number, "value": value, "word": word}


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("a b\n1 2\n3 4\n", ["a", "b"]),
        ("1 2\n3 4\n", ["column0", "column1"]),
        ('"a" "b"\n"x y" 1 2\n"z" 3 4\n', ["column0", "a", "b"]),
    ],
)
def test_single_spaces_part_numbers(write, text, names):
    path = write(text)
    raw = io.read_columns(path)
    assert raw.names == names
    assert raw.columns[names[-1]].tolist() == [2, 4]
    assert "The cells are parted by spaces." in raw.notes
    io.write_columns(raw, raw.names, path.with_name("copy.csv"))
    again = io.read_columns(path.with_name("copy.csv"), sep="space")
    assert list(as_lists(again).values()) == list(as_lists(raw).values())


@pytest.mark.parametrize("head", ["", "  year    height\n"])
def test_runs_of_spaces_part_numbers_that_stand_under_one_another(write, head):
    path = write(head + "   1   20.5\n  12    3.25  \n 123  -10\n")
    raw = io.read_columns(path)
    assert raw.names == (["year", "height"] if head else ["column0", "column1"])
    assert list(as_lists(raw).values()) == [[1, 12, 123], [20.5, 3.25, -10]]
    np.testing.assert_array_equal(io.read(path).X, [[1, 20.5], [12, 3.25], [123, -10]])
    io.write_columns(raw, raw.names[1:], path.with_name("copy.csv"))
    copy = io.read_columns(path.with_name("copy.csv"))
    assert list(as_lists(copy).values()) == [[20.5, 3.25, -10]]


def test_prose_is_not_parted_by_its_spaces(write):
    raw = io.read_columns(write("remark\nall well\nno change\n"))
    assert as_lists(raw) == {"remark": ["all well", "no change"]}


@pytest.mark.parametrize("cells", ["x,1,2\ny,3,4\n", "1,1,2\n2,3,\n"])
def test_the_first_column_of_a_table_from_r_has_no_name(write, cells):
    raw = io.read_columns(write("a,b\n" + cells))
    assert raw.names == ["column0", "a", "b"]
    assert raw.aside == ("column0",)
    assert "The first column has no name: taken as row ids." in raw.notes
    assert raw.columns["a"].tolist() == [1, 3]


def test_separators_at_the_ends_of_lines_are_no_row_names(write):
    with pytest.raises(TableError, match="line 2 has 3 cells, but there are 2 columns"):
        io.read_columns(write("a,b\n1,2,\n3,4,\n"))
