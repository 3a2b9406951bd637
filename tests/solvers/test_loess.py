"""Local quadratic regression: beside parabolas fitted one by one, and where the answer is known."""

from __future__ import annotations

import numpy as np
import pytest

from tamis.solvers.loess import loess


def naive(x, y, span):
    """A weighted parabola at every point: what the curve interpolates between its vertices."""
    n_near = int(len(x) * span + 1e-5)
    fitted = []
    for at in x:
        near = np.argsort(np.abs(x - at), kind="stable")[:n_near]
        distance = np.abs(x[near] - at)
        weights = np.clip(1 - (distance / distance.max()) ** 3, 0, None) ** 3
        fitted.append(np.polyval(np.polyfit(x[near] - at, y[near], 2, w=np.sqrt(weights)), 0))
    return np.array(fitted)


@pytest.mark.parametrize("span", [0.3, 0.75])
def test_close_to_a_parabola_at_every_point(span):
    rng = np.random.default_rng(0)
    x = rng.uniform(-2, 2, 300)
    y = np.sin(2 * x) + 0.2 * rng.normal(size=300)
    assert np.abs(loess(x, y, span) - naive(x, y, span)).max() < 0.06


def test_a_parabola_is_found_exactly():
    x = np.random.default_rng(1).normal(size=120)
    np.testing.assert_allclose(loess(x, 3 - x + 2 * x**2), 3 - x + 2 * x**2, atol=1e-10)


def test_order_and_equal_values():
    rng = np.random.default_rng(2)
    x = np.round(rng.normal(size=200), 1)  # many are equal
    y = x**3 + 0.1 * rng.normal(size=200)
    fitted = loess(x, y)
    order = rng.permutation(200)
    np.testing.assert_allclose(loess(x[order], y[order]), fitted[order], atol=1e-10)
    for value in np.unique(x):
        assert np.ptp(fitted[x == value]) == 0


def test_few_different_values_have_a_curve_too():
    x = np.repeat([0.0, 1.0], 30)
    fitted = loess(x, 2 * x, span=0.3)
    assert np.isfinite(fitted).all()
    np.testing.assert_allclose(fitted, 2 * x, atol=0.3)


def test_too_few_points_are_refused():
    with pytest.raises(ValueError, match="takes 2 of 8"):
        loess(np.arange(8.0), np.arange(8.0))
