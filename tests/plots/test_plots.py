"""Plots: what is drawn, and on which axes."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from sklearn.datasets import load_digits

from tamis import TRACK, UDFS, LaplacianScore, MaxVariance, plots, report
from tamis.inspection import knee

pytest.importorskip("matplotlib", reason="the plots need matplotlib: install tamis[plot]")


@pytest.fixture(autouse=True)
def pyplot():
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    yield pyplot
    pyplot.close("all")


@pytest.fixture(scope="module")
def digits():
    data = load_digits()
    return data.data[:150], data.target[:150]


def test_scores(digits, pyplot):
    selector = MaxVariance(16).fit(digits[0])
    own = pyplot.subplots()[1]
    ax = plots.plot_scores(selector, ax=own, color="red")
    assert ax is own
    curve, cut, bend = ax.get_lines()
    assert curve.get_ydata()[:64] == pytest.approx(np.sort(selector.scores_)[::-1])
    assert curve.get_color() == "red"
    assert cut.get_xdata()[0] == 16
    assert bend.get_xdata()[0] == knee(selector.scores_[np.ptp(digits[0], axis=0) > 0])
    # The number of features may change without a new fit.
    selector.set_params(n_features_to_select=5)
    assert plots.ScoresDisplay.from_estimator(selector).n_selected == 5


@pytest.mark.slow
def test_the_knee_is_that_of_the_report():
    """Constant columns are no part of the curve that bends, there or here."""
    spread = np.sqrt([9, 8, 5, 4.5, 4.2, 4, 3.9, 3.8])
    X = np.resize([-1.0, 1.0], (50, 1)) * spread
    X = np.hstack([X, np.ones((50, 40))])
    selector = MaxVariance(3).fit(X)
    shown = plots.ScoresDisplay.from_estimator(selector).knee
    assert shown == knee(selector.scores_[:8]) != knee(selector.scores_)
    page = report.selection(selector, X, n_subsamples=0)
    assert f"knee: {shown}<" in page.html


def test_scores_without_a_knee():
    X = np.random.RandomState(0).normal(size=(9, 1))
    assert len(plots.plot_scores(MaxVariance(1).fit(X)).get_lines()) == 2


def test_path(digits):
    selector = UDFS(5, n_clusters=3).fit(digits[0])
    (curve,) = plots.plot_path(selector).get_lines()
    assert curve.get_ydata() == pytest.approx(selector.objective_)
    assert curve.get_xdata()[0] == 1
    with pytest.raises(ValueError, match="MaxVariance does not iterate"):
        plots.plot_path(MaxVariance(3).fit(digits[0]))


@pytest.mark.parametrize("order", ["C", "F"])
def test_selection(digits, order):
    X = digits[0]
    selector = MaxVariance(10).fit(X)
    ax = plots.plot_selection(selector, (4, 16), background=X.mean(axis=0), order=order)
    grey, mask = (image.get_array() for image in ax.get_images())
    kept = ~np.ma.getmaskarray(mask)
    assert kept.ravel(order=order).tolist() == selector.get_support().tolist()
    assert np.asarray(grey).ravel(order=order) == pytest.approx(X.mean(axis=0))


def test_selection_refuses_another_shape(digits):
    selector = MaxVariance(10).fit(digits[0])
    with pytest.raises(ValueError, match=r"image_shape=\(8, 9\) does not hold the 64 columns"):
        plots.plot_selection(selector, (8, 9))
    with pytest.raises(ValueError, match="order must be"):
        plots.plot_selection(selector, (8, 8), order="A")


@pytest.mark.parametrize("method", ["pca", "spectral"])
def test_embedding(digits, method):
    X, y = digits
    before, after = plots.plot_embedding(MaxVariance(9).fit(X), X, labels=y, method=method)
    for ax in (before, after):
        drawn = np.vstack([points.get_offsets() for points in ax.collections])
        assert drawn.shape == (150, 2)
        assert np.isfinite(drawn).all()
        assert len(ax.collections) == 10
    assert after.get_title() == "the 9 selected"
    named = {"pca": "first principal component", "spectral": "first Laplacian eigenvector"}
    assert before.get_xlabel() == named[method]
    assert before.get_ylabel() == named[method].replace("first", "second")
    assert "turned" in after.get_xlabel()


def test_embedding_of_part_of_the_rows_by_found_clusters(digits, pyplot):
    X, _ = digits
    selector = TRACK(9, n_clusters=4, random_state=0, n_init=1).fit(X)
    pair = pyplot.subplots(1, 2)[1]
    axes = plots.plot_embedding(selector, X, ax=pair, max_samples=40)
    assert list(axes) == list(pair)
    assert sum(len(points.get_offsets()) for points in axes[0].collections) == 40
    assert axes[1].get_legend().get_title().get_text() == "the clusters that TRACK found"
    with pytest.raises(ValueError, match="two axes"):
        plots.plot_embedding(selector, X, ax=pair[0])
    with pytest.raises(ValueError, match="give one label a row"):
        plots.plot_embedding(selector, X, labels=[1, 2])
    with pytest.raises(ValueError, match="method must be"):
        plots.plot_embedding(selector, X, method="tsne")


def test_stability(digits):
    X, _ = digits
    selector = LaplacianScore(8).fit(X)
    display = plots.StabilityDisplay.from_estimator(selector, X, n_subsamples=4)
    assert display.ax_.get_title() == f"LaplacianScore: stability {display.stability.value:.2f}"
    heights = sorted((bar.get_height() for bar in display.ax_.patches), reverse=True)
    assert sum(heights) == pytest.approx(8)
    assert plots.plot_stability(selector, X, n_subsamples=2).get_ylim() == (0, 1.02)
    with pytest.raises(ValueError, match="at least 2 subsamples"):
        plots.plot_stability(selector, X, n_subsamples=1)
    with pytest.raises(ValueError, match="needs more than 10 rows"):
        plots.plot_stability(MaxVariance(2).fit(X[:9]), X[:9])


def test_without_matplotlib_one_line_says_so(digits, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"pip install 'tamis\[plot\]'"):
        plots.plot_scores(MaxVariance(3).fit(digits[0]))
