"""The tables of the experiment on Auto."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tamis._typing import BoolArray, FloatArray
from tamis.evaluation.candidates import ALL_FEATURES_LABEL, RANDOM_LABEL
from tamis.evaluation.rendering import percent
from tamis.evaluation.results import Estimate, Record, Results
from tamis.evaluation.statistics import signed_rank_p_value
from tamis.evaluation.ties import TOLERANCE
from tamis.reproduction.auto_runs import (
    FEWEST_COLUMNS,
    FEWEST_ROWS,
    LARGEST_NUMBER,
    MOST_COLUMNS,
    MOST_ROWS,
    N_NUMBERS,
    NOISE,
    NUMBER_LABEL,
    PERMUTED,
)
from tamis.reproduction.leaderboard_rows import ACCURACY, INFORMATION, figures_by_set
from tamis.reproduction.plain_table import PlainTable

__all__ = [
    "by_name_hash",
    "figures_table",
    "fixed_number_table",
    "halves",
    "number_table",
    "record_table",
    "structure_table",
]

_NAMES = {ACCURACY: "ACC", INFORMATION: "NMI"}
_BASELINES = (ALL_FEATURES_LABEL, RANDOM_LABEL)


def by_name_hash(names: Sequence[str]) -> list[str]:
    """The names in the order of their SHA-256, which has nothing to do with what they name."""
    return sorted(names, key=lambda name: hashlib.sha256(name.encode()).hexdigest())


def halves(names: Sequence[str]) -> tuple[list[str], list[str]]:
    """The names at even and at odd places of :func:`by_name_hash`, the first place being 0."""
    ordered = by_name_hash(names)
    return ordered[::2], ordered[1::2]


# ------------------------------------------------------------------------------------------------
# Against all features and random subsets
# ------------------------------------------------------------------------------------------------


def record_table(
    results: Results, labels: Sequence[str], sets: Sequence[str], title: str, note: str = ""
) -> PlainTable:
    """Means over the sets, and the sets won against the baselines with Wilcoxon's test over sets.

    Sets on which a run of any of the labels failed are left out of all of it.
    """
    figures = {
        measure: figures_by_set(results, measure, sets=sets, labels=labels) for measure in _NAMES
    }
    complete: BoolArray = np.asarray((~np.isnan(figures[ACCURACY])).all(axis=1))
    figures = {measure: table[complete] for measure, table in figures.items()}
    data = [_record(figures, labels, label) for label in labels]
    heads = [
        f"{name}: against {other}"
        for name in _NAMES.values()
        for other in ("all features", "random")
    ]
    rows = [
        (
            row["label"],
            *(percent(row[f"mean_{name}"]) for name in _NAMES.values()),
            *(
                _record_words(row[f"{name}_against"].get(other))
                for name in _NAMES.values()
                for other in _BASELINES
            ),
        )
        for row in data
    ]
    left_out = [name for name, whole in zip(sets, complete, strict=True) if not whole]
    if left_out:
        note += f" Left out, as a run failed there: {', '.join(left_out)}."
    return PlainTable(
        f"{title}: {int(complete.sum())} sets",
        ("Method", "ACC %", "NMI %", *heads),
        rows,
        note=note.strip(),
        data=data,
    )


def _record(figures: dict[str, FloatArray], labels: Sequence[str], label: str) -> dict[str, Any]:
    row: dict[str, Any] = {"label": label}
    for measure, name in _NAMES.items():
        table = figures[measure]
        own = table[:, labels.index(label)]
        row[f"mean_{name}"] = float(own.mean()) if len(own) else None
        row[f"{name}_against"] = {
            other: _against(own - table[:, labels.index(other)])
            for other in _BASELINES
            if other != label and len(own)
        }
    return row


def _against(differences: FloatArray) -> dict[str, Any]:
    return {
        "won": int((differences > TOLERANCE).sum()),
        "lost": int((differences < -TOLERANCE).sum()),
        "p_value": signed_rank_p_value(differences),
    }


def _record_words(record: dict[str, Any] | None) -> str:
    if record is None:
        return ""
    return f"{record['won']} : {record['lost']} (p = {record['p_value']:.2g})"


def figures_table(
    results: Results, labels: Sequence[str], sets: Sequence[str], measure: str
) -> PlainTable:
    """A measure set by set."""
    means = figures_by_set(results, measure, sets=sets, labels=labels)
    counts = [_selected(results, labels, name) for name in sets]
    return PlainTable(
        f"{_NAMES[measure]} set by set, %",
        ("Set", "features", *labels),
        [
            (name, str(count), *(percent(None if np.isnan(m) else m) for m in row))
            for name, count, row in zip(sets, counts, means, strict=True)
        ],
        data=[
            {
                "set": name,
                "n_features": count,
                **{
                    label: None if np.isnan(mean) else round(float(mean), 6)
                    for label, mean in zip(labels, row, strict=True)
                },
            }
            for name, count, row in zip(sets, counts, means, strict=True)
        ],
    )


def _selected(results: Results, labels: Sequence[str], name: str) -> int | None:
    """How many features are selected of a set."""
    found = (results.estimate(name, one, ACCURACY) for one in labels if one != ALL_FEATURES_LABEL)
    return next((one.n_features for one in found if one is not None), None)


# ------------------------------------------------------------------------------------------------
# What Auto decides
# ------------------------------------------------------------------------------------------------


def number_table(results: Results, sets: Sequence[str], groups: dict[str, str]) -> PlainTable:
    """The number of columns that Auto chooses beside the best of its own curve.

    Parameters
    ----------
    results : Results
    sets : sequence of str
    groups : dict
        The half that each set belongs to; sets of neither are missing.
    """
    data = [found for name in sets if (found := _number_row(results, name, groups))]
    rows: list[tuple[str, ...]] = [
        (
            row["set"],
            row["half"],
            row["scaling"],
            f"{row['n_clusters']} ({row['n_classes']})",
            str(row["n_features"]),
            percent(row["accuracy"]),
            str(row["best_n_features"]),
            percent(row["best_accuracy"]),
            percent(row["loss"]),
            percent(row["usual_loss"]),
            percent(row["all_features"]),
        )
        for row in data
    ]
    for half in ("A", "B", ""):
        some = [row for row in data if row["half"] == half or not half]
        if not some:
            continue
        accuracy, best, loss, usual, everything = (
            percent(_mean(some, name))
            for name in ("accuracy", "best_accuracy", "loss", "usual_loss", "all_features")
        )
        head = f"mean over {f'half {half}' if half else 'all sets'}"
        rows.append((head, "", "", "", "", accuracy, "", best, loss, usual, everything))
    return PlainTable(
        "The number of columns that Auto chooses",
        (
            "Set",
            "half",
            "scaling",
            "groups (classes)",
            "columns",
            "ACC %",
            "best number",
            "ACC there",
            "loss",
            "loss of a tenth",
            "all features",
        ),
        rows,
        note=(
            "Auto, knowing nothing, chooses the scaling, the groups and the number of columns. The "
            "best number is the one of the highest ACC on the same ranking, looking at the labels: "
            f"of {N_NUMBERS} numbers from 1 to {LARGEST_NUMBER} (or to all columns), evenly on a "
            "logarithmic scale, the chosen one, and a tenth of the columns, at most 100. What is "
            "lost against the best number is partly luck: the highest of so many figures is higher "
            "than what it stands for."
        ),
        data=data,
    )


def _number_row(results: Results, name: str, groups: dict[str, str]) -> dict[str, Any] | None:
    decided = results.estimate(name, NUMBER_LABEL, "n_clusters")
    best = results.estimate(name, NUMBER_LABEL, ACCURACY)
    if decided is None or best is None:
        return None
    n_classes, n_usual = (
        int(values[0])
        for which in ("n_classes", "n_usual")
        if (values := results.values(name, NUMBER_LABEL, which, None)) is not None
    )
    usual = results.estimate(name, NUMBER_LABEL, ACCURACY, n_features=n_usual)
    own = results.estimate(name, NUMBER_LABEL, ACCURACY, n_features=decided.n_features)
    scaling = results.values(name, NUMBER_LABEL, "scaling", None)
    everything = results.estimate(name, ALL_FEATURES_LABEL, ACCURACY)
    assert own is not None  # the chosen number is judged too, and so is a tenth
    assert usual is not None
    assert scaling is not None
    return {
        "set": name,
        "half": groups.get(name, ""),
        "scaling": str(scaling[0]),
        "n_clusters": int(decided.mean),
        "n_classes": n_classes,
        "n_features": decided.n_features,
        "accuracy": own.mean,
        "best_n_features": best.n_features,
        "best_accuracy": best.mean,
        "loss": best.mean - own.mean,
        "usual_loss": best.mean - usual.mean,
        "all_features": None if everything is None else everything.mean,
    }


def _mean(rows: Sequence[dict[str, Any]], name: str) -> float | None:
    values = [row[name] for row in rows if row[name] is not None]
    return float(np.mean(values)) if values else None


def structure_table(results: Results, sets: Sequence[str]) -> PlainTable:
    """How many tables of noise, and of the real sets, Auto says to have no structure."""
    noise = [record for record in results.records if "noise" in record.key and not record.error]
    groups = {
        kind: [_p_and_found(record) for record in noise if record.key["noise"] == kind]
        for kind in (*NOISE, PERMUTED)
    }
    groups["all tables of noise"] = [pair for some in groups.values() for pair in some]
    real = {name: _real(results, name) for name in sets}
    groups["real sets"] = [pair for pair in real.values() if pair is not None]
    data: list[dict[str, Any]] = [
        {
            "tables": kind,
            "number": len(pairs),
            "no_structure": sum(not found for _, found in pairs),
            "smallest_p_value": min(p for p, _ in pairs),
            "largest_p_value": max(p for p, _ in pairs),
        }
        for kind, pairs in groups.items()
        if pairs
    ]
    without = [name for name, pair in real.items() if pair is not None and not pair[1]]
    note = (
        f"Noise is drawn with {FEWEST_ROWS} to {MOST_ROWS} rows and {FEWEST_COLUMNS} to "
        f"{MOST_COLUMNS} columns."
    )
    if without:
        note += f" Real sets called without structure: {', '.join(without)}."
    return PlainTable(
        "No structure",
        ("Tables", "number", "called without structure", "smallest p", "largest p"),
        [
            (
                row["tables"],
                str(row["number"]),
                str(row["no_structure"]),
                f"{row['smallest_p_value']:.2g}",
                f"{row['largest_p_value']:.2g}",
            )
            for row in data
        ],
        note=note,
        data=data,
    )


def _p_and_found(record: Record) -> tuple[float, bool]:
    values = {row["measure"]: row["values"][0] for row in record.rows}
    return float(values["p_value"]), bool(values["found"])


def _real(results: Results, name: str) -> tuple[float, bool] | None:
    p, found = (results.values(name, NUMBER_LABEL, which, None) for which in ("p_value", "found"))
    return None if p is None or found is None else (float(p[0]), bool(found[0]))


def fixed_number_table(
    results: Results,
    name: str,
    labels: Sequence[str],
    renamed: Callable[[str], str],
    title: str,
) -> PlainTable:
    """A set with a fixed number of columns beside all of them.

    Parameters
    ----------
    results : Results
    name : str
        The set.
    labels : sequence of str
        All features are looked up as they are, the others under the name that `renamed` gives.
    renamed : callable
    title : str
    """

    def figure(label: str, measure: str) -> Estimate | None:
        known = label if label == ALL_FEATURES_LABEL else renamed(label)
        return results.estimate(name, known, measure)

    found = {
        label: (accuracy, information)
        for label in labels
        if (accuracy := figure(label, ACCURACY)) and (information := figure(label, INFORMATION))
    }
    return PlainTable(
        title,
        ("Method", "features", "ACC %", "NMI %"),
        [
            (label, str(acc.n_features), _with_sd(acc), _with_sd(nmi))
            for label, (acc, nmi) in found.items()
        ],
        data=[
            {
                "label": label,
                "n_features": acc.n_features,
                "mean_ACC": acc.mean,
                "mean_NMI": nmi.mean,
            }
            for label, (acc, nmi) in found.items()
        ],
    )


def _with_sd(estimate: Estimate) -> str:
    return f"{100 * estimate.mean:.1f} ± {100 * estimate.sd:.1f}"
