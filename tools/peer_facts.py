r"""What other packages of unsupervised feature selection give, beside tamis, on small tables.

    pip install --target peers --no-deps skfeature-chappers==1.2.1 ITMO_FS==0.3.3 skmatter==0.4.1 \
        imbalanced-learn==0.14.2 sklearn-compat qpsolvers
    python tools/peer_facts.py peers

Prints each fact of docs/toolboxes.md with the figures as measured. Nothing is installed into the
environment of tamis: the folder is looked into last.
"""

from __future__ import annotations

import contextlib
import io
import sys
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import spearmanr
from sklearn.datasets import load_digits, make_blobs
from sklearn.preprocessing import StandardScaler

import tamis

N_INFORMATIVE, N_NOISE = 6, 24


def planted(seed: int = 0) -> np.ndarray:
    """Three groups in the first six columns, noise in the others; standardised, 150 rows."""
    groups, _ = make_blobs(150, N_INFORMATIVE, centers=3, cluster_std=2.0, random_state=seed)
    noise = np.random.default_rng(seed).standard_normal((150, N_NOISE))
    return StandardScaler().fit_transform(np.hstack([groups, noise]))


def found(best_first: Any) -> int:
    """How many of the six best columns are of the six that tell the groups apart."""
    return int((np.asarray(best_first)[:N_INFORMATIVE] < N_INFORMATIVE).sum())


def over_seeds(select: Callable[[np.ndarray], Any]) -> str:
    """The same over ten tables, from the fewest to the most, and their mean."""
    counts = [found(select(planted(seed))) for seed in range(10)]
    return f"{min(counts)} to {max(counts)} of {N_INFORMATIVE} (mean {np.mean(counts):.1f})"


def best_first(selector: Any, X: np.ndarray) -> np.ndarray:
    """Columns in the order of a selector of tamis."""
    return np.argsort(selector.fit(X).ranking_, kind="stable")


def places(order: Any) -> np.ndarray:
    """The place of each column in an order."""
    order = np.asarray(order)
    place = np.empty(len(order), dtype=int)
    place[order] = np.arange(len(order))
    return place


def tell(what: str, theirs: object, ours: object) -> None:
    """One line of the facts."""
    print(f"{what}\n    theirs: {theirs}\n    tamis:  {ours}")


def seeded(seed: int, call: Callable[[], Any]) -> Any:
    """What a call gives that takes its random numbers from numpy's global state."""
    np.random.seed(seed)  # noqa: NPY002
    return call()


def least_agreement(select: Callable[[], Any]) -> str:
    """Ten calls, each with another state of numpy's global random numbers."""
    orders = [places(seeded(seed, select)) for seed in range(10)]
    return f"{min(spearmanr(orders[0], order)[0] for order in orders):.2f}"


def failure(call: Callable[[], Any]) -> str:
    """What a call raises, on one line."""
    try:
        call()
    except Exception as error:
        return f"{type(error).__name__}: {' '.join(str(error).split())}"
    return "no error"


