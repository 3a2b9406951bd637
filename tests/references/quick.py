"""Methods as tests want them that ask what holds at any precision and after any iteration."""

from __future__ import annotations

from tamis.registry import make

QUICK = {
    "cufs": {"max_iter": 5},
    "egcfs": {"max_iter": 3},
    "eufs": {"n_clusters": 3, "max_iter": 5},
    "fsasl": {"max_iter": 3},
    "fsgmm": {"n_init": 2, "max_iter": 10},
    "jdlufs": {"n_clusters": 3, "max_iter": 4},
    "llcfs": {"max_iter": 4},
    "m3fs": {"epsilon": 0.1},
    "ndfs": {"max_iter": 5},
    "rufs": {"max_iter": 5},
    "sogfs": {"max_iter": 3},
    "sparse_kmeans": {"n_permutations": 1, "n_bounds": 3, "n_init": 2},
}


def quick(name, **parameters):
    """A method by name, with a seed and few iterations, of which it may warn."""
    selector = make(name, **QUICK.get(name, {}))
    seed = {"random_state": 0} if "random_state" in selector.get_params() else {}
    return selector.set_params(**seed | parameters)
