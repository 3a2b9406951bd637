from __future__ import annotations

import io
import json
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from tamis.evaluation.rendering import markdown_text
from tamis.evaluation.results import Estimate
from tamis.reproduction.papers import jdlufs, jelsr, udfs
from tamis.reproduction.published_tables import NOTHING, Printed, published_table
from tamis.reproduction.tables import VERDICTS, Cell, PaperTable, summary


def estimate(mean: float, sd: float = 0.0, **fields: Any) -> Estimate:
    entries = {"n_features": 50, "parameters": {"gamma": 0.1}, **fields}
    return Estimate(mean, sd, mean - sd, mean + sd, np.array([mean - sd, mean + sd]), **entries)


@pytest.mark.parametrize(
    ("ours", "paper", "paper_sd", "verdict"),
    [
        (None, 0.5, 0.1, "no data"),
        (None, None, None, "no data"),
        (estimate(0.5, 0.1), None, None, "–"),
        (estimate(0.5, 0.02), 0.52, None, "reproduced"),  # our deviation decides
        (estimate(0.5, 0.02), 0.53, None, "lower"),
        (estimate(0.5, 0.001), 0.53, 0.03, "reproduced"),  # the paper's decides
        (estimate(0.5, 0.03), 0.53, 0.001, "reproduced"),  # the larger of the two decides
        (estimate(0.5, 0.001), 0.53, 0.029, "lower"),
        (estimate(0.5, 0.01), 0.48, 0.019, "better"),
        (estimate(0.5, 0.0), 0.5, None, "reproduced"),
        (estimate(0.5, float("nan")), 0.5, None, "reproduced"),
        (estimate(0.5, float("nan")), 0.6, None, "lower"),
    ],
)
def test_verdict(
    ours: Estimate | None, paper: float | None, paper_sd: float | None, verdict: str
) -> None:
    assert Cell(ours, paper, paper_sd).verdict == verdict


def test_a_cost_is_better_when_it_is_smaller() -> None:
    assert Cell(estimate(0.1), 0.2, larger_is_better=False).verdict == "better"
    assert Cell(estimate(0.3), 0.2, larger_is_better=False).verdict == "lower"


def test_what_the_print_rounds_away_counts_as_the_same() -> None:
    printed = published_table("  | A\nrow | 99.9\n")["row", "A"]
    assert printed.beside(estimate(0.9994)).verdict == "reproduced"
    assert printed.beside(estimate(0.9996)).verdict == "better"


def test_every_verdict_is_counted_even_if_never_given() -> None:
    table = PaperTable("T", ["A"], ["x"], {("x", "A"): Cell(estimate(0.5), 0.5)})
    assert dict(summary([table, table])) == {**dict.fromkeys(VERDICTS, 0), "reproduced": 2}


@pytest.fixture
def table() -> PaperTable:
    return PaperTable(
        "Table 1. ACC, %",
        columns=["All|features", "UDFS"],
        rows=["a_set", "absent"],
        cells={
            ("a_set", "All|features"): Cell(estimate(0.4123, 0.031), 0.419, 0.03, dataset="a"),
            ("a_set", "UDFS"): Cell(estimate(0.6, 0.01), dataset="a"),
            ("absent", "UDFS"): Cell(None, 0.221, 0.005, dataset="b"),
        },
        note="Best * of all.",
        corner="Set",
    )


def test_text_is_aligned(table: PaperTable) -> None:
    assert table.text().splitlines() == [
        "Table 1. ACC, %",
        "---------------------------------",
        "Set      All|features        UDFS",
        "---------------------------------",
        "a_set      41.2 ± 3.1  60.0 ± 1.0",
        "  paper    41.9 ± 3.0",
        "           reproduced           –",
        "absent",
        "  paper                22.1 ± 0.5",
        "                          no data",
        "---------------------------------",
        "Best * of all.",
    ]


