from __future__ import annotations

import itertools

import pytest

from tamis.evaluation import Candidate, Protocol, evaluate
from tamis.evaluation.seeds import first_seed, run_seeds, runs_by_subset, seed_groups
from tamis.reproduction.margin_runs import CASES


@pytest.mark.parametrize("method", ["random_subset", "mrsf"])
@pytest.mark.parametrize(("n_repeats", "n_random"), [(20, 20), (20, 10), (5, 10), (7, 3)])
def test_seed_0_deals_as_it_always_has(method, n_repeats, n_random):
    """Kept results hang on these."""
    groups = seed_groups(method, Protocol(n_repeats=n_repeats, n_random=n_random))
    assert [seed for seeds, _ in groups for seed in seeds] == list(range(n_repeats))
    n_draws = min(n_random, n_repeats) if method == "random_subset" else 1
    assert [draw for _, draw in groups] == list(range(n_draws))
    sizes = [len(seeds) for seeds, _ in groups]
    assert sizes == sorted(sizes, reverse=True)
    assert max(sizes) - min(sizes) <= 1
    if method == "random_subset":
        assert tuple(sizes) == runs_by_subset(n_random, n_repeats)


def test_no_two_seeds_share_a_run():
    starts = [first_seed(seed) for seed in (*range(3000), 2**31, 2**32 - 2, 2**32 - 1)]
    gaps = [b - a for a, b in itertools.pairwise(sorted(starts))]
    assert min(gaps) >= 10_000
    assert max(starts) + 100_000 < 2**32  # what numpy takes
    protocols = [Protocol(seed=seed, n_repeats=1000) for seed in range(4)]
    for one, other in itertools.combinations(protocols, 2):
        assert not set(run_seeds(one)) & set(run_seeds(other))
        draws = [{draw for _, draw in seed_groups("random_subset", p)} for p in (one, other)]
        assert not draws[0] & draws[1]
        case = CASES["mnist_0123"]
        assert not set(case.seeds(one)) & set(case.seeds(other))
        assert len(case.seeds(one)) == 3


def test_another_seed_gives_other_values():
    def values(seed):
        protocol = Protocol(n_features=(3,), n_repeats=6, seed=seed)
        results = evaluate(["wine"], [Candidate("MV", "max_variance")], protocol)
        return results.values("wine", "Random subsets", "kmeans_nmi", 3)

    first, second = values(0), values(1)
    assert first[1] != second[0]
    assert (first[1:] == second[:-1]).sum() <= 1  # it was all of them
