"""What makes two runs different ones."""

from __future__ import annotations

import functools

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.feature_selection import VarianceThreshold

from tamis import LaplacianScore, MaxVariance, Selector
from tamis.evaluation import Candidate
from tamis.evaluation.fingerprints import description, digest, is_plain

CONTENTS = "table"


def of(candidate: Candidate) -> str:
    (setting,) = candidate.settings(tuned=False)
    return candidate.fingerprint(setting, CONTENTS)


def own(selector: object, **parameters: object) -> str:
    return of(Candidate("M", "mine", parameters, selector=selector))


def test_registered_methods_with_plain_parameters_keep_the_fingerprint_of_earlier_versions():
    """Journals hold these: another one would make every run anew."""
    assert of(Candidate("A", "all_features")) == "ba9f4d9fc273be79"
    assert of(Candidate("V", "max_variance")) == "d0161a85d679a128"
    assert of(Candidate("V", "max_variance", scaling="unit")) == "2f601696d7ce3529"
    assert (
        of(Candidate("M", "mcfs", {"n_clusters": "n_classes", "n_neighbors": 7}))
        == "f871863e1ccffb3b"
    )


def two_of_one_name(first: bool) -> type[Selector]:
    if first:

        class Mine(MaxVariance):
            def _fit(self, X):
                return np.arange(X.shape[1])

    else:

        class Mine(MaxVariance):
            def _fit(self, X):
                return -np.arange(X.shape[1])

    return Mine


def closed_over(weight: float) -> type[Selector]:
    class Closed(MaxVariance):
        def _fit(self, X):
            return weight * np.arange(X.shape[1])

    return Closed


class Base(MaxVariance):
    pass


def test_another_class_of_the_same_name_is_another_selector():
    first, second = two_of_one_name(True), two_of_one_name(False)
    assert first.__qualname__ == second.__qualname__
    assert own(first()) != own(second())
    assert own(first()) == own(two_of_one_name(True)())
    assert own(first(3)) != own(first(4))


def test_what_a_class_closes_over_and_inherits_counts(monkeypatch):
    assert own(closed_over(1.0)()) != own(closed_over(-1.0)())
    assert own(closed_over(1.0)()) == own(closed_over(1.0)())

    class Child(Base):
        pass

    before = own(Child())
    monkeypatch.setattr(Base, "helper", lambda self: 1, raising=False)
    assert own(Child()) != before


SOURCE = """
class Typed(MaxVariance):
    def _fit(self, X):
        return {scores}
"""


def typed(scores: str) -> Selector:
    """As at a prompt, where there is no source to read."""
    space = {"MaxVariance": MaxVariance, "__name__": "prompt"}
    exec(SOURCE.format(scores=scores), space)
    return space["Typed"]()


def test_code_without_a_source_is_known_by_what_it_does():
    assert own(typed("X.mean(axis=0)")) != own(typed("X.max(axis=0)"))
    assert own(typed("X.mean(axis=0)")) != own(typed("X.mean(axis=1)"))
    assert own(typed("X.mean(axis=0)")) == own(typed("X.mean(axis=0)"))


def graph(weight: float) -> sp.csr_array:
    return sp.csr_array(np.full((40, 40), weight) - np.diag(np.full(40, weight)))


def test_graphs_are_told_apart_by_their_contents():
    found = {
        of(Candidate("L", "laplacian_score", {"affinity": affinity}))
        for affinity in (None, graph(1), graph(2), graph(1).toarray(), graph(2).toarray())
    }
    assert len(found) == 5
    again = Candidate("L", "laplacian_score", {"affinity": graph(1).tocoo()})
    assert of(again) in found
    assert own(LaplacianScore(affinity=graph(1))) != own(LaplacianScore(affinity=graph(2)))


@pytest.mark.parametrize(
    "make",
    [
        lambda x: np.r_[np.zeros(5000), x, np.zeros(5000)],  # numpy abbreviates these
        lambda x: sp.coo_array(np.diag([1.0, x])),
        lambda x: pd.DataFrame({"a": [0.0] * 99 + [x], "b": "text"}),
        lambda x: pl.DataFrame({"a": [0.0] * 99 + [x]}),
        lambda x: pd.Series([0.0] * 99 + [x]),
        lambda x: np.array([0.0, "a", x, None], dtype=object),
        lambda x: {"of": [1, (x, np.ones(3))]},
        lambda x: np.random.RandomState(int(x)),
        lambda x: np.random.default_rng(int(x)),
        lambda x: functools.partial(max, x),
        lambda x: VarianceThreshold(x),
        lambda x: lambda values: values * x,
        lambda x: {x, 9.5, "a"},
        lambda x: complex(0, x),
    ],
)
def test_values_are_known_by_what_they_hold(make):
    one, same, other = (digest(description(make(x))) for x in (1.0, 1.0, 2.0))
    assert one == same
    assert one != other
    assert not is_plain(make(1.0))


def test_an_object_that_holds_itself_has_an_end():
    ring: list[object] = [np.ones(2)]
    ring.append(ring)
    assert "itself" in repr(description(ring))


def test_frames_are_told_apart_by_their_column_names():
    assert description(pd.DataFrame({"a": [1]})) != description(pd.DataFrame({"b": [1]}))
