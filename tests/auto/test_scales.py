"""Which scales suit which values, and what each does to a column."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits, load_wine

from tamis.auto._scales import scaled_table, scales_to_try

RNG = np.random.default_rng(0)
NORMAL = RNG.standard_normal((40, 10))
COUNTS = RNG.poisson(2.0, (40, 10)).astype(float)
COUNTS[0] = 0
BITS = (NORMAL > 0).astype(float)
BOTH = ("standard", "pareto")
# Amounts of very different sizes, none of which is measured below 20.
FLOORED = np.maximum(np.exp(NORMAL) * np.logspace(0, 4, 10), 20.0)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize(
    ("X", "scales", "reason"),
    [
        (BITS, BOTH, "whole numbers from 0"),
        (COUNTS, BOTH, "whole numbers from 0"),
        (NORMAL, BOTH, "one unit"),
        (NORMAL * np.logspace(0, 4, 10), ("standard",), "different units"),
        (np.where(NORMAL > 0.5, 2.5, 0.0), BOTH, "one unit"),
        (FLOORED, BOTH, "same lowest value, 20, hence one unit"),
        (-FLOORED, BOTH, "same highest value, -20, hence one unit"),
        (FLOORED - 20, ("standard",), "different units"),
    ],
)
def test_values_decide_which_scales_are_tried(X, scales, reason, form):
    found, why = scales_to_try(form(X))
    assert found == scales
    assert reason in why


def test_real_tables_are_told_apart():
    assert scales_to_try(load_wine().data)[0] == ("standard",)
    digits = load_digits().data
    assert scales_to_try(digits[:, digits.std(axis=0) > 0])[0] == BOTH


def test_one_count_in_a_larger_unit_is_still_a_count():
    """Counts share their unit, however often some occur."""
    X = COUNTS.copy()
    X[:, 0] *= 1000
    assert scales_to_try(X)[0] == BOTH


@pytest.mark.parametrize("power", [1, 0.5, 0])
def test_a_column_is_divided_by_a_power_of_its_deviation(power):
    X = NORMAL * np.linspace(1, 5, 10) + 3
    scale = {1: "standard", 0.5: "pareto", 0: "none"}[power]
    Z = scaled_table(X, scale)
    deviation = X.std(axis=0)
    expected = (X - X.mean(axis=0)) / (deviation**power * np.median(deviation) ** (1 - power))
    np.testing.assert_allclose(Z, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("scale", ["standard", "pareto", "none"])
def test_sparse_columns_are_scaled_alike_and_not_shifted(scale):
    dense, sparse = scaled_table(COUNTS, scale), scaled_table(sp.csr_array(COUNTS), scale)
    assert sparse.nnz == np.count_nonzero(COUNTS)
    shifted = sparse.toarray()
    np.testing.assert_allclose(shifted - shifted.mean(axis=0), dense, atol=1e-12)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("scale", ["standard", "pareto", "none"])
def test_a_common_factor_plays_no_part_and_the_table_stays_as_it_is(scale, form):
    X = form(COUNTS)
    before = X.copy()
    found, expected = (scaled_table(table, scale) for table in (X * 1e-3, X))
    difference = found - expected
    assert np.abs(difference.toarray() if sp.issparse(difference) else difference).max() < 1e-12
    assert abs(X - before).max() == 0


def test_single_precision_is_scaled_in_double():
    Z = scaled_table(NORMAL.astype(np.float32), "standard")
    assert Z.dtype == np.float64
    np.testing.assert_allclose(Z.std(axis=0), 1, rtol=1e-6)
