"""What the report says of a selection, from all the evidence that there is."""

from __future__ import annotations

import re

import numpy as np
import pytest

from tamis import MaxVariance, report


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