def skfeature_facts() -> None:
    """skfeature-chappers 1.2.1."""
    from skfeature.function.similarity_based.lap_score import lap_score
    from skfeature.function.similarity_based.SPEC import spec
    from skfeature.function.sparse_learning_based.MCFS import mcfs
    from skfeature.function.sparse_learning_based.NDFS import ndfs
    from skfeature.function.sparse_learning_based.UDFS import udfs
    from skfeature.utility.construct_W import construct_W
    from skfeature.utility.util import reverse_argsort

    X = planted()
    tell(
        'mode="rank" (the default): places of three columns whose order, best first, is 2, 0, 1',
        reverse_argsort([2, 0, 1]).tolist(),
        places([2, 0, 1]).tolist(),
    )
    told, true = lap_score(X), places(lap_score(X, mode="index"))
    tell(
        'lap_score: rank correlation of mode="rank" with the places in mode="index"',
        f"{spearmanr(told, true)[0]:.2f}",
        "1.00",
    )
    mixed = np.random.default_rng(1).permutation(len(X))
    first, second = (udfs(Z, mode="index", n_clusters=3) for Z in (X, X[mixed]))
    ours = [best_first(tamis.UDFS(n_clusters=3), Z) for Z in (X, X[mixed])]
    tell(
        "UDFS: rank correlation of two orders, before and after the rows are shuffled",
        f"{spearmanr(places(first), places(second))[0]:.2f}",
        f"{spearmanr(places(ours[0]), places(ours[1]))[0]:.2f}",
    )
    tell(
        "UDFS, gamma 0.1: of the six best columns those that tell the groups, ten planted tables",
        over_seeds(lambda Z: udfs(Z, mode="index", n_clusters=3)),
        over_seeds(lambda Z: best_first(tamis.UDFS(n_clusters=3), Z)),
    )
    digits = load_digits().data
    edge = np.flatnonzero(digits.std(axis=0) == 0)
    tell(
        f"UDFS, digits as they are: columns without any variation ({len(edge)}) among the ten best",
        int(np.isin(udfs(digits[:500], mode="index", n_clusters=10)[:10], edge).sum()),
        int(np.isin(best_first(tamis.UDFS(n_clusters=10), digits[:500])[:10], edge).sum()),
    )
    tell(
        "NDFS: smallest rank correlation among ten calls with the same arguments",
        least_agreement(lambda: ndfs(X, mode="index", n_clusters=3)),
        least_agreement(lambda: best_first(tamis.NDFS(n_clusters=3), X)),
    )
    tell(
        "NDFS: a start given as F0, which its documentation offers",
        failure(lambda: ndfs(X, mode="index", F0=np.full((len(X), 3), 0.5))),
        "starts are its own, from random_state",
    )
    graphs = [construct_W(X), construct_W(X)[mixed][:, mixed]]
    orders = [seeded(0, partial(ndfs, X, mode="index", W=W, n_clusters=3)) for W in graphs]
    ours = [best_first(tamis.NDFS(n_clusters=3, affinity=W), X) for W in graphs]
    tell(
        "NDFS: rank correlation of two orders, with the graph and with one of shuffled samples",
        f"{spearmanr(places(orders[0]), places(orders[1]))[0]:.3f}",
        f"{spearmanr(places(ours[0]), places(ours[1]))[0]:.3f}",
    )
    W = construct_W(X)
    laplacian = np.asarray(np.array(W.sum(1))[:, 0] - W)  # as it computes it
    tell(
        "NDFS: the largest sum of a row of what it takes for the Laplacian, which is 0 of any",
        f"{np.abs(laplacian.sum(axis=1)).max():.0f}",
        f"{np.abs((np.diag(W.toarray().sum(axis=1)) - W.toarray()).sum(axis=1)).max():.0f}",
    )
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        seeded(0, lambda: ndfs(X, mode="index", n_clusters=3, verbose=True))
    path = np.array([float(line.rpartition(" ")[2]) for line in printed.getvalue().splitlines()])
    objective = tamis.NDFS(n_clusters=3).fit(X).objective_
    tell(
        "NDFS: steps in which the objective that it prints rises, by more than 1e-9 of it",
        f"{rises(path)} of {len(path) - 1}",
        f"{rises(objective)} of {len(objective) - 1}",
    )
    tell(
        "NDFS: of the six best columns those that tell the groups, ten planted tables",
        over_seeds(lambda Z: seeded(0, lambda: ndfs(Z, mode="index", n_clusters=3))),
        over_seeds(lambda Z: best_first(tamis.NDFS(n_clusters=3), Z)),
    )
    idle = np.hstack([X, np.zeros((len(X), 1))])
    tell(
        "SPEC (its default, the second function): place of a column of zeros among 31, from 1",
        1 + int(places(spec(idle, mode="index"))[-1]),
        int(tamis.SPEC(style=2).fit(idle).ranking_[-1]),
    )
    tell(
        "SPEC, second function: of the six best columns those that tell the groups",
        over_seeds(lambda Z: spec(Z, mode="index")),
        over_seeds(lambda Z: best_first(tamis.SPEC(style=2), Z)),
    )
    flipped = X * np.where(np.arange(X.shape[1]) < 3, -1, 1)
    orders = [mcfs(Z, n_selected_features=6, mode="index", n_clusters=3) for Z in (X, flipped)]
    ours = [best_first(tamis.MCFS(6, n_clusters=3), Z) for Z in (X, flipped)]
    tell(
        "MCFS: columns of the six best that change when three columns change their sign",
        len(set(orders[0][:6].tolist()) - set(orders[1][:6].tolist())),
        len(set(ours[0][:6].tolist()) - set(ours[1][:6].tolist())),
    )
    tell(
        "MCFS: of the six best columns those that tell the groups",
        over_seeds(lambda Z: mcfs(Z, n_selected_features=6, mode="index", n_clusters=3)),
        over_seeds(lambda Z: best_first(tamis.MCFS(6, n_clusters=3), Z)),
    )
    tell(
        "the same, if the coefficients of theirs are taken by their absolute values",
        over_seeds(
            lambda Z: np.argsort(
                -np.abs(mcfs(Z, n_selected_features=6, mode="raw", n_clusters=3)).max(axis=1)
            )
        ),
        "as above",
    )
    tell(
        "Laplacian score: of the six best columns those that tell the groups",
        over_seeds(lambda Z: lap_score(Z, mode="index")),
        over_seeds(lambda Z: best_first(tamis.LaplacianScore(), Z)),
    )
    tell(
        "Laplacian score: place of a column of zeros among 31, from 1",
        1 + int(places(lap_score(idle, mode="index"))[-1]),
        int(tamis.LaplacianScore().fit(idle).ranking_[-1]),
    )


