"""Why a column is kept, or not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import f as f_distribution

from tamis._typing import BoolArray, FloatArray, IntArray, Matrix
from tamis.auto._candidates import Regression, regress
from tamis.solvers.table_operator import TableOperator

# Refits on random halves of the samples.
N_REFITS = 6
# A refit need not be as exact as the ranking: it only counts which columns are among the best.
REFIT_TOLERANCE = 1e-2
LEAST_SAMPLES = 4
# Kept columns whose products with all others are held at once.
BLOCK = 32
# Columns with this correlation are copies; with less than the next, one does not stand for another.
COPY = 1 - 1e-9
STANDS_FOR = 0.7
# A column is rebuilt by the kept ones if they explain this share of its variance.
REBUILT = 0.5
# A column follows the groups if chance would give it as much with less than this probability.
LEVEL = 0.01


@dataclass(frozen=True)
class Reasons:
    """What is known of each column that varies, beside the kept ones.

    Attributes
    ----------
    kept : ndarray of int
        The kept columns, the best first.
    explained : ndarray of shape (n_features,)
        R² of the column on the kept ones.
    nearest : ndarray of shape (n_features,)
        The kept column, other than itself, that it correlates with most; -1 where there is none.
    correlation : ndarray of shape (n_features,)
        That correlation, with its sign.
    group_share : ndarray of shape (n_features,)
        Share of the variance that lies between the groups.
    group : ndarray of shape (n_features,)
        The group whose mean lies farthest from that of the others, in standard errors.
    shift : ndarray of shape (n_features,)
        How far, in deviations of the column.
    group_chance : ndarray of shape (n_features,)
        How often chance would put as much of the variance between the groups (an F test); NaN for
        one group, and for as many as samples.
    kept_by_refits : ndarray of shape (n_features,)
        The share of refits on halves of the samples that keep the column; NaN where there are too
        few samples to halve.
    """

    kept: IntArray
    explained: FloatArray
    nearest: IntArray
    correlation: FloatArray
    group_share: FloatArray
    group: IntArray
    shift: FloatArray
    group_chance: FloatArray
    kept_by_refits: FloatArray


def reasons_for(Z: Matrix, kept: IntArray, labels: IntArray, kept_by_refits: FloatArray) -> Reasons:
    """Compare all columns of a scaled table with the kept ones and with the groups.

    Notes
    -----
    O(nkd) for k kept columns, and memory for 32 of them beside all others.
    """
    table = TableOperator.centred(Z)
    lengths = np.sqrt(table.squared_column_norms())
    groups = _groups(table, labels, lengths)
    if len(kept) == Z.shape[1]:  # none has to stand for another
        alone, zero = np.full(len(kept), -1, dtype=np.intp), np.zeros(len(kept))
        return Reasons(kept, np.ones(len(kept)), alone, zero, *groups, kept_by_refits)
    nearest, correlation = _nearest_kept(table, kept, lengths)
    basis = np.linalg.qr(table.columns(kept))[0] if len(kept) else np.zeros((Z.shape[0], 0))
    explained = _explained(table, basis, lengths)
    return Reasons(kept, explained, nearest, correlation, *groups, kept_by_refits)


def refit_shares(
    Z: Matrix,
    chosen: Regression,
    n_selected: int,
    kept: BoolArray,
    order: IntArray,
    random: np.random.RandomState,
) -> FloatArray:
    """How often each column is among the best when only half of the samples are looked at.

    The halves are drawn from `order`, in which the samples stand by their values.
    """
    n_samples, n_features = Z.shape
    if n_samples < LEAST_SAMPLES:
        return np.full(n_features, np.nan)
    if n_selected == n_features:
        return np.ones(n_features)
    shares = np.zeros(n_features)
    for _ in range(N_REFITS):
        half = np.sort(order[random.permutation(n_samples)[: n_samples // 2]])
        targets = chosen.Y[half] - chosen.Y[half].mean(axis=0)
        targets = targets[:, targets.any(axis=0)]
        refit = regress(
            TableOperator.centred(Z[half]),
            targets,
            n_selected,
            chosen.scale,
            chosen.target,
            kept,
            tol=REFIT_TOLERANCE,
        )
        shares[refit.best(n_selected)] += 1
    return shares / N_REFITS


def _nearest_kept(
    table: TableOperator, kept: IntArray, lengths: FloatArray
) -> tuple[IntArray, FloatArray]:
    n_features = len(lengths)
    nearest = np.full(n_features, -1, dtype=np.intp)
    strongest = np.zeros(n_features)
    for start in range(0, len(kept), BLOCK):
        some = kept[start : start + BLOCK]
        unit = table.columns(some) / lengths[some]
        products = table.transposed_times(unit) / lengths[:, None]
        products[some, np.arange(len(some))] = 0  # a column does not stand for itself
        best = np.abs(products).argmax(axis=1)
        value = products[np.arange(n_features), best]
        better = np.abs(value) > np.abs(strongest)
        nearest[better], strongest[better] = some[best[better]], value[better]
    return nearest, strongest.clip(-1, 1)


def _explained(table: TableOperator, basis: FloatArray, lengths: FloatArray) -> FloatArray:
    total = np.zeros(len(lengths))
    for start in range(0, basis.shape[1], BLOCK):
        products = table.transposed_times(basis[:, start : start + BLOCK])
        total += np.einsum("ij,ij->i", products, products)
    return (total / lengths**2).clip(0, 1)


def _groups(
    table: TableOperator, labels: IntArray, lengths: FloatArray
) -> tuple[FloatArray, IntArray, FloatArray, FloatArray]:
    n_samples, n_groups = len(labels), int(labels.max()) + 1
    sizes = np.bincount(labels)
    indicators = np.eye(n_groups)[labels]
    sums = table.transposed_times(indicators)
    share = (np.einsum("ij,ij->i", sums, sums / sizes) / lengths**2).clip(0, 1)
    deviation = lengths / np.sqrt(n_samples)
    others = np.maximum(n_samples - sizes, 1)
    # The table is centred: the others' sum is minus this group's.
    shifts = (sums / sizes + sums / others) / deviation[:, None]
    standard_errors = np.sqrt(1 / sizes + 1 / others)
    group = np.abs(shifts / standard_errors).argmax(axis=1)
    between, within = n_groups - 1, n_samples - n_groups
    if between < 1 or within < 1:
        chance = np.full(len(lengths), np.nan)
    else:
        ratio = (share / between) / np.maximum((1 - share) / within, 1e-300)
        chance = f_distribution.sf(ratio, between, within)
    return share, group, shifts[np.arange(len(group)), group], chance


@dataclass(frozen=True)
class Columns:
    """The columns of the whole table.

    Attributes
    ----------
    names : sequence of str
    rank : ndarray of shape (n_features,)
        1 is the best.
    support : ndarray of bool
        Which are selected.
    looked_at : ndarray of bool
        Those that vary and were not to be dropped: the ones that :class:`Reasons` knows.
    keep, drop : ndarray of bool
        Which were listed, to be selected in any case or not to be looked at.
    """

    names: Sequence[str]
    rank: IntArray
    support: BoolArray
    looked_at: BoolArray
    keep: BoolArray
    drop: BoolArray


def describe(reasons: Reasons | None, table: Columns) -> list[dict[str, object]]:
    """One row per column of the whole table: whether it is kept, and why, in words and numbers.

    Parameters
    ----------
    reasons : Reasons or None
        Of the columns that were looked at; None if there are none.
    table : Columns
    """
    looked_at: list[int] = np.flatnonzero(table.looked_at).tolist()
    known = _known(reasons, [table.names[column] for column in looked_at])
    place = {column: j for j, column in enumerate(looked_at)}
    rows: list[dict[str, object]] = []
    for column, name in enumerate(table.names):
        kept = bool(table.support[column])
        asked_for = bool(table.keep[column])
        if column in place:
            row = known[place[column]]
        else:
            row = _unknown(bool(table.drop[column]), filler=kept and not asked_for)
        if asked_for:
            row |= {"kind": "kept", "reason": f"listed in keep; {row['reason']}"}
        rank = int(table.rank[column]) if kept else None
        rows.append({"column": name, "kept": kept, "rank": rank} | row)
    return rows


def _unknown(dropped: bool, *, filler: bool) -> dict[str, object]:
    """The row of a column that was not looked at; a filler is kept for the number alone."""
    kind, reason = ("dropped", "listed in drop") if dropped else ("constant", "does not vary")
    if filler:
        kind = "kept"
        reason += ", but fewer columns vary than are to be selected"
    return {
        "kind": kind,
        "reason": reason,
        "kept_by_refits": None,
        "explained": None,
        "nearest": None,
        "correlation": None,
        "group": None,
        "group_share": None,
        "stands_for": 0,
    }


def _known(reasons: Reasons | None, names: list[str]) -> list[dict[str, object]]:
    """The rows of the columns that were looked at."""
    if reasons is None:
        return []
    kept = set(reasons.kept.tolist())
    stands_for = _represented(reasons)
    rows: list[dict[str, object]] = []
    for j in range(len(names)):
        represented = [names[i] for i in stands_for.get(j, [])]
        nearest, share = int(reasons.nearest[j]), reasons.kept_by_refits[j]
        if j in kept:
            kind, why = "kept", _why_kept(reasons, j, represented)
        else:
            kind, why = _why_not(reasons, j, names)
        rows.append(
            {
                "kind": kind,
                "reason": why,
                "kept_by_refits": None if np.isnan(share) else float(share),
                "explained": float(reasons.explained[j]),
                "nearest": names[nearest] if nearest >= 0 else None,
                "correlation": float(reasons.correlation[j]) if nearest >= 0 else None,
                "group": int(reasons.group[j]),
                "group_share": float(reasons.group_share[j]),
                "stands_for": len(represented),
            }
        )
    return rows


def _represented(reasons: Reasons) -> dict[int, list[int]]:
    """The columns not kept that each kept one stands for, the closest first."""
    kept = set(reasons.kept.tolist())
    near = [
        (-abs(r), j)
        for j, r in enumerate(reasons.correlation)
        if j not in kept and abs(r) >= STANDS_FOR
    ]
    stands_for: dict[int, list[int]] = {}
    for _, j in sorted(near):
        stands_for.setdefault(int(reasons.nearest[j]), []).append(j)
    return stands_for


def _why_kept(reasons: Reasons, j: int, represented: list[str]) -> str:
    parts = []
    if reasons.group_chance[j] < LEVEL:
        side = "higher" if reasons.shift[j] > 0 else "lower"
        parts.append(
            f"tells group {reasons.group[j] + 1} apart, which lies {abs(reasons.shift[j]):.1f} "
            f"deviations {side}; {reasons.group_share[j]:.0%} of its variance is between groups"
        )
    if represented:
        shown = ", ".join(represented[:3])
        more = f" and {len(represented) - 3} more" if len(represented) > 3 else ""
        parts.append(f"stands for {shown}{more}")
    return "; ".join(parts) or "adds to what the columns before it show"


def _why_not(reasons: Reasons, j: int, names: list[str]) -> tuple[str, str]:
    """The kind of reason, and the reason in words."""
    r, explained = reasons.correlation[j], reasons.explained[j]
    if abs(r) >= COPY:
        return "copy", f"copy of {names[reasons.nearest[j]]}"
    if explained >= REBUILT:
        source = (
            f", mostly {names[reasons.nearest[j]]} (r = {r:.2f})" if abs(r) >= STANDS_FOR else ""
        )
        return "rebuilt", f"rebuilt from the kept columns (R² {explained:.2f}){source}"
    if reasons.group_chance[j] >= LEVEL:
        return "no structure", "follows no structure"
    if np.isnan(reasons.group_chance[j]):
        return "adds little", "adds little to the kept columns"
    return "adds little", (
        f"adds little: {reasons.group_share[j]:.0%} of its variance is between groups that the "
        "kept columns tell apart"
    )
