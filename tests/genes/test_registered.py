"""Methods of the registry on genes: each gets the scale that it is recommended for."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

from tamis import registry
from tamis.genes._registered import choose_by_selector
from tamis.preprocessing import scaled


@pytest.mark.parametrize("method", ["inffs", "max_variance"])
def test_genes_are_ranked_on_the_scale_of_the_method(method):
    rng = np.random.default_rng(0)
    logged = sp.csr_array(np.log1p(rng.poisson(np.linspace(1, 5, 30), (80, 30)).astype(float)))
    cells = SimpleNamespace(logged=logged)
    found = choose_by_selector(cells, method, 10, graph=None, n_clusters=2, seed=0)
    entry = registry.get(method)
    expected = entry.selector(10).fit(scaled(logged, entry.scaling)).scores_
    np.testing.assert_array_equal(found.score, expected)