def rises(path: Any) -> int:
    """In how many steps a path rises."""
    path = np.asarray(path)
    return int((np.diff(path) > 1e-9 * np.abs(path[:-1])).sum())


def itmo_facts() -> None:
    """ITMO_FS 0.3.3."""
    from ITMO_FS.filters.sparse import MCFS, NDFS, SPEC, UDFS

    X = planted()[:60]
    for name, run in (
        ("MCFS", lambda: MCFS(6, k=3).run(X)),
        ('MCFS, scheme="heat"', lambda: MCFS(6, k=3, scheme="heat").run(X)),
        ("UDFS", lambda: UDFS(6, c=3).run(X)),
        ("SPEC", lambda: SPEC(6, k=3).run(X)),
    ):
        tell(f"{name}: run(X)", failure(run), "runs")

    def order() -> np.ndarray:
        model = NDFS(X.shape[1], c=3, max_iterations=100)
        return np.asarray(model.feature_ranking(model.run(X)))

    tell(
        "NDFS: smallest rank correlation among ten calls with the same arguments",
        least_agreement(order),
        least_agreement(lambda: best_first(tamis.NDFS(n_clusters=3), X)),
    )


def skmatter_facts() -> None:
    """skmatter 0.4.1."""
    from skmatter.feature_selection import CUR, FPS

    X = planted()
    idle = np.hstack([np.zeros((len(X), 1)), X])
    tell(
        "FPS (defaults): is a first column of zeros among the six selected?",
        bool(0 in FPS(n_to_select=6).fit(idle).selected_idx_),
        "a constant column is never selected before one that varies",
    )
    moved = X + np.where(np.arange(X.shape[1]) == 10, 1000.0, 0.0)
    tell(
        "CUR (defaults): place of a column of noise among 30 when 1000 is added to it, from 1",
        1 + CUR(n_to_select=30).fit(moved).selected_idx_.tolist().index(10),
        int(tamis.LeverageScore().fit(moved).ranking_[10]),
    )


def main() -> None:
    """Print the facts of every package in the folder that is named."""
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    sys.path.append(str(Path(sys.argv[1]).resolve()))
    warnings.simplefilter("ignore")
    for title, facts in (
        ("skfeature-chappers 1.2.1", skfeature_facts),
        ("ITMO_FS 0.3.3", itmo_facts),
        ("skmatter 0.4.1", skmatter_facts),
    ):
        print(f"\n{title}\n")
        facts()


if __name__ == "__main__":
    main()
