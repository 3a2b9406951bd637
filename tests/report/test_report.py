"""The report: every method, awkward tables, how it is saved."""

from __future__ import annotations

import json
import os
import re
import warnings
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from references.pages import HOSTILE, Reader, paths
from references.tables import positive_of_three_factors as table
from sklearn.preprocessing import StandardScaler

from tamis import Auto, LaplacianScore, MaxVariance, report
from tamis.charts.prepared import MOST_SOURCES, describe_preparation
from tamis.registry import METHODS, make

pytestmark = pytest.mark.usefixtures("rough_evidence")


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


def test_a_selection_of_nothing_is_refused():
    X = np.ones((12, 4))
    with pytest.raises(ValueError, match="Auto keeps no column of X, as none varies"):
        report.selection(Auto().fit(X), X)
