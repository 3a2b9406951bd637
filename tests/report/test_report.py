"""The report: every method, awkward tables, what it says, how it is saved."""

from __future__ import annotations

import os
import re
import warnings
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.preprocessing import StandardScaler

from tamis import MCFS, UDFS, LaplacianScore, MaxVariance, RandomSubset, report
from tamis.evidence import Groups, View
from tamis.graphs import neighbor_graph
from tamis.registry import METHODS, make
from tamis.report import _charts as charts

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


def table(n_samples=40, n_features=9, seed=0):
    rng = np.random.RandomState(seed)
    return np.abs(rng.normal(size=(n_samples, 3)) @ rng.normal(size=(3, n_features))) + 0.1


def paths(page: report.Report) -> list[str]:
    return [attrs["d"] or "" for tag, attrs in Reader(page.html).tags if tag == "path"]


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
    assert ('id="convergence"' in page.html) == (len(getattr(selector, "objective_", ())) > 0)
    assert not re.search(r"\bnan\b|\binf\b", " ".join(paths(page)), re.IGNORECASE)


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


def test_what_it_says():
    rng = np.random.RandomState(0)
    X = rng.normal(size=(150, 40)) * 0.1
    X[:, :4] *= 100
    good = report.selection(MaxVariance(4).fit(X), X)
    assert good.summary[0] == (
        "4 of 40 columns keep over 99 % of the variance: better than 20 of 20 random choices of 4 "
        "columns."
    )
    assert not any("as well" in sentence for sentence in good.summary)
    X = rng.normal(size=(150, 2)) @ rng.normal(size=(2, 40)) + 0.01 * rng.normal(size=(150, 40))
    X[:, :4] = rng.normal(size=(150, 4))
    bad = MaxVariance(4).fit(X)
    bad.ranking_ = np.arange(1, 41)
    said = report.selection(bad, X).summary
    assert "better than 0 of 20 random choices" in said[0]
    assert said[-1].startswith("By these measures random columns would have served as well.")


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


def test_the_same_call_gives_the_same_page():
    X = table()
    selector = LaplacianScore(3).fit(X)
    assert report.selection(selector, X).html == report.selection(selector, X).html


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


def test_image():
    X = table(20, 12)
    selector = MaxVariance(5).fit(X)
    page = report.selection(selector, X, image_shape=(3, 4))
    assert "Image of 3 × 4 pixels, of which 5 are kept." in page.html
    with pytest.raises(ValueError, match=r"image_shape=\(3, 3\) has 9 pixels, but X has 12"):
        report.selection(selector, X, image_shape=(3, 3))


def test_long_lists_are_cut_and_it_is_said():
    X = np.random.RandomState(0).normal(size=(30, 800))
    page = report.selection(MaxVariance(600).fit(X), X, n_subsamples=2)
    assert page.html.count('<th scope="row">x') == 500
    assert "Only the best 500 are listed." in page.html
    assert "the best 100 kept columns" in page.html


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
        for run in re.findall(r"h([\d.]+)v1", charts._runs(mask)):
            area += float(run)
        assert area == mask.sum()

    def test_the_score_curve_keeps_its_ends(self):
        scores = np.random.RandomState(0).rand(5000) + 1
        chart = charts.score_chart(scores, 100, 50)
        assert chart.x_label == "the best 1,000 of 5,000 columns"
        assert [tick.label for tick, _ in chart.marks] == ["kept: 100", "knee: 50"]
        assert chart.shapes[-1].path.startswith("M0 0L")

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