def test_markdown_is_aligned_and_escaped(table: PaperTable) -> None:
    title, _, *lines, _, note = table.markdown().splitlines()
    assert title == "**Table 1. ACC, %**"
    assert note == r"Best \* of all."
    assert len({len(line) for line in lines}) == 1
    cells = [[cell.strip() for cell in line.replace(r"\|", "¦").split("|")] for line in lines]
    assert cells[0] == ["", "Set", "All¦features", "UDFS", ""]
    assert cells[1][1].startswith(":-")
    assert cells[1][2].endswith("-:")
    assert " " not in cells[2][2]  # a browser would break it before the deviation
    plain = [[cell.replace("\N{NO-BREAK SPACE}", " ") for cell in line] for line in cells]
    assert plain[2][1:3] == [r"a\_set", "41.2 ± 3.1<br>paper 41.9 ± 3.0<br>reproduced"]
    assert plain[3][1:4] == ["absent", "", "paper 22.1 ± 0.5<br>no data"]


def test_markdown_text_escapes_what_markdown_would_read() -> None:
    assert markdown_text("a|b <c>\n`d` [e]_\\") == r"a\|b \<c\> \`d\` \[e\]\_\\"


def test_terminal_table_holds_the_same_figures(table: PaperTable) -> None:
    console = Console(file=io.StringIO(), width=100)
    console.print(table.rich())
    shown = console.file.getvalue()  # type: ignore[attr-defined]
    for word in ("41.2 ± 3.1", "41.9 ± 3.0", "reproduced", "no data", "Best * of all."):
        assert word in shown


def test_data_can_be_written_as_json(table: PaperTable) -> None:
    data = json.loads(json.dumps(table.as_dict(), allow_nan=False))
    assert [cell["verdict"] for cell in data["cells"]] == ["reproduced", "–", "no data"]
    assert data["cells"][0]["ours"]["parameters"] == {"gamma": 0.1}
    assert data["cells"][2]["ours"] is None
    assert data["verdicts"] == {"reproduced": 1, "–": 1, "no data": 1}


def test_a_deviation_that_is_not_finite_is_null_in_json() -> None:
    cell = Cell(estimate(0.5, float("nan")))
    assert json.loads(json.dumps(cell.as_dict(), allow_nan=False))["ours"]["sd"] is None


def test_of_a_single_value_no_deviation_is_shown() -> None:
    single = Estimate.of(np.array([0.5]), 50, {})
    table = PaperTable("T", ["A"], ["b"], {("b", "A"): Cell(single, 0.52, resolution=0.005)})
    assert "±" not in table.text() + table.markdown()
    assert table.verdicts == {"lower": 1}
    ours = json.loads(json.dumps(table.as_dict(), allow_nan=False))["cells"][0]["ours"]
    assert (ours["mean"], ours["sd"], ours["low"], ours["high"]) == (0.5, None, None, None)


def test_a_table_can_be_restricted_to_sets(table: PaperTable) -> None:
    only = table.restricted({"a"})
    assert only is not None
    assert (list(only.rows), list(only.columns)) == (["a_set"], ["All|features", "UDFS"])
    only = table.restricted({"b"})
    assert only is not None
    assert (list(only.rows), list(only.columns)) == (["absent"], ["UDFS"])
    assert table.restricted({"a", "b"}) is table
    assert table.restricted({"c"}) is None


def test_a_cell_outside_the_table_is_an_error() -> None:
    with pytest.raises(ValueError, match="'T' has a cell for"):
        PaperTable("T", ["A"], ["x"], {("y", "A"): Cell()})


def test_transcription_reads_means_deviations_and_gaps() -> None:
    table = published_table("   | A | B | C\nrow | 5.04 ± 0.1 | 7 | \n", scale=1.0)
    assert table["row", "A"] == Printed(5.04, 0.1, 0.005)
    assert table["row", "B"] == Printed(7.0, None, 0.5)
    assert table["row", "C"] == NOTHING


