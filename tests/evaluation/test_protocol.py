from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest

from tamis.evaluation import Protocol


def test_it_is_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        Protocol().seed = 1


def test_json_holds_every_field():
    protocol = Protocol(n_features=(50, 0.5), clusterers=("kmeans", "ncut"), classifiers=("svm",))
    found = json.loads(json.dumps(protocol.as_dict()))
    assert set(found) == {field.name for field in dataclasses.fields(Protocol)}
    assert found["n_features"] == [50, 0.5]


def test_counts_leave_out_what_a_table_does_not_exceed():
    protocol = Protocol(n_features=(100, 10, 0.1, 1.0), max_features=30)
    assert protocol.counts(100) == [10, 30]
    assert protocol.counts(101) == [10, 30, 100]
    assert protocol.counts(4) == [1, 4]
    assert Protocol(n_features=(50,)).counts(50) == []


def test_fractions_are_rounded_as_told():
    for number, nearest, up in ((0.01, 3, 4), (0.02, 6, 7), (0.001, 1, 1)):
        assert Protocol(n_features=(number,)).counts(325) == [nearest]
        assert Protocol(n_features=(number,), rounding="up").counts(325) == [up]
    # In binary the product is a little more than 7.
    assert 0.07 * 100 > 7
    assert Protocol(n_features=(0.07,), rounding="up").counts(100) == [7]


def test_numbers_and_lists_of_numpy_are_taken():
    protocol = Protocol(n_features=np.arange(10, 31, 10), clusterers=["kmeans"])
    assert protocol.n_features == (10, 20, 30)
    assert protocol == Protocol(n_features=(10, 20, 30))
    whole = Protocol(n_repeats=np.int64(5), seed=np.uint8(3), max_samples=np.int32(7))
    assert whole == Protocol(n_repeats=5, seed=3, max_samples=7)
    json.dumps(whole.as_dict())
    json.dumps(protocol.as_dict())


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"scaling": "max"}, "scaling='max': 'max' is unknown; use 'none', 'unit'"),
        ({"clusterers": ("kmeans", "dbscan")}, "'dbscan' is unknown"),
        ({"kmeans_init": "farthest"}, "'farthest' is unknown"),
        ({"classifiers": ("tree",)}, "'tree' is unknown"),
        ({"tuning": "luck"}, "'luck' is unknown"),
        ({"rounding": "down"}, "'down' is unknown; use 'nearest', 'up'"),
        ({"n_fold_repeats": 0}, "n_fold_repeats=0 must be at least 1"),
        ({"n_repeats": 0}, "n_repeats=0 must be at least 1"),
        ({"max_samples": 0}, "max_samples=0 must be at least 1"),
        ({"n_folds": 1}, "n_folds=1 must be at least 2"),
        ({"n_features": ()}, "n_features is empty"),
        ({"n_features": (0,)}, "n_features holds 0"),
        ({"n_features": (1.5,)}, "n_features holds 1.5"),
        ({"n_features": 50}, "n_features=50 must be a tuple"),
        ({"clusterers": "kmeans"}, "clusterers='kmeans' must be a tuple"),
        ({"classifiers": "svm"}, "classifiers='svm' must be a tuple"),
        ({"clusterers": (), "tuning": "agreement"}, "clusterers is empty"),
        ({"n_repeats": 2.5}, "n_repeats=2.5 must be a whole number."),
        ({"n_repeats": None}, "n_repeats=None must be a whole number."),
        ({"n_repeats": True}, "n_repeats=True must be a whole number."),
        ({"n_init": "3"}, "n_init='3' must be a whole number."),
        ({"n_folds": 3.0}, "n_folds=3.0 must be a whole number."),
        ({"n_random": float("nan")}, "n_random=nan must be a whole number."),
        ({"max_samples": 0.5}, "max_samples=0.5 must be a whole number or None."),
        ({"max_features": "all"}, "max_features='all' must be a whole number or None."),
        ({"seed": None}, "seed=None must be a whole number."),
        ({"seed": -1}, "seed=-1 must be at least 0."),
        ({"seed": 2**32}, "seed=4294967296 is too large"),
        ({"n_features": (True,)}, "n_features holds True"),
        ({"n_features": ("10",)}, "n_features holds 10;"),
        ({"n_features": (None,)}, "n_features holds None"),
        ({"n_features": None}, "n_features=None must be a tuple"),
        ({"classifiers": None}, "classifiers=None must be a tuple"),
        ({"scaling": None}, "scaling=None: None is unknown"),
        ({"scaling": ("unit",)}, "'unit',\\) is unknown; use 'none'"),
        ({"clusterers": (["kmeans"],)}, "is unknown; use 'kmeans'"),
    ],
)
def test_what_makes_no_sense_is_refused(change, words):
    with pytest.raises(ValueError, match=words):
        Protocol(**change)


def test_the_description_names_what_figures_hang_on():
    words = Protocol(
        scaling="unit",
        n_features=(0.1,),
        max_features=100,
        clusterers=("kmeans", "ncut"),
        kmeans_init="k-means++",
        n_init=3,
        classifiers=("1nn", "svm"),
        tuning="oracle",
        max_samples=500,
        n_random=10,
        seed=7,
    ).describe()
    for part in (
        "[0, 1] by one scale",
        "10 % of the (at most 100) features",
        "k-means++, 20 runs of 3 starts",
        "normalised cut",
        "1nn, svm in 5 folds",
        "at most 500 samples",
        "10 random subsets",
        "by the labels",
        "seed 7",
    ):
        assert part in words


def test_the_description_of_fractions_and_of_a_forest():
    words = Protocol(
        n_features=(0.01, 5, 0.1), rounding="up", classifiers=("rf",), n_fold_repeats=3
    ).describe()
    assert "; 5, 1 %, 10 % of the features, rounded up; " in words
    assert "; rf in 5 folds, 3 times; " in words


def test_no_more_random_subsets_are_named_than_there_are_runs():
    assert "; 3 random subsets;" in Protocol(n_repeats=3).describe()
    assert "; 1 random subset;" in Protocol(n_random=1).describe()


def test_agreement_owns_up_to_the_number_of_classes():
    words = Protocol(tuning="agreement").describe()
    assert "as many clusters as there are classes" in words
    assert "no label is seen" not in words


def test_a_smaller_forest_and_fewer_classified_subsets_are_described():
    few = Protocol(classifiers=("5nn", "rf"), n_trees=15, n_random_classified=5)
    assert "5nn, rf of 15 trees in 5 folds" in few.describe()
    assert "20 random subsets, 5 of them classified" in few.describe()
    usual = Protocol(classifiers=("rf",), n_random_classified=20).describe()
    assert "rf in 5 folds; 20 random subsets;" in usual
    assert "classified" not in Protocol(n_random_classified=5).describe()
