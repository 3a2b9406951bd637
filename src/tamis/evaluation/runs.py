"""One run of a comparison: fit a selector once, score every number of features."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from tamis._typing import IntArray, Matrix
from tamis.base import Selector
from tamis.evaluation.candidates import ALL_FEATURES, RANDOM, Candidate, with_baselines
from tamis.evaluation.details import label_free_scores
from tamis.evaluation.mixed import MixedTable
from tamis.evaluation.preparation import Data, contents_name, prepared, reference_clusters
from tamis.evaluation.protocol import Protocol
from tamis.evaluation.results import Results
from tamis.evaluation.scoring import classification_values, clustering_values, held_out_values
from tamis.evaluation.seeds import seed_groups
from tamis.evaluation.stopwatch import part
from tamis.evaluation.sweep import Task, sweep
from tamis.inspection import selected_columns

__all__ = ["evaluate", "fit_and_score", "selection_tasks"]

# What the packages of others call the number of features to keep.
COUNT_PARAMETERS = ("n_features_to_select", "n_to_select", "max_features", "k")


def selection_tasks(
    sets: Sequence[Data],
    candidates: Sequence[Candidate],
    protocol: Protocol,
    *,
    details: bool = False,
) -> list[Task]:
    """A task for every set, candidate and setting of its parameters.

    All features and random subsets are added where the candidates lack them.

    Parameters
    ----------
    sets : sequence of str, Dataset or MixedTable
        Names of registered sets, or tables of your own.
    candidates : sequence of Candidate
    protocol : Protocol
    details : bool, default=False
        Whether each run also records which columns it selects, what they are worth without labels
        and what the method warns of; see :func:`fit_and_score`.

    Returns
    -------
    list of Task
    """
    names = [contents_name(data) for data in sets]
    return [
        Task(
            key={
                "set": data if isinstance(data, str) else data.name,
                "label": candidate.label,
                "method": candidate.method,
                "parameters": candidate.key_parameters(setting),
            },
            function=fit_and_score,
            arguments={
                "data": data,
                "candidate": candidate,
                "setting": setting,
                "protocol": protocol,
                "details": details,
            },
            fingerprint=candidate.fingerprint(setting, name) + (" details" if details else ""),
        )
        for data, name in zip(sets, names, strict=True)
        for candidate in with_baselines(candidates)
        for setting in candidate.settings(tuned=protocol.tuning != "defaults")
    ]


def evaluate(
    sets: Sequence[Data],
    candidates: Sequence[Candidate],
    protocol: Protocol | None = None,
    *,
    path: Path | None = None,
    n_jobs: int = 1,
    progress: bool = False,
    time_limit: float | None = None,
    fresh: bool = False,
) -> Results:
    """Compare methods on sets: make the tasks and run them.

    Parameters
    ----------
    sets : sequence of str, Dataset or MixedTable
        A mixed table is prepared inside each run, and inside each fold of the classifiers.
    candidates : sequence of Candidate
        All features and random subsets join them.
    protocol : Protocol or None, default=None
        None takes the defaults of :class:`Protocol`.
    path : Path or None, default=None
        A file to which results are appended as they come; a second call goes on from it.
    n_jobs, progress, time_limit, fresh
        As in :func:`sweep`.

    Returns
    -------
    Results
        Runs that fail are warned of and leave gaps; see :meth:`Results.errors`.
    """
    protocol = protocol if protocol is not None else Protocol()
    results = sweep(
        selection_tasks(sets, candidates, protocol),
        path,
        header=protocol.as_dict(),
        n_jobs=n_jobs,
        progress=progress,
        time_limit=time_limit,
        fresh=fresh,
    )
    failed = [record for record in results.records if record.error is not None]
    if failed:
        first = failed[0]
        warnings.warn(
            f"{len(failed)} of {len(results.records)} runs failed; the first, {first.key['label']} "
            f"on {first.key['set']}: {first.error}",
            RuntimeWarning,
            stacklevel=2,
        )
    return results


def fit_and_score(
    data: Data,
    candidate: Candidate,
    setting: Mapping[str, Any],
    protocol: Protocol,
    details: bool = False,
) -> list[dict[str, Any]]:
    """Fit the candidate, and score its selection at every number of features.

    Parameters
    ----------
    data : str, Dataset or MixedTable
    candidate : Candidate
    setting : mapping
        Its parameters.
    protocol : Protocol
    details : bool, default=False
        Whether to score without labels too (:func:`~tamis.evaluation.details.label_free_scores`,
        and the agreement with a clustering of all columns), and to record the columns, best first,
        as "selected" and what the method warns of as "warnings". What scaling warns of is left to
        whoever plans the runs: it is the same for all.

    Returns
    -------
    list of dict
        A row for every number and measure: "n_features", "measure" and "values".
    """
    with warnings.catch_warnings():
        if details:
            warnings.simplefilter("ignore")
        X, y = prepared(data, protocol.scaling, protocol.max_samples, protocol.seed)
        fit_scaling = candidate.scaling or protocol.scaling
        table = X
        if fit_scaling != protocol.scaling:
            table = prepared(data, fit_scaling, protocol.max_samples, protocol.seed)[0]
    n_classes = _n_classes(data, y)
    reference = None
    if y is None or protocol.tuning == "agreement" or details:
        reference = reference_clusters(X, n_classes, protocol.seed)
    counts = protocol.counts(X.shape[1])
    n_kept = max(counts, default=X.shape[1])
    if candidate.method == ALL_FEATURES:
        counts = [X.shape[1]]
    if not counts:
        asked = ", ".join(map(str, protocol.n_features))
        raise ValueError(f"no number of features asked for ({asked}) is below {X.shape[1]}.")
    rankings = _Rankings(table, candidate, setting, n_classes, quiet=not details)
    rows = []
    for count in counts:
        values: dict[str, list[Any]] = {}
        folds: dict[str, list[list[float]]] = {}
        with _recorded_warnings(details) as texts:
            for draw, (seeds, model_seed) in enumerate(seed_groups(candidate.method, protocol)):
                chosen = np.arange(X.shape[1])
                columns = X
                if candidate.method != ALL_FEATURES:
                    chosen = rankings.best_first(count, model_seed)
                    columns = X[:, np.sort(chosen)]
                found = clustering_values(columns, y, n_classes, protocol, seeds, reference)
                if details:
                    size = min(count, n_kept)
                    found |= label_free_scores(X, chosen, size, protocol.seed)
                for measure, some in found.items():
                    values.setdefault(measure, []).extend(some)
                if y is not None and draw < (protocol.n_random_classified or draw + 1):
                    if isinstance(data, MixedTable):
                        learned = held_out_values(data, chosen, y, protocol)
                    else:
                        learned = classification_values(columns, y, protocol)
                    for measure, some in learned.items():
                        folds.setdefault(measure, []).append(some)
        # The folds are the same for all: of several subsets each fold has its mean.
        values |= {name: np.mean(some, axis=0).tolist() for name, some in folds.items()}
        if details:
            values["warnings"] = texts
            if candidate.method not in (ALL_FEATURES, RANDOM):
                values["selected"] = chosen.tolist()
        rows += [
            {"n_features": count, "measure": measure, "values": some}
            for measure, some in values.items()
        ]
    return rows


@contextmanager
def _recorded_warnings(recorded: bool) -> Iterator[list[str]]:
    """What is said inside, each text once and on one line, for whoever uses the method."""
    texts: list[str] = []
    if not recorded:
        yield texts
        return
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        yield texts
    lines = (" ".join(str(w.message).split()) for w in said if issubclass(w.category, UserWarning))
    texts += dict.fromkeys(lines)


def _n_classes(data: Data, y: IntArray | None) -> int:
    if y is None or (not isinstance(data, str) and data.n_clusters is not None):
        assert not isinstance(data, str)  # registered sets have labels
        return data.n_classes
    return int(y.max()) + 1


class _Rankings:
    """Fits a selector when its ranking is first asked for; again only where it must be."""

    def __init__(
        self,
        X: Matrix,
        candidate: Candidate,
        setting: Mapping[str, Any],
        n_classes: int,
        *,
        quiet: bool,
    ) -> None:
        self._X, self._candidate, self._setting, self._n_classes = X, candidate, setting, n_classes
        self._quiet = quiet
        self._fitted: dict[tuple[int | None, int], Any] = {}

    def best_first(self, count: int, seed: int) -> IntArray:
        """The best `count` features."""
        model = self._candidate.make(self._setting, self._n_classes, seed)
        known = model.get_params(deep=False)
        counted = next((name for name in COUNT_PARAMETERS if name in known), None)
        # Of a selector of tamis one fit ranks all features, unless it says otherwise.
        own = isinstance(model, Selector)
        refitted = model._count_is_fitted if own else counted is not None
        number = count if refitted else None
        if (number, seed) not in self._fitted:
            if counted is not None:
                model.set_params(**{counted: count})
            with warnings.catch_warnings(), part("fit"):
                if self._quiet:
                    # Of a method that stops early the last iterate is judged, as a user gets it.
                    warnings.simplefilter("ignore")
                model.fit(self._X)
            self._fitted[number, seed] = model
        model = self._fitted[number, seed]
        if isinstance(model, Selector):
            return selected_columns(model.set_params(n_features_to_select=count))
        ranking = _ranking(model, number, self._X.shape[1])
        return np.argsort(ranking, kind="stable")[:count]


def _ranking(model: Any, number: int | None, n_features: int) -> IntArray:
    """Places of the features, 1 the best; where a selector tells no order, those it keeps are 1."""
    name = type(model).__name__
    if number is None:
        scores = getattr(model, "scores_", None)
        if scores is None or np.shape(scores) != (n_features,):
            raise TypeError(
                f"{name} has no parameter n_features_to_select and no scores_ to rank features by "
                f"(nor {', '.join(COUNT_PARAMETERS[1:])}); a tamis Selector, or a scikit-learn "
                "selector with one of these, is required."
            )
        ranking = np.empty(n_features, dtype=np.intp)
        best_first = np.argsort(-np.asarray(scores, dtype=np.float64), kind="stable")
        ranking[best_first] = np.arange(1, n_features + 1)
        return ranking
    if not hasattr(model, "get_support"):
        raise TypeError(
            f"{name} has no get_support, which tells what it keeps; a tamis Selector, "
            "or a scikit-learn selector, is required."
        )
    kept = np.asarray(model.get_support(), dtype=bool)
    if kept.sum() != number:
        raise ValueError(f"{name} keeps {kept.sum()} features where {number} were asked for.")
    return np.where(kept, 1, n_features + 1)