@pytest.mark.parametrize(
    ("text", "message"),
    [("  | A | B\nrow | 1.0\n", "'row' has 1 figures under 2 heads"), ("  | A\nr | 3,5\n", "3,5")],
)
def test_transcription_refuses_what_it_cannot_read(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        published_table(text)


ALL_PRINTED = {
    "udfs 2": (udfs.TABLE_2, 36),
    "udfs 3": (udfs.TABLE_3, 36),
    "jelsr 2": (jelsr.TABLE_2, 30),
    "jelsr 3": (jelsr.TABLE_3, 30),
    "jdlufs classification": (jdlufs.CLASSIFICATION, 54),
    "jdlufs NMI": (jdlufs.NMI, 54),
    "jdlufs ACC": (jdlufs.ACC, 54),
}


@pytest.mark.parametrize("name", ALL_PRINTED)
def test_transcribed_tables_are_complete_and_plausible(name: str) -> None:
    table, size = ALL_PRINTED[name]
    assert len(table) == size
    for figure in table.values():
        assert figure.mean is not None
        assert figure.sd is not None
        assert 0 < figure.mean < 1
        assert 0 < figure.sd < 0.25


def test_transcribed_figures() -> None:
    assert udfs.TABLE_2["Isolet", "UDFS"] == Printed(0.66, 0.036, 0.0005)
    assert udfs.TABLE_3["YALEB", "Feature ranking"].mean == 0.213
    assert jelsr.TABLE_2["45", "PCA score"].mean == 0.6248
    assert jelsr.TABLE_3["35", "MCFS"] == Printed(0.7034, 0.0134, 5e-5)
    assert jdlufs.ACC["JDLUFS (0.4)", "warpPIE10P"].mean == 0.326
    assert jdlufs.NMI["EUFS", "warpPIE10P"].sd == 0.1291
    assert jdlufs.CLASSIFICATION["JDLUFS (0.8)", "pixraw10P"].sd == 0.0233


def test_the_proposed_method_wins_in_print() -> None:
    # Every paper says so: a slip in the transcription would break it.
    for table in (udfs.TABLE_2, udfs.TABLE_3):
        for row in udfs.SETS:
            rivals = [figure.mean for (r, c), figure in table.items() if r == row and c != "UDFS"]
            assert table[row, "UDFS"].mean > max(rivals)  # type: ignore[type-var, operator]
    for table in (jelsr.TABLE_2, jelsr.TABLE_3):
        for row in map(str, jelsr.TABLE_NUMBERS):
            rivals = [figure.mean for (r, c), figure in table.items() if r == row and c != "JELSR"]
            assert table[row, "JELSR"].mean > max(rivals)  # type: ignore[type-var, operator]


def test_a_table_of_ours_alone_says_nothing_of_the_paper():
    cells = {("first", "A"): Cell(estimate(0.55, 0.07)), ("absent", "A"): Cell()}
    table = PaperTable("Ours", ["A"], ["first", "absent"], cells)
    assert "paper" not in table.text()
    assert "–" not in table.text()
    assert table.text().count("no data") == 1
    assert "–" not in table.markdown()
    assert table.verdicts == {"–": 1, "no data": 1}
    console = Console(width=80, record=True, file=io.StringIO())
    console.print(table.rich())
    shown = console.export_text()
    assert "55.0 ± 7.0" in shown
    assert "paper" not in shown


def test_gaps_are_failures_only_where_runs_failed() -> None:
    cells = {
        ("A", "10"): Cell(dataset="umist"),
        ("B", "10"): Cell(dataset="umist"),
        ("A", "20"): Cell(dataset="usps"),
        ("B", "20"): Cell(estimate(0.5), dataset="umist"),
        ("claim", "10"): Cell(dataset="umist"),
    }
    table = PaperTable("T", ("10", "20"), ("A", "B", "claim"), cells)
    told = table.with_failures({"umist": {"A"}}, {"umist": {"B"}, "usps": {"A"}}).cells
    assert {place for place, cell in told.items() if cell.verdict == "failed"} == {
        ("A", "10"),
        ("claim", "10"),
    }
    assert told["B", "10"].verdict == "no data"  # B was run, but not at this number
    assert table.with_failures({}, {}).cells == cells
