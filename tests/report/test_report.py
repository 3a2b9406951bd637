"""The report: every method, awkward tables, what it says, how it is saved."""

from __future__ import annotations

import json
import os
import re
import warnings
from html.parser import HTMLParser
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from references.tables import positive_of_three_factors as table
from sklearn.preprocessing import StandardScaler

from tamis import MCFS, UDFS, Auto, LaplacianScore, MaxVariance, RandomSubset, report
from tamis.charts import curves as charts
from tamis.charts import grids, words
from tamis.charts import numbers as why_charts
from tamis.charts.prepared import MOST_SOURCES, describe_preparation
from tamis.graphs import neighbor_graph
from tamis.inspection import Groups, View
from tamis.registry import METHODS, make

VOID = {"meta", "link", "input", "br", "img", "hr"}
HOSTILE = "<script>alert(1)</script>"


class Reader(HTMLParser):
    """Checks that every element is closed in order; gathers tags and texts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data.strip())

    def count(self, tag: str) -> int:
        return sum(name == tag for name, _ in self.tags)


def paths(page: report.Report) -> list[str]:
    return [attrs["d"] or "" for tag, attrs in Reader(page.html).tags if tag == "path"]


@pytest.mark.slow
@pytest.mark.parametrize("name", METHODS)
def test_every_method(name):
    X = table()
    selector = make(name, n_features_to_select=3)
    settings = {"random_state": 0, "n_clusters": 2, "n_init": 1, "max_iter": 30}
    known = selector.get_params()
    selector.set_params(**{key: value for key, value in settings.items() if key in known})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of convergence, which is not tested here
        selector.fit(X)
    page = report.selection(selector, X, n_subsamples=2)
    reader = Reader(page.html)
    assert type(selector).__name__ in reader.texts
    assert "Not measured." not in page.html
    n_iter = len(getattr(selector, "objective_", ()))
    assert ('id="convergence"' in page.html) == (n_iter > 0)
    assert ("Objective over" in page.html) == (n_iter >= 4)
    assert not re.search(r"\bnan\b|\binf\b", " ".join(paths(page)), re.IGNORECASE)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("X", "n_kept"),
    [
        (table(), 1),
        (table(), 9),
        (np.c_[table(), np.ones((40, 3))], 11),
        (np.ones((12, 4)), 2),
        (table(3, 4), 2),
        (table(2, 2), 1),
        (table(30, 1), 1),
        (table(20, 700), 650),
        (sp.csr_array(np.where(table(40, 50) > 1, table(40, 50), 0)), 5),
        (table().astype(np.float32) * 1e-20, 3),
        (-1e9 * table(), 3),
        (pd.DataFrame(table(), columns=list("abcdefghi")), 3),
    ],
    ids=[
        "one feature",
        "all features",
        "constants kept",
        "all constant",
        "three rows",
        "two rows",
        "one column",
        "wide",
        "sparse",
        "tiny",
        "huge",
        "frame",
    ],
)
def test_awkward_tables(X, n_kept):
    page = report.selection(MaxVariance(n_kept).fit(X), X)
    Reader(page.html)
    assert not re.search(r"\bnan\b|\binf\b", " ".join(paths(page)), re.IGNORECASE)
    assert f"{n_kept} of {X.shape[1]} column" in page.summary[0]


@pytest.mark.slow
def test_what_it_says():
    rng = np.random.RandomState(0)
    X = rng.normal(size=(150, 40)) * 0.1
    X[:, :4] *= 100
    good = report.selection(MaxVariance(4).fit(X), X)
    assert good.summary[0].startswith(
        "4 of 40 columns keep 99.9 % of the variance in held-out rows, against a noise level of "
        "99.9 %: better than 20 of 20 random choices of 4 columns."
    )
    assert not any("as well" in sentence for sentence in good.summary)
    X = rng.normal(size=(150, 2)) @ rng.normal(size=(2, 40)) + 0.01 * rng.normal(size=(150, 40))
    X[:, :4] = rng.normal(size=(150, 4))
    bad = MaxVariance(4).fit(X)
    bad.ranking_ = np.arange(1, 41)
    said = report.selection(bad, X).summary
    assert "better than 0 of 20 random choices" in said[0]
    assert said[-1].startswith("By these measures random columns would have served as well.")


@pytest.mark.slow
def test_noise_is_called_noise():
    X = np.random.RandomState(0).normal(size=(100, 1000))
    said = report.selection(MaxVariance(90).fit(X), X, n_subsamples=0).summary
    share, level = re.search(r"keep (\d+) % .* noise level of (\d+) %", said[0]).groups()
    assert 8 <= int(level) <= int(share) <= 15
    assert said[0].endswith(
        "Of the other columns they tell next to nothing, as in a table of noise."
    )
    assert any("they show no groups beyond that" in sentence for sentence in said)


def planted(n_informative=8):
    rng = np.random.RandomState(0)
    X = rng.normal(size=(150, 600))
    y = np.arange(150) % 3
    centres = rng.choice([-1.5, 1.5], size=(3, n_informative))
    centres[:, :3] = 3 * np.eye(3) - 1
    X[:, :n_informative] += centres[y]
    return X, y


@pytest.mark.slow
def test_groups_that_repeat_outweigh_lost_neighbours():
    """Neighbours in a table that is mostly noise condemn the very columns that are not."""
    X, y = planted()
    page = report.selection(MaxVariance(8).fit(X), X, labels=y, n_subsamples=0)
    said = page.summary
    assert said[0].startswith(
        "8 of 600 columns show groups that other rows show again, much better than all columns do: "
        "agreement 1.00 against 0."
    )
    (neighbours,) = (sentence for sentence in said if "nearest neighbours" in sentence)
    assert neighbours.endswith("most columns know nothing of the groups.")
    assert any(
        "finds the labels with NMI 1.00 and accuracy 1.00 in the kept columns" in sentence
        for sentence in said
    )
    assert not any("as in a table of noise" in sentence for sentence in said)
    assert not any("as well. Try another" in sentence for sentence in said)
    assert "Groups that repeat" in page.html
    # The colours are those of the groups that were found, where no labels give others.
    plain = report.selection(MaxVariance(8).fit(X), X, n_subsamples=0)
    assert "coloured by clusters that K-means found in the kept columns" in plain.html


@pytest.mark.slow
def test_random_columns_do_not_serve_for_groups():
    """What keeps less than random columns, but shows groups, is not called useless."""
    rng = np.random.RandomState(0)
    factors = rng.normal(size=(150, 6))
    X = factors @ rng.normal(size=(6, 100)) + 0.2 * rng.normal(size=(150, 100))
    X[:, :2] = 0.3 * rng.normal(size=(150, 2)) + np.resize(np.eye(3)[:, :2] * 4, (150, 2))
    selector = MaxVariance(2).fit(X)
    selector.ranking_ = np.arange(1, 101)
    said = report.selection(selector, X, n_subsamples=0).summary
    assert said[-1].startswith("To rebuild the table, or to keep neighbours, random columns")
    assert "To find groups they would not" in said[-1]


@pytest.mark.slow
def test_a_table_scaled_otherwise_is_said():
    X = 10 + 3 * table()
    selector = MaxVariance(3).fit(X)
    with pytest.warns(UserWarning, match="X is not as the selector saw it: column 'x0' runs from"):
        page = report.selection(selector, StandardScaler().fit_transform(X), n_subsamples=0)
    assert '<p class="caution">X is not as the selector saw it' in page.html
    assert 'class="caution"' not in report.selection(selector, X, n_subsamples=0).html


def test_names_labels_and_texts_are_escaped():
    X = table()
    names = [f"{HOSTILE} {j}" for j in range(9)]
    page = report.selection(
        MaxVariance(4).fit(X),
        X,
        feature_names=names,
        labels=np.resize([HOSTILE, '"><b>'], 40),
        title=HOSTILE,
        command=HOSTILE,
    )
    reader = Reader(page.html)
    assert reader.count("script") == 1
    assert reader.count("b") == 2  # the brand and the method
    assert HOSTILE in reader.texts
    assert f"{HOSTILE} {np.argmax(X.var(axis=0))}" in reader.texts
    assert HOSTILE not in page.html
    shown = page._repr_html_()
    assert shown.count("<") == 2
    assert "&lt;script&gt;" in shown


@pytest.mark.slow
def test_nothing_is_loaded_from_elsewhere():
    X = table()
    page = report.selection(MaxVariance(4).fit(X), X)
    reader = Reader(page.html)
    policies = [
        attrs["content"] or ""
        for tag, attrs in reader.tags
        if attrs.get("http-equiv") == "Content-Security-Policy"
    ]
    assert len(policies) == 1
    assert policies[0].startswith("default-src 'none'; style-src 'sha256-")
    assert "unsafe" not in policies[0]
    for _, attrs in reader.tags:
        assert "style" not in attrs  # the policy would refuse it
        assert not any(name.startswith("on") for name in attrs)
        for name in ("src", "href", "xlink:href", "action"):
            assert (attrs.get(name) or "#")[:1] == "#" or attrs[name] == "data:,"
    assert "url(" not in page.html
    assert "@import" not in page.html


@pytest.mark.slow
def test_the_same_call_gives_the_same_page():
    X = table()
    selector = LaplacianScore(3).fit(X)
    assert report.selection(selector, X).html == report.selection(selector, X).html


@pytest.mark.slow
def test_how_to_repeat_it():
    X = table()
    graph = neighbor_graph(X, 4)
    selector = MCFS(3, n_clusters=2, affinity=graph).fit(X)
    page = report.selection(selector, X, command="tamis select table.csv -k 3")
    texts = Reader(page.html).texts
    assert "tamis select table.csv -k 3" in texts
    code = next(text for text in texts if text.startswith("from tamis import MCFS"))
    assert "# affinity: a csr_array of shape (40, 40)" in code
    assert "MCFS(n_features_to_select=3, n_clusters=2, affinity=affinity)" in code
    found: dict[str, object] = {"X": X, "affinity": graph}
    exec(code, found)
    assert (found["X_selected"] == selector.transform(X)).all()
    plain = report.selection(UDFS(3, n_clusters=2, gamma=0.5).fit(X), X)
    code = next(text for text in Reader(plain.html).texts if text.startswith("from tamis"))
    found = {"X": X}
    exec(code, found)
    assert found["X_selected"].shape == (40, 3)
    assert "given no" in report.selection(RandomSubset(3).fit(X), X).html
    assert "given no" not in report.selection(RandomSubset(3, random_state=0).fit(X), X).html


@pytest.mark.slow
def test_image():
    X = table(20, 12)
    selector = MaxVariance(5).fit(X)
    page = report.selection(selector, X, image_shape=(3, 4))
    assert "Image of 3 × 4 pixels, of which 5 are kept." in page.html
    with pytest.raises(ValueError, match=r"image_shape=\(3, 3\) has 9 pixels, but X has 12"):
        report.selection(selector, X, image_shape=(3, 3))


@pytest.mark.slow
def test_long_lists_are_cut_and_it_is_said():
    X = np.random.RandomState(0).normal(size=(30, 800))
    page = report.selection(MaxVariance(600).fit(X), X, n_subsamples=2)
    assert page.html.count('<th scope="row">x') == 500
    assert "Only the best 500 are listed; Find reaches the others." in page.html
    (others,) = (
        json.loads(attrs["data-columns"])
        for _, attrs in Reader(page.html).tags
        if attrs.get("id") == "other-columns"
    )
    assert len(others) == 300
    assert sum(kept for *_, kept in others) == 100
    assert [rank for _, _, rank, *_ in others] == list(range(501, 801))
    assert "the best 100 kept columns" in page.html


@pytest.mark.slow
def test_stability_can_be_left_out_and_says_why():
    X = table()
    assert (
        "Stability was not asked for."
        in report.selection(MaxVariance(2).fit(X), X, n_subsamples=0).html
    )
    assert "All columns are kept" in report.selection(MaxVariance(9).fit(X), X).html


def test_bad_input_is_refused_before_any_work():
    X = table()
    selector = MaxVariance(2).fit(X)
    with pytest.raises(ValueError, match="give one label a row"):
        report.selection(selector, X, labels=[1, 2, 3])
    with pytest.raises(ValueError, match="X has 3 columns"):
        report.selection(selector, X[:, :3])


@pytest.fixture(scope="module")
def page():
    X = table()
    return report.selection(MaxVariance(2).fit(X), X, n_subsamples=0)


class TestSaving:
    @pytest.mark.slow
    def test_whole_file(self, page, tmp_path):
        path = tmp_path / "report.html"
        path.write_text("old")
        assert page.save(str(path)) == path
        assert path.read_text(encoding="utf-8") == page.html
        assert path.stat().st_mode & 0o044  # others may read it, as any new file
        assert list(tmp_path.iterdir()) == [path]

    def test_failure_leaves_what_was_there(self, page, tmp_path, monkeypatch):
        path = tmp_path / "report.html"
        path.write_text("old")

        def full(*args):
            raise OSError(28, "No space left on device")

        monkeypatch.setattr("os.fsync", full)
        with pytest.raises(OSError, match="No space left"):
            page.save(path)
        assert path.read_text() == "old"
        assert list(tmp_path.iterdir()) == [path]

    @pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
    def test_a_pipe_is_written_through(self, tmp_path):
        pipe = tmp_path / "pipe"
        os.mkfifo(pipe)
        reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)  # with it, writing does not wait
        try:
            report.Report("<p>Ünder 64 kB</p>", "A pipe", ()).save(pipe)
            assert os.read(reader, 1000).decode() == "<p>Ünder 64 kB</p>"
        finally:
            os.close(reader)
        assert pipe.is_fifo()
        assert list(tmp_path.iterdir()) == [pipe]

    def test_no_folder(self, page, tmp_path):
        with pytest.raises(FileNotFoundError, match=r"There is no folder .*make it"):
            page.save(tmp_path / "none" / "report.html")
        with pytest.raises(IsADirectoryError, match="is a folder"):
            page.save(tmp_path)


def test_the_recipe_scales_as_the_table_was_scaled():
    X = table() * np.logspace(0, 3, 9)
    scaler = StandardScaler(with_mean=False)
    selector = UDFS(3, n_clusters=2).fit(scaler.fit_transform(X))
    page = report.selection(
        selector, scaler.transform(X), preparation=[f"Scaled. {HOSTILE}"], scaler=scaler
    )
    reader = Reader(page.html)
    assert f"Scaled. {HOSTILE}" in reader.texts
    (code,) = (text for text in reader.texts if "fit_transform" in text)
    found = {"X": X}
    exec(code, found)
    np.testing.assert_allclose(found["X_selected"], selector.transform(scaler.transform(X)))
    with pytest.raises(TypeError, match="sequence of sentences"):
        report.selection(selector, scaler.transform(X), preparation="Scaled.")


class TestHowTheTableWasPrepared:
    def fitted(self, **changes):
        """What a fitted preparation tells, without the preparation."""
        told = {
            "kinds_": {"height": "number", "colour": "category", "name": "text", "gap": "number"},
            "groups_": {
                "height": ["height"],
                "colour": ["colour_red", f"colour_{HOSTILE}"],
                "gap": ["gap"],
            },
            "imputed_": {"gap": 0.25},
            "notes_": ("'name' is free text and is left out.",),
        }
        return SimpleNamespace(**told | changes)

    def test_the_columns_that_something_was_done_to_come_first(self):
        found = describe_preparation(["Columns standardised."], self.fitted())
        assert found.sentences == ("'name' is free text and is left out.", "Columns standardised.")
        told = [(row["column"], row["kind"], row["gaps"], row["becomes"]) for row in found.rows]
        assert told == [
            ("colour", "categories", "", "2 columns"),
            ("name", "free text", "", "nothing: it is left out"),
            ("gap", "numbers", "25 %", "itself"),
            ("height", "numbers", "", "itself"),
        ]

    def test_a_sentence_is_said_once(self):
        note = "'name' is free text and is left out."
        assert describe_preparation([note], self.fitted()).sentences == (note,)

    def test_of_many_columns_some_are_listed(self):
        kinds = {f"c{j}": "number" for j in range(MOST_SOURCES + 3)}
        groups = {name: [name] for name in kinds}
        found = describe_preparation([], self.fitted(kinds_=kinds, groups_=groups))
        assert (len(found.rows), found.n_left_out) == (MOST_SOURCES, 3)

    def test_the_section_is_there_only_where_something_was_done(self):
        X = table(40, 5)
        selector = MaxVariance(2).fit(X)
        for given, there in (({}, False), ({"prepared_by": self.fitted()}, True)):
            page = report.selection(selector, X, n_subsamples=0, **given)
            assert ("How the table was prepared" in Reader(page.html).texts) == there
            assert ('href="#prepared"' in page.html) == there
            assert ('id="prepared"' in page.html) == there
            assert ("2 columns" in Reader(page.html).texts) == there

    def test_a_preparation_that_was_not_fitted(self):
        X = table(40, 5)
        with pytest.raises(TypeError, match="call its fit first"):
            report.selection(MaxVariance(2).fit(X), X, prepared_by=SimpleNamespace())


@pytest.mark.slow
@pytest.mark.parametrize("scale", ["auto", "standard", "columns", "unit", "none"])
@pytest.mark.parametrize("max_rows", [None, 60])
def test_the_recipe_of_a_command_repeats_it(scale, max_rows, tmp_path, monkeypatch):
    """Read, drawn, scaled and fitted once more by the code of the page: the same columns."""
    from typer.testing import CliRunner

    from tamis.cli import app

    monkeypatch.chdir(tmp_path)
    X = table(100, 12) * np.logspace(0, 2, 12)
    frame = pd.DataFrame(X, columns=[f"c{j}" for j in range(12)])
    frame.insert(3, "kind", np.resize(["a", "b"], 100))
    frame.insert(0, "sample", [f"s{i}" for i in range(100)])
    frame.to_csv("table.csv", index=False)
    command = "select table.csv -k 4 -m laplacian_score --labels kind --id sample --seed 3"
    command += f" --scale {scale} --report r.html -o out.csv"
    if max_rows:
        command += f" --max-rows {max_rows}"
    result = CliRunner().invoke(app, command.split())
    assert result.exit_code == 0, result.output
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    (code,) = (text for text in Reader(page).texts if "selector = LaplacianScore" in text)
    assert ("default_rng(3)" in code) == (max_rows is not None)
    found: dict[str, Any] = {}
    exec(code, found)
    names = np.array(found["table"].feature_names)[found["selector"].get_support()]
    kept = pd.read_csv("out.csv").columns
    assert set(names) == set(kept) - {"kind", "sample"}
    assert len(found["X"]) == (max_rows or 100)
    shown = [attrs["data-score"] for _, attrs in Reader(page).tags if "data-score" in attrs]
    again = np.sort(found["selector"].scores_)[::-1][:4]
    np.testing.assert_allclose([float(score) for score in shown], again)


@pytest.mark.parametrize("options", ["", "--scale columns", "--clusters 3 --seed 5", "-k 2"])
def test_the_recipe_of_the_automatic_selection(options, tmp_path, monkeypatch):
    from typer.testing import CliRunner

    from tamis.cli import app

    monkeypatch.chdir(tmp_path)
    X, names = grouped()
    pd.DataFrame(X, columns=names).to_csv("table.csv", index=False)
    command = f"select table.csv --max-rows 90 --report r.html --json {options}"
    result = CliRunner().invoke(app, command.split())
    assert result.exit_code == 0, result.output
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    (code,) = (text for text in Reader(page).texts if "selector = Auto(" in text)
    found: dict[str, Any] = {}
    exec(code, found)
    wanted = json.loads(result.stdout)
    kept = np.flatnonzero(found["selector"].get_support())
    assert sorted(entry["column"] for entry in wanted["kept"]) == kept.tolist()
    assert found["selector"].n_clusters_ == wanted["n_clusters"]
    assert found["selector"].structure_ == wanted["structure"]


@pytest.mark.slow
def test_the_recipe_of_a_sparse_sample(tmp_path, monkeypatch):
    from typer.testing import CliRunner

    from tamis.cli import app

    monkeypatch.chdir(tmp_path)
    X = sp.random_array((80, 30), density=0.3, format="csr", rng=0)
    sp.save_npz("table.npz", X)
    command = "select table.npz -k 4 -m laplacian_score --scale unit --max-rows 50 --report r.html"
    result = CliRunner().invoke(app, command.split())
    assert result.exit_code == 0, result.output
    reader = Reader((tmp_path / "r.html").read_text(encoding="utf-8"))
    (code,) = (text for text in reader.texts if "selector = LaplacianScore" in text)
    found: dict[str, Any] = {}
    exec(code, found)
    assert found["X"].shape == (50, 30)
    shown = [attrs["data-index"] for _, attrs in reader.tags if "data-index" in attrs]
    best = np.argsort(found["selector"].ranking_)[:4]
    assert [int(index) for index in shown] == best.tolist()


@pytest.mark.slow
def test_long_names_are_cut_and_shown_on_hover():
    long = [f"the concentration of substance {j} in the blood, in mmol/l" for j in range(9)]
    page = report.selection(MaxVariance(4).fit(table()), table(), feature_names=long)
    reader = Reader(page.html)
    named = {attrs["title"] for _, attrs in reader.tags if attrs.get("title")}
    assert named <= set(long)
    assert len(named) == 4
    assert not any(text in long for text in reader.texts)
    assert {attrs["data-name"] for tag, attrs in reader.tags if "data-name" in attrs} == named


def grouped(n_noise=6):
    """Four groups in three columns, copies of two of them, a constant, and noise."""
    rng = np.random.RandomState(0)
    centres = 8 * rng.normal(size=(4, 3))
    told = centres[np.repeat(range(4), 25)] + rng.normal(size=(100, 3))
    near = told[:, [0]] + 0.5 * rng.normal(size=(100, 1))
    X = np.c_[told, 2 * told[:, [0]], -told[:, [1]], near, np.ones(100)]
    X = np.c_[X, 5 * rng.normal(size=(100, n_noise))]
    names = ["a", "b", "c", "copy of a", "minus b", "near a", "flat"]
    return X, [*names, *(f"noise {j}" for j in range(n_noise))]


def section(page: report.Report, name: str) -> str:
    return page.html.split(f'<section id="{name}"')[1].split("</section>")[0]


@pytest.fixture(scope="module")
def automatic():
    X, names = grouped()
    frame = pd.DataFrame(X, columns=names)
    auto = Auto().fit(frame)
    return auto, frame, report.selection(auto, frame, n_subsamples=0)


class TestWhy:
    def test_every_column_has_its_reason(self, automatic):
        rows = re.findall(
            r'<th scope="row">(.*?)</th>\n<td>(.*?)</td>', section(automatic[2], "why")
        )
        frame = automatic[0].reasons()
        state = frame["kept"].map({True: "Kept: ", False: "Not kept: "})
        assert dict(rows) == dict(zip(frame["column"], state + frame["reason"], strict=True))
        assert dict(rows)["flat"] == "Not kept: does not vary"
        kept = set(frame["column"][frame["kept"]])
        assert [name for name, _ in rows][: len(kept)] == list(
            frame[frame["kept"]].sort_values("rank")["column"]
        )

    def test_a_copy_of_a_kept_column_is_told(self, automatic):
        frame = automatic[1]
        page = report.selection(Auto(keep=["a"]).fit(frame), frame, n_subsamples=0)
        assert "Not kept: copy of a" in section(page, "why")

    def test_the_decisions_are_said(self, automatic):
        text = section(automatic[2], "why")
        assert "Structure: the columns know more of each other" in text
        assert f"Groups: {automatic[0].n_clusters_} were found" in text
        assert "1 does not vary" in text
        assert "Measured in the columns as Auto scaled them." in automatic[2].html

    def test_the_map_shows_every_column_beside_the_one_it_is_like(self, automatic):
        figure = section(automatic[2], "why").split("<figure>")[1].split("</figure>")[0]
        shown = re.findall(r"<title>(.*?): r = (\S+) with (.*?)</title>", figure)
        frame = automatic[0].reasons()
        others = frame[~frame["kept"] & frame["nearest"].notna()]
        assert {(name, near) for name, _, near in shown} == set(
            zip(others["column"], others["nearest"], strict=True)
        )
        assert figure.count('class="dots kept"') == (others["correlation"].abs() >= 0.7).sum()
        assert figure.count('text-anchor="end"') == frame["kept"].sum()

    def test_the_number_is_marked_on_its_curves(self, automatic):
        text = section(automatic[2], "how-many")
        assert text.count('<svg class="chart') == 3
        assert f"found, and kept: {automatic[0].n_features_}<" in text
        assert text.count(f">kept: {automatic[0].n_features_}<") == 2
        assert "line chance" in text

    def test_another_number_than_the_one_found(self, automatic):
        auto, frame, _ = automatic
        page = report.selection(Auto(auto.n_features_ + 1).fit(frame), frame, n_subsamples=0)
        assert f">found: {auto.n_features_}<" in section(page, "how-many")
        changed = Auto().fit(frame).set_params(n_features_to_select=9)
        page = report.selection(changed, frame, n_subsamples=0)
        assert "No reasons: Auto was fitted for" in section(page, "why")

    def test_other_methods_have_no_such_section(self):
        X = table()
        page = report.selection(MaxVariance(3).fit(X), X, n_subsamples=0)
        assert 'id="why"' not in page.html
        assert "as MaxVariance scaled them" not in page.html

    def test_names_are_escaped(self):
        X, _ = grouped()
        names = [f"{HOSTILE} {j}" for j in range(X.shape[1])]
        page = report.selection(Auto().fit(X), X, feature_names=names, n_subsamples=0)
        reader = Reader(page.html)
        assert reader.count("script") == 1
        assert HOSTILE not in page.html

    @pytest.mark.parametrize(
        "X",
        [
            table(3, 4),
            table(2, 2),
            table(30, 1),
            np.c_[table(30, 2), np.ones((30, 3))],
            np.repeat(table(30, 1), 4, axis=1),
            sp.csr_array(np.where(table(40, 50) > 1, table(40, 50), 0)),
            grouped(300)[0],
        ],
        ids=["three rows", "two rows", "one", "two vary", "copies", "sparse", "wide"],
    )
    def test_awkward_tables(self, X):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of no structure, which is what some of them have
            auto = Auto().fit(X)
            page = report.selection(auto, X, n_subsamples=0)
        Reader(page.html)
        assert not re.search(r"\bnan\b|\binf\b", " ".join(paths(page)), re.IGNORECASE)
        assert "Number: " in section(page, "how-many")


def test_a_selection_of_nothing_is_refused():
    X = np.ones((12, 4))
    with pytest.raises(ValueError, match="Auto keeps no column of X, as none varies"):
        report.selection(Auto().fit(X), X)


def test_the_map_has_room_for_fifty():
    rows = [
        {
            "column": f"column {j}", "kept": j < 60, "rank": j + 1 if j < 60 else None,
            "nearest": f"column {j % 60}", "correlation": -0.9,
        }
        for j in range(3000)
    ]  # fmt: skip
    figure = why_charts.map_chart(rows)
    assert figure is not None
    assert [tick.label for tick in figure.y_ticks] == [f"column {j}" for j in range(50)]
    assert len(figure.shapes) == 1  # one path for all dots, which are too many to be named
    assert figure.asides[0].label == "column 960, column 900 + 47"


class TestWords:
    @pytest.mark.parametrize(
        ("share", "expected"),
        [
            (0, "0 %"),
            (1, "100 %"),
            (0.763, "76 %"),
            (0.992, "99.2 %"),
            (0.9996, "99.96 %"),
            (0.004, "0.4 %"),
            (0.00004, "0.004 %"),
            (1 - 1e-7, "over 99.999 %"),
            (1e-7, "under 0.001 %"),
            (1.2, "120 %"),
        ],
    )
    def test_percent_has_the_digits_that_matter(self, share, expected):
        assert words.percent(share) == expected

    def test_spans_have_digits_that_differ(self):
        assert words.span(0.992, 0.996) == "99.2 % to 99.6 %"
        assert words.span(0.761, 0.764) == "76.1 % to 76.4 %"
        assert words.span(0.2, 0.9) == "20 % to 90 %"
        assert words.span(0.5, 0.5) == "50 %"

    def test_long_names_keep_both_ends(self):
        assert words.cut("short") == "short"
        cut = words.cut("a" * 50 + "-the-end")
        assert len(cut) == words.LONGEST_NAME
        assert cut.startswith("aaaa")
        assert cut.endswith("-the-end")


class TestCharts:
    @pytest.mark.parametrize(
        ("low", "high", "expected"),
        [
            (0, 1, [0, 0.5, 1]),
            (0, 64, [0, 20, 40, 60]),
            (-3, 3, [-2, 0, 2]),
            (5, 5, [5]),
            (0, 1e-12, [0, 5e-13, 1e-12]),
        ],
    )
    def test_ticks_are_round(self, low, high, expected):
        assert charts.nice_ticks(low, high) == pytest.approx(expected)

    def test_cells_are_drawn_once(self):
        mask = np.random.RandomState(0).rand(9, 13) > 0.5
        area = 0.0
        for run in re.findall(r"h([\d.]+)v1", grids._runs(mask)):
            area += float(run)
        assert area == mask.sum()

    def test_the_score_curve_keeps_its_ends(self):
        scores = np.random.RandomState(0).rand(5000) + 1
        chart = charts.score_chart(scores, 100, 50)
        assert chart.x_label == "the best 1,000 of 5,000 columns"
        assert [tick.label for tick, _ in chart.marks] == ["kept: 100", "knee: 50"]
        assert chart.shapes[-1].path.startswith("M0 0L")

    def test_marks_are_apart(self):
        scores = np.linspace(1, 0, 2000)
        for n_kept, bend in ((100, 101), (100, 99), (3, 4)):
            (cut, _), (knee, _) = charts.score_chart(scores, n_kept, bend).marks
            assert abs(cut.at - knee.at) >= 0.8
            assert (cut.at < knee.at) == (n_kept < bend)
        (both,) = charts.score_chart(scores, 100, 100).marks
        assert both[0].label == "kept, and knee: 100"

    def test_few_iterations_make_no_chart(self):
        assert charts.path_chart(np.array([3.0, 2.0, 1.5])) is None
        assert charts.path_chart(np.array([3.0, 2.0, 1.5, 1.4])) is not None

    def test_bars_say_whose_they_are(self):
        frequencies = np.array([0.5, 0.0, 1.0, 0.25])
        kept = np.array([False, False, True, False])
        chart = charts.frequency_chart(frequencies, kept, list("abcd"), 4)
        assert [shape.title for shape in chart.shapes] == [
            "c: kept in 4 of 4",
            "a: kept in 2 of 4",
            "d: kept in 1 of 4",
        ]
        assert [shape.css for shape in chart.shapes] == ["bar kept", "bar left", "bar left"]
        assert [tick.label for tick in chart.x_ticks] == ["1", "2", "3", "4"]
        many = charts.frequency_chart(np.ones(400), np.arange(400) < 9, list("abcd") * 100, 4)
        assert len(many.shapes) == 2

    def test_far_samples_do_not_press_the_others_together(self):
        points = np.random.RandomState(0).normal(size=(200, 2))
        points[:2] = [[1e4, 0], [0, -1e4]]
        groups = Groups("", ("a",), np.zeros(200, dtype=int))
        chart = charts.view_chart(View(points), groups, "")
        assert chart.note == "2 far samples are at the edge."
        places = np.array(re.findall(r"M(\d+) (\d+)h0", chart.shapes[0].path), dtype=float)
        assert places.min() >= 25
        assert places.max() <= 975
        assert places[2:].std(axis=0).min() > 100
        calm = charts.view_chart(View(points[2:]), Groups("", ("a",), groups.codes[2:]), "")
        assert calm.note == ""
