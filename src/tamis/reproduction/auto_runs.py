"""The runs that show what Auto decides: its number of columns, and whether there is structure."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from tamis._typing import FloatArray, Matrix
from tamis.evaluation.candidates import Candidate
from tamis.evaluation.preparation import contents_name, prepared
from tamis.evaluation.protocol import Protocol
from tamis.evaluation.scoring import clustering_values
from tamis.evaluation.seeds import first_seed, run_seeds
from tamis.evaluation.stopwatch import part
from tamis.evaluation.sweep import Task
from tamis.inspection import selected_columns
from tamis.reproduction.leaderboard_rows import ACCURACY, INFORMATION
from tamis.utils.sparse import is_sparse

__all__ = [
    "FEWEST_COLUMNS",
    "FEWEST_ROWS",
    "LARGEST_NUMBER",
    "MOST_COLUMNS",
    "MOST_ROWS",
    "NOISE",
    "NUMBER_LABEL",
    "N_NUMBERS",
    "PERMUTED",
    "noise_tasks",
    "number_tasks",
    "numbers_to_judge",
    "permuted",
    "run_noise",
    "run_numbers",
]

# What the runs over many numbers of columns are called among the results.
NUMBER_LABEL = "Auto, by number of columns"
N_NUMBERS = 12
LARGEST_NUMBER = 400


# ------------------------------------------------------------------------------------------------
# The number of columns
# ------------------------------------------------------------------------------------------------


def numbers_to_judge(n_features: int) -> list[int]:
    """Numbers of columns from 1 to 400, or to all, evenly on a logarithmic scale."""
    most = min(LARGEST_NUMBER, n_features)
    return sorted({round(number) for number in np.geomspace(1, most, N_NUMBERS).tolist()})


def number_tasks(sets: Sequence[str], auto: Candidate, protocol: Protocol) -> list[Task]:
    """One task per set: Auto chooses the number, and many numbers are judged."""
    return [
        Task(
            key={"set": name, "label": NUMBER_LABEL, "method": auto.method, "parameters": {}},
            function=run_numbers,
            arguments={"data": name, "auto": auto, "protocol": protocol},
            fingerprint=auto.fingerprint({}, f"{contents_name(name)} {N_NUMBERS} {LARGEST_NUMBER}"),
        )
        for name in sets
    ]


def run_numbers(data: str, auto: Candidate, protocol: Protocol) -> list[dict[str, Any]]:
    """Fit Auto, and judge its best columns at the number it chooses and at those of the grid.

    The protocol's own number, a tenth of the columns, is judged too.

    Returns
    -------
    list of dict
        "kmeans_acc" and "kmeans_nmi" at every number, one value per clustering; at the chosen
        number also the measures of :func:`_decisions`, "n_classes", and the protocol's own number
        as "n_usual".
    """
    table, _ = prepared(data, auto.scaling or protocol.scaling, protocol.max_samples, protocol.seed)
    model = _fitted(auto, table, protocol)
    chosen = len(selected_columns(model))
    decisions = _decisions(model)
    X, y = prepared(data, protocol.scaling, protocol.max_samples, protocol.seed)
    if y is None:
        raise ValueError(f"{data} has no labels to judge by.")
    n_classes, (n_usual,) = int(y.max()) + 1, protocol.counts(X.shape[1])
    decisions |= {"n_classes": n_classes, "n_usual": n_usual}
    rows = [{"n_features": chosen, "measure": name, "values": [v]} for name, v in decisions.items()]
    for number in sorted({*numbers_to_judge(X.shape[1]), n_usual, chosen}):
        columns = np.sort(selected_columns(model.set_params(n_features_to_select=number)))
        found = clustering_values(X[:, columns], y, n_classes, protocol, run_seeds(protocol), None)
        rows += [
            {"n_features": number, "measure": measure, "values": found[measure]}
            for measure in (ACCURACY, INFORMATION)
        ]
    return rows


def _fitted(auto: Candidate, X: Matrix, protocol: Protocol) -> Any:
    model = auto.make({}, n_classes=1, seed=first_seed(protocol.seed))
    with warnings.catch_warnings(), part("fit"):
        warnings.simplefilter("ignore")  # that there is no structure is a result here
        return model.fit(X)


def _decisions(model: Any) -> dict[str, Any]:
    """What a fitted Auto decided, as JSON has it.

    "n_clusters", "scaling", and of the comparison with shuffled copies "p_value" and "found" (1 if
    there is structure, else 0).
    """
    return {
        "n_clusters": int(model.n_clusters_),
        "scaling": str(model.scaling_),
        "p_value": float(model.structure_["p_value"]),
        "found": int(model.structure_["found"]),
    }


# ------------------------------------------------------------------------------------------------
# Noise
# ------------------------------------------------------------------------------------------------

Draw = Callable[[np.random.Generator, tuple[int, int]], FloatArray]

NOISE: Mapping[str, Draw] = {
    "normal": lambda rng, shape: rng.standard_normal(shape),
    "uniform": lambda rng, shape: rng.random(shape),
    "Cauchy": lambda rng, shape: rng.standard_cauchy(shape),
    "0/1": lambda rng, shape: (rng.random(shape) < rng.uniform(0.05, 0.95, shape[1])).astype(float),
}
PERMUTED = "real sets, each column permuted"
# Rows and columns of a table of noise are drawn between these.
FEWEST_ROWS, MOST_ROWS = 20, 500
FEWEST_COLUMNS, MOST_COLUMNS = 5, 500


def noise_tasks(
    sets: Sequence[str], auto: Candidate, protocol: Protocol, n_draws: int
) -> list[Task]:
    """`n_draws` tables of every kind; the real sets take turns."""
    origins: list[tuple[str, str | None, int]] = [
        (kind, None, draw) for kind in NOISE for draw in range(n_draws)
    ]
    origins += [(PERMUTED, sets[draw % len(sets)], draw) for draw in range(n_draws if sets else 0)]
    return [
        Task(
            key={"noise": kind, "of": name, "draw": draw},
            function=run_noise,
            arguments={
                "kind": kind,
                "data": name,
                "draw": draw,
                "auto": auto,
                "protocol": protocol,
            },
            fingerprint=auto.fingerprint(
                {},
                f"{FEWEST_ROWS} {MOST_ROWS} {FEWEST_COLUMNS} {MOST_COLUMNS}"
                if name is None
                else contents_name(name),
            ),
        )
        for kind, name, draw in origins
    ]


def run_noise(
    kind: str, data: str | None, draw: int, auto: Candidate, protocol: Protocol
) -> list[dict[str, Any]]:
    """Fit Auto to a table whose columns know nothing of each other.

    Parameters
    ----------
    kind : str
        A name of `NOISE`, or `PERMUTED`.
    data : str or None
        The set that is permuted.
    draw : int
        Tells the tables of one kind apart.
    auto : Candidate
    protocol : Protocol
        Its seed and largest number of samples are used.

    Returns
    -------
    list of dict
        The measures of :func:`_decisions`.
    """
    kinds = (*NOISE, PERMUTED)
    rng = np.random.default_rng([first_seed(protocol.seed), kinds.index(kind), draw])
    if data is None:
        n_rows = int(rng.integers(FEWEST_ROWS, MOST_ROWS, endpoint=True))
        n_columns = int(rng.integers(FEWEST_COLUMNS, MOST_COLUMNS, endpoint=True))
        X: Matrix = NOISE[kind](rng, (n_rows, n_columns))
    else:
        table, _ = prepared(
            data, auto.scaling or protocol.scaling, protocol.max_samples, protocol.seed
        )
        X = permuted(table, rng)
    model = _fitted(auto, X, protocol)
    return [
        {"n_features": X.shape[1], "measure": name, "values": [value]}
        for name, value in _decisions(model).items()
    ]


def permuted(X: Matrix, rng: np.random.Generator) -> Matrix:
    """A copy in which each column is shuffled by itself; sparse tables stay sparse."""
    if not is_sparse(X):
        return rng.permuted(X, axis=0)
    columns = sp.csc_array(X)
    rows = np.concatenate(
        [rng.choice(X.shape[0], size, replace=False) for size in np.diff(columns.indptr)]
    )
    shuffled = sp.csc_array((columns.data, rows, columns.indptr), shape=X.shape)
    return shuffled.tocsr()
