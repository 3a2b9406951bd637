"""What a notebook shows of a selector."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from references.tables import growing_spread
from sklearn import config_context

from tamis import M3FS, MaxVariance
from tamis.registry import METHODS


@pytest.fixture
def table():
    return growing_spread(30, 14)


def test_unfitted_is_as_scikit_learn_has_it():
    assert "tamis-top-features" not in MaxVariance(3)._repr_html_()


def test_fitted_shows_the_best_first(table):
    selector = MaxVariance(12).fit(table)
    shown = selector._repr_html_()
    assert "12 of 14 features selected, best first" in shown
    assert shown.count("<tr><td") >= 10
    assert "… and 2 more." in shown
    # scikit-learn's own picture may list features too, in the order of the table.
    shown = shown.partition("tamis-top-features")[2]
    places = [shown.index(f">x{column}<") for column in np.argsort(selector.ranking_)[:10]]
    assert places == sorted(places)
    assert "tamis-top-features" in selector._repr_mimebundle_()["text/html"]


def test_names_are_escaped(table):
    name = "<script>alert(1)</script>"
    frame = pd.DataFrame(table, columns=[f"{name}{j}" for j in range(14)])
    shown = MaxVariance(3).fit(frame)._repr_html_().partition("tamis-top-features")[2]
    assert "<script>" not in shown
    assert "&lt;script&gt;alert(1)&lt;/script&gt;13" in shown


def test_never_raises(table):
    selector = M3FS(2, n_clusters=2, random_state=0).fit(table[:, :4])
    selector.set_params(n_features_to_select=3)
    assert "Best of 4 features" in selector._repr_html_()
    constant = MaxVariance(1).fit(np.ones((5, 2)))
    assert "1 of 2 features" in constant._repr_html_()


def test_text_display_has_none(table):
    with config_context(display="text"):
        assert not hasattr(MaxVariance(3).fit(table), "_repr_html_")


def test_every_method_is_covered():
    for method in METHODS.values():
        assert "_html_repr" not in vars(method.selector)
