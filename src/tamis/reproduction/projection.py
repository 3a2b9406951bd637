"""Samples in the plane of the first two principal components of selected features."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sklearn.decomposition import PCA
from sklearn.metrics import silhouette_score

from tamis._typing import FloatArray
from tamis.evaluation.candidates import ALL_FEATURES, RANDOM_LABEL, Candidate, with_baselines
from tamis.evaluation.preparation import contents_name, prepared
from tamis.evaluation.protocol import Protocol
from tamis.evaluation.results import Estimate, Results
from tamis.evaluation.sweep import Task
from tamis.reproduction.figures import save

__all__ = ["draw_projections", "projection_label", "projection_tasks", "separation", "shown_as"]

_MARKERS = "os^vDP*Xd<"
_COLUMNS = 4


def projection_label(label: str) -> str:
    """What the projection of a candidate is called among the results."""
    return f"{label}, projected"


def shown_as(label: str) -> str:
    """What the projection is called in tables and pictures: of random subsets it shows one."""
    return "A random subset" if label == RANDOM_LABEL else label


def projection_tasks(
    name: str, candidates: Sequence[Candidate], n_features: int, protocol: Protocol
) -> list[Task]:
    """A task for every candidate, the baselines among them, and every setting of its parameters."""
    contents = contents_name(name)
    return [
        Task(
            key={
                "set": name,
                "label": projection_label(candidate.label),
                "method": candidate.method,
                "parameters": candidate.key_parameters(setting),
            },
            function=run_projection,
            arguments={
                "data": name,
                "candidate": candidate,
                "setting": setting,
                "n_features": n_features,
                "protocol": protocol,
            },
            fingerprint=candidate.fingerprint(setting, f"{contents} {n_features}"),
        )
        for candidate in with_baselines(candidates)
        for setting in candidate.settings(tuned=protocol.tuning != "defaults")
    ]


def run_projection(
    data: str,
    candidate: Candidate,
    setting: Mapping[str, Any],
    n_features: int,
    protocol: Protocol,
) -> list[dict[str, Any]]:
    """Project the samples on two principal components of the best features.

    Returns
    -------
    list of dict
        The measures "first" and "second" (the components, one value per sample), "class" (its code)
        and "silhouette" (how far apart the classes are in the plane, from -1 to 1; one value).
    """
    X, y = prepared(data, protocol.scaling, protocol.max_samples, protocol.seed)
    assert y is not None  # registered sets have labels
    chosen = X
    if candidate.method != ALL_FEATURES:
        model = candidate.make(setting, int(y.max()) + 1, protocol.seed)
        model.set_params(n_features_to_select=n_features)
        with warnings.catch_warnings():
            # Of a method that stops early the last iterate is shown, as a user would get it.
            warnings.simplefilter("ignore")
            chosen = model.fit_transform(X)
    plane = PCA(2, svd_solver="full").fit_transform(chosen)
    found = {
        "first": plane[:, 0].tolist(),
        "second": plane[:, 1].tolist(),
        "class": y.tolist(),
        "silhouette": [float(silhouette_score(plane, y))],
    }
    return [
        {"n_features": chosen.shape[1], "measure": measure, "values": values}
        for measure, values in found.items()
    ]


def separation(results: Results, name: str, label: str) -> Estimate | None:
    """The silhouette of the classes in the plane of a candidate, None if it was not projected."""
    return results.estimate(name, projection_label(label), "silhouette")


def draw_projections(
    results: Results, name: str, labels: Sequence[str], title: str, folder: Path, file_name: str
) -> list[Path]:
    """A panel for each label, classes by colour and marker; no file if nothing was projected."""
    shown = {label: found for label in labels if (found := separation(results, name, label))}
    if not shown:
        return []
    from matplotlib import colormaps
    from matplotlib.figure import Figure

    n_rows = -(-len(shown) // _COLUMNS)
    figure = Figure(figsize=(3.0 * _COLUMNS, 2.9 * n_rows + 0.4), layout="constrained")
    panels = figure.subplots(n_rows, _COLUMNS, squeeze=False).ravel()
    for axes, (label, found) in zip(panels, shown.items(), strict=False):
        first, second, classes = (
            _values(results, name, label, measure, found)
            for measure in ("first", "second", "class")
        )
        for code in sorted(set(classes.tolist())):
            members, style = classes == code, int(code)
            axes.scatter(
                first[members],
                second[members],
                s=10,
                marker=_MARKERS[style % len(_MARKERS)],
                color=colormaps["tab10"](style % 10),
            )
        axes.set_title(f"{shown_as(label)}: silhouette {found.mean:.2f}", fontsize=9)
        axes.set_xticks([])
        axes.set_yticks([])
    for axes in panels[len(shown) :]:
        axes.set_visible(False)
    figure.suptitle(title, fontsize=11)
    return save(figure, folder, file_name)


def _values(results: Results, name: str, label: str, measure: str, chosen: Estimate) -> FloatArray:
    """Of the setting that was chosen, one value per sample."""
    values = results.values(name, projection_label(label), measure, None, chosen.parameters)
    assert values is not None  # a run that has a silhouette has its plane
    return values
