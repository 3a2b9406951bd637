"""Ridge regressions and their jackknife: against new fits without each sample."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from references.regression import leave_one_out_instability
from references.tables import off_centre

from tamis.solvers import ridge_jackknife
from tamis.solvers.ridge_jackknife import jackknifed_ridge
from tamis.solvers.table_operator import TableOperator


def unit(X):
    """Σλ²/Σλ of the scatter of X."""
    values = np.linalg.eigvalsh(np.cov(X.T) * (len(X) - 1))
    return (values**2).sum() / values.sum()


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("shape", [(30, 8), (12, 25)])
@pytest.mark.parametrize("ridge", [1e-3, 1.0])
def test_it_is_what_new_fits_give(ridge, shape, form):
    X = off_centre(*shape)
    Y = np.sign(np.random.default_rng(1).standard_normal((shape[0], 3)))
    found = jackknifed_ridge(TableOperator.centred(form(X)), Y, ridge)
    for j, y in enumerate(Y.T):
        w, instability = leave_one_out_instability(X, y, ridge * unit(X))
        np.testing.assert_allclose(found.coef[:, j], w, atol=1e-8)
        assert found.instability[j] == pytest.approx(instability, rel=1e-6)


def test_copies_of_all_rows_or_columns_change_nothing():
    X = off_centre(20, 6)
    y = np.sign(X[:, :1] - np.median(X[:, 0]))
    once = jackknifed_ridge(TableOperator.centred(X), y, 0.1).coef
    rows = jackknifed_ridge(TableOperator.centred(np.vstack([X, X])), np.vstack([y, y]), 0.1).coef
    columns = jackknifed_ridge(TableOperator.centred(np.hstack([X, X])), y, 0.1).coef
    np.testing.assert_allclose(rows, once, atol=1e-12)
    np.testing.assert_allclose(2 * columns[:6], once, atol=1e-12)


def test_a_target_that_does_not_vary_is_as_unstable_as_can_be():
    found = jackknifed_ridge(TableOperator.centred(off_centre(20, 6)), np.ones((20, 1)), 0.1)
    assert not found.coef.any()
    assert np.isinf(found.instability[0])


def test_tables_that_are_large_on_both_sides_are_refused(monkeypatch):
    monkeypatch.setattr(ridge_jackknife, "SIDE_MAX", 5)
    with pytest.raises(ValueError, match=r"smaller side, which exceeds 5; use MCFS"):
        jackknifed_ridge(TableOperator.centred(off_centre(20, 6)), np.ones((20, 1)), 0.1)
