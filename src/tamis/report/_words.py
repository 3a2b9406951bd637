"""What the figures of a report say, in plain words."""

from __future__ import annotations

import numpy as np

from tamis.evidence import Loss, Measure, Redundancy, Sample, Selection, Stability


def percent(share: float) -> str:
    """A share as a whole percentage; 100 % and 0 % only where they are exact."""
    whole = round(100 * share)
    if whole == 100 and share < 1 - 1e-9:
        return "over 99 %" if share >= 0.995 else "99 %"
    if whole == 0 and share > 1e-9:
        return "under 1 %"
    return f"{whole} %"


def count(number: int, noun: str) -> str:
    """A number with its noun, in the plural where there are more than one."""
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def standing(measure: Measure, n_kept: int) -> str:
    """How a measure compares with random subsets."""
    n_random = len(measure.random)
    if not n_random:
        return "there is no other choice of as many columns to compare with"
    return (
        f"better than {measure.n_beaten} of {n_random} random choices of {count(n_kept, 'column')}"
    )


def against_random(measure: Measure) -> str:
    """A measure's standing and the range of the random subsets, for a caption."""
    if not len(measure.random):
        return "No other choice of as many columns to compare with."
    low, high = float(measure.random.min()), float(measure.random.max())
    return (
        f"Better than {measure.n_beaten} of {len(measure.random)} random choices "
        f"({percent(low)} to {percent(high)})."
    )


def summary(
    selection: Selection, sample: Sample, loss: Loss, redundancy: Redundancy, stability: Stability
) -> list[str]:
    """The findings, most important first, good or bad."""
    n_features, n_kept = selection.X.shape[1], len(selection.kept)
    sentences = [
        f"{n_kept:,} of {count(n_features, 'column')} {'keep' if n_kept > 1 else 'keeps'} "
        f"{percent(loss.variance.selected)} of the variance: {standing(loss.variance, n_kept)}."
    ]
    if loss.saturated:
        sentences.append(
            f"There are as many kept columns as the {count(len(sample.rows), 'row')} measured, so "
            "that almost any columns explain all the variance: trust the other measures more."
        )
    sentences.append(
        f"Of the {loss.n_neighbors} nearest neighbours of a row, "
        f"{percent(loss.neighbors.selected)} stay its nearest when only the kept columns are "
        f"looked at: {standing(loss.neighbors, n_kept)}."
    )
    if n_kept > 1:
        sentences.append(_redundancy_sentence(redundancy))
    if stability.value is not None:
        sentences.append(_stability_sentence(stability))
    if _no_better_than_chance(loss):
        sentences.append(
            "By these measures random columns would have served as well. Try another method, "
            "another number of columns, or another scaling of the table."
        )
    return sentences


def _redundancy_sentence(redundancy: Redundancy) -> str:
    before, after = f"{redundancy.before:.2f}", f"{redundancy.after:.2f}"
    if before == after:
        return f"The kept columns repeat each other as much as all columns do: mean |r| {after}."
    more = "more" if redundancy.after > redundancy.before else "less"
    return (
        f"The kept columns repeat each other {more} than all columns do: mean |r| {after} against "
        f"{before}."
    )


def _stability_sentence(stability: Stability) -> str:
    value = stability.value
    assert value is not None
    # The bounds that Nogueira, Sechidis and Brown suggest.
    verdict = (
        "much the same" if value > 0.75 else "partly the same" if value >= 0.4 else "often other"
    )
    return (
        f"Refitted on {count(len(stability.masks), 'subsample')} of "
        f"{count(stability.n_rows, 'row')}, the method keeps {verdict} columns: stability "
        f"{value:.2f}, where 1 is always the same and 0 is chance."
    )


def _no_better_than_chance(loss: Loss) -> bool:
    percentiles = [
        measure.percentile for measure in (loss.variance, loss.neighbors, loss.reconstruction)
    ]
    known = [share for share in percentiles if share is not None]
    return bool(known) and float(np.max(known)) <= 0.5


def sampling_notes(selection: Selection, sample: Sample, redundancy: Redundancy) -> list[str]:
    """What was measured on a part of the table only."""
    n_features = selection.X.shape[1]
    notes = []
    if sample.is_partial:
        notes.append(
            f"Measured on {len(sample.rows):,} of {sample.n_samples:,} rows, drawn at random."
        )
    if len(sample.targets) < n_features:
        notes.append(
            f"Variance and reconstruction are those of {len(sample.targets):,} of the "
            f"{n_features:,} columns, drawn at random."
        )
    n_constant = int(np.count_nonzero(selection.constant))
    if n_constant:
        notes.append(
            f"{count(n_constant, 'column')} of the table "
            f"{'is' if n_constant == 1 else 'are'} constant; random choices leave such columns out."
        )
    if redundancy.n_before < n_features - n_constant:
        notes.append(
            f"The correlation of all columns is the mean over {redundancy.n_before:,} of them, "
            "drawn at random."
        )
    return notes
