"""Functions and classes that tamis does not have, in comparisons."""

from __future__ import annotations

import sys
import textwrap

import numpy as np
import pandas as pd
import pytest
from references.tables import planted_groups
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin

from tamis import MaxVariance
from tamis.datasets import Dataset
from tamis.evaluation import (
    Candidate,
    Protocol,
    ScoringFunction,
    comparison_table,
    evaluate,
    load_selector,
)
from tamis.testing import check_selector
from tamis.utils.columns import variances


def spread(X):
    return np.asarray(X.max(axis=0) - X.min(axis=0)).ravel()


class Farthest(SelectorMixin, BaseEstimator):
    """As skmatter names its number: what varies most is kept."""

    def __init__(self, n_to_select=1):
        self.n_to_select = n_to_select

    def fit(self, X, y=None):
        order = np.argsort(-X.std(axis=0))
        self.mask_ = np.zeros(X.shape[1], dtype=bool)
        self.mask_[order[: self.n_to_select]] = True
        return self

    def _get_support_mask(self):
        return self.mask_


def planted() -> Dataset:
    X, groups = planted_groups()
    return Dataset("planted", X, groups)


@pytest.mark.slow
def test_a_function_is_a_selector():
    report = check_selector(ScoringFunction(variances))
    assert {words.split(":")[0] for words in report.values()} <= {"passed", "skipped"}
    assert report["sparse is dense"] == "passed"


def test_a_function_and_another_packages_number_take_part():
    protocol = Protocol(scaling="none", n_features=(6,), n_repeats=3)
    results = evaluate(
        [planted()],
        [
            Candidate("Spread", "spread", selector=spread),
            Candidate("Farthest", "farthest", selector=Farthest()),
            Candidate("Variance", "max_variance"),
        ],
        protocol,
    )
    assert {results.errors("planted", label)[:1] == [] for label in results.labels} == {True}
    # The planted columns vary most, however that is measured.
    figures = [
        results.values("planted", label, "kmeans_acc", 6)
        for label in ("Spread", "Farthest", "Variance")
    ]
    np.testing.assert_array_equal(figures[0], figures[2])
    np.testing.assert_array_equal(figures[1], figures[2])


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda X: 3.0, r"<lambda> returned float64 of shape \(\); it must return one number per"),
        (lambda X: X[0] * np.nan, "returned scores that are not finite"),
        (lambda X: ["a"] * X.shape[1], "it must return one number per column"),
    ],
)
def test_a_function_that_scores_nothing_is_told(function, words):
    with pytest.raises(ValueError, match=words):
        ScoringFunction(function).fit(planted_groups()[0])


@pytest.fixture
def module(tmp_path, monkeypatch):
    """A module in the current folder."""
    (tmp_path / "own_methods.py").write_text(
        textwrap.dedent(
            """
            import numpy as np
            from tamis import MaxVariance

            def spread(X):
                return X.max(axis=0) - X.min(axis=0)

            class Needy:
                def __init__(self, graph):
                    self.graph = graph

            ready = MaxVariance(3)
            number = 5
            """
        )
    )
    (tmp_path / "broken_methods.py").write_text("import no_such_package_anywhere\n")
    (tmp_path / "failing_methods.py").write_text("1 / 0\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield
    for name in ("own_methods", "broken_methods", "failing_methods"):
        sys.modules.pop(name, None)


@pytest.mark.usefixtures("module")
def test_names_mean_classes_instances_and_functions():
    assert isinstance(load_selector("tamis:MaxVariance"), MaxVariance)
    assert load_selector("own_methods:ready").n_features_to_select == 3
    assert isinstance(load_selector("own_methods:spread"), ScoringFunction)


@pytest.mark.usefixtures("module")
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("own_methods", "is not MODULE:NAME"),
        ("own_method:spread", "there is no module 'own_method'; install its package"),
        ("own_methods:sprad", r"own_methods has no 'sprad' \(did you mean spread or ready\?\)"),
        ("own_methods:Needy", "cannot be made without graph; name an instance"),
        ("own_methods:number", "5 is no estimator"),
        ("broken_methods:X", "broken_methods needs no_such_package_anywhere, which is not"),
        ("failing_methods:X", "cannot be imported: ZeroDivisionError: division by zero"),
    ],
)
def test_names_that_mean_nothing_get_one_sentence(name, words):
    with pytest.raises(ValueError, match=words) as caught:
        load_selector(name)
    assert "\n" not in str(caught.value)


@pytest.fixture(scope="module")
def results():
    tables = [planted(), Dataset("other", *planted_groups(60, 10, seed=1))]
    candidates = [
        Candidate("A_b", "max_variance"),
        Candidate("Fails", "fails", selector=lambda X: 1 / 0),
    ]
    with pytest.warns(RuntimeWarning, match="2 of 8 runs failed"):
        return evaluate(tables, candidates, Protocol(n_features=(6,), n_repeats=3))


def test_a_frame_has_every_value(results):
    frame = results.to_pandas()
    assert isinstance(frame, pd.DataFrame)
    n_values = sum(len(row["values"]) for r in results.records for row in r.rows)
    assert frame["value"].notna().sum() == n_values
    some = frame[(frame.set == "other") & (frame.label == "A_b") & (frame.measure == "kmeans_acc")]
    np.testing.assert_array_equal(some.value, results.values("other", "A_b", "kmeans_acc", 6))
    assert list(some["repeat"]) == [0, 1, 2]
    failed = frame[frame.label == "Fails"]
    assert len(failed) == 2
    assert failed["error"].str.contains("ZeroDivisionError").all()


def test_tables_for_pages_and_papers(results):
    table = comparison_table(results)
    assert table.columns == ("set", "All features", "Random subsets", "A_b", "Fails")
    assert [row[0] for row in table.rows] == ["planted", "other"]  # no set that all have finished
    assert all(row[-1] == "–" for row in table.rows)
    for row, best in zip(table.rows, table.best, strict=True):
        figures = [float(cell.split()[0]) for cell in row[2:4]]
        assert [figures[i - 2] for i in best] == [max(figures)] * len(best)
    latex = table.latex()
    assert r"A\_b" in latex
    assert r"$\pm$" in latex
    assert latex.count(r"\textbf") == sum(map(len, table.best))
    assert all(line.count("&") == 4 for line in latex.splitlines() if line.endswith(r"\\"))
    markdown = table.markdown()
    assert markdown.count("**") == 2 * (1 + sum(map(len, table.best)))
    assert "A dash: the run failed" in markdown
    assert "A dash: the run failed" in table.text()


def test_means_are_over_the_sets(results):
    table = comparison_table(
        type(results)([r for r in results.records if r.error is None], results.header)
    )
    values = [results.estimate(s, "A_b", "kmeans_acc").mean for s in results.sets]
    assert table.rows[-1][0] == "mean"
    assert table.rows[-1][-1] == f"{100 * np.mean(values):.1f}"


def test_what_was_not_measured_is_named(results):
    with pytest.raises(ValueError, match="nothing was measured as 'acc'; there are kmeans_acc, "):
        comparison_table(results, "acc")
