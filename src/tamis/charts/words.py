"""What the figures of a report say, in plain words."""

from __future__ import annotations

import numpy as np

from tamis.inspection import (
    GroupEvidence,
    Loss,
    Measure,
    Redundancy,
    Sample,
    Selection,
    Stability,
)

# Characters of a name that a table has room for.
LONGEST_NAME = 40

# Captions.
VARIANCE_SPAN = "The share of the variance kept in held-out rows."
AGREEMENT_CURVE = (
    "How much of the groups K-means finds in the best columns (normalised mutual information), by "
    "their number."
)
MAP_CAPTION = (
    "The kept columns by rank, and beside each those not kept that are more like it than like any "
    "other kept one: the farther to the left, the more. Left of the dashed line it stands for them."
    " Point at a dot for its name."
)


def group_span(n_clusters: int) -> str:
    """The caption of how well groups repeat."""
    return (
        f"{n_clusters} clusters of one half of the rows beside those of the other (adjusted Rand "
        "index). One or two columns always repeat, random ones too: only what is above the band "
        "counts."
    )


def percent(share: float, digits: int = 0) -> str:
    """A share as a percentage; 0 % and 100 % only where they are exact, else digits tell more."""
    rest = min(share, 1 - share)
    if not 1e-9 < rest < 0.01:
        return f"{100 * share:.{digits}f} %".replace("-0 %", "0 %")
    for more in range(max(1, digits), 4):
        text = f"{100 * share:.{more}f}"
        if 0 < float(text) < 100:
            return f"{text} %"
    return "under 0.001 %" if share < 0.5 else "over 99.999 %"


def span(low: float, high: float) -> str:
    """Two shares, with the digits that tell them apart, up to three."""
    for digits in range(4):
        first, last = percent(low, digits), percent(high, digits)
        if first != last:
            return f"{first} to {last}"
    return percent(low)


def index_span(low: float, high: float) -> str:
    """Two indices of agreement."""
    first, last = index(low), index(high)
    return first if first == last else f"{first} to {last}"


def index(value: float) -> str:
    """An index of agreement, 1 at most; what rounds to zero has no sign."""
    return f"{value:.2f}".replace("-0.00", "0.00").replace("-", "−")


def cut(name: str, longest: int = LONGEST_NAME) -> str:
    """A name short enough for a table; its end is kept, by which long names often differ."""
    if len(name) <= longest:
        return name
    end = longest // 3
    return f"{name[: longest - end - 1]}…{name[-end:]}"


def count(number: int, noun: str) -> str:
    """A number with its noun, in the plural where there are more than one."""
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def beats_random(measure: Measure, n_kept: int) -> str:
    """How a measure compares with random subsets."""
    n_random = len(measure.random)
    if not n_random:
        return "there is no other choice of as many columns to compare with"
    return (
        f"better than {measure.n_beaten} of {n_random} random choices of {count(n_kept, 'column')}"
    )


def against_random(measure: Measure, *, shares: bool = True) -> str:
    """How a measure compares with random subsets, and their range, for a caption."""
    if not len(measure.random):
        return "No other choice of as many columns to compare with."
    low, high = float(measure.random.min()), float(measure.random.max())
    between = span(low, high) if shares else index_span(low, high)
    return f"Better than {measure.n_beaten} of {len(measure.random)} random choices ({between})."


def summary(
    selection: Selection,
    loss: Loss,
    group_evidence: GroupEvidence,
    redundancy: Redundancy,
    stability: Stability,
) -> list[str]:
    """The findings, most important first, good or bad."""
    n_features, n_kept = selection.X.shape[1], len(selection.kept)
    sentences = []
    kept = f"{n_kept:,} of {count(n_features, 'column')}"
    groups_first = _groups_speak(loss, group_evidence)
    if groups_first:
        sentences.append(_verdict(group_evidence, kept, n_kept))
        kept = f"The kept {'columns' if n_kept > 1 else 'column'}"
    sentences.append(_variance_sentence(loss, kept, n_kept, groups_first))
    sentences.append(
        f"Of the {loss.n_neighbors} nearest neighbours of a row, "
        f"{percent(loss.neighbors.selected)} stay its nearest when only the kept columns are "
        f"looked at: {beats_random(loss.neighbors, n_kept)}."
    )
    if groups_first:
        sentences[-1] += (
            " Neighbours in all columns are no yardstick here: most columns know nothing of the "
            "groups."
        )
    if group_evidence.repeat is not None:
        sentences.append(_groups_sentence(group_evidence))
    if group_evidence.nmi is not None:
        sentences.append(_labels_sentence(group_evidence))
    if n_kept > 1:
        sentences.append(_redundancy_sentence(redundancy))
    if stability.value is not None:
        sentences.append(_stability_sentence(stability))
    if _no_better_than_chance(loss):
        sentences.append(_chance_sentence(group_evidence))
    return sentences


def _groups_speak(loss: Loss, group_evidence: GroupEvidence) -> bool:
    """Whether groups are what to judge by: they repeat, and the rest of the table is lost."""
    lost = loss.neighbors.selected < 0.5
    return lost and (group_evidence.uncovered or (group_evidence.found and loss.told < 0.05))


def _verdict(group_evidence: GroupEvidence, kept: str, n_kept: int) -> str:
    """The groups first."""
    repeat = group_evidence.repeat
    assert repeat is not None
    difference = repeat.measure.selected - repeat.everything
    beside = (
        "much better than all columns do"
        if group_evidence.uncovered
        else "better than all columns do"
        if difference >= 0.05
        else "as well as all columns do"
        if difference > -0.05
        else "if less well than all columns do"
    )
    return (
        f"{kept} {'show' if n_kept > 1 else 'shows'} groups that other rows show again, {beside}: "
        f"agreement {index(repeat.measure.selected)} against {index(repeat.everything)}, where 1 "
        "is the same groups and 0 is chance."
    )


def _variance_sentence(loss: Loss, kept: str, n_kept: int, groups_first: bool) -> str:
    text = (
        f"{kept} {'keep' if n_kept > 1 else 'keeps'} {percent(loss.variance.selected)} of the "
        f"variance in held-out rows, against a noise level of {percent(loss.noise)}: "
        f"{beats_random(loss.variance, n_kept)}."
    )
    if loss.noise < 1 - 1e-9 and loss.told < 0.01:
        text += f" Of the other columns {'they tell' if n_kept > 1 else 'it tells'} next to nothing"
        text += "." if groups_first else ", as in a table of noise."
    return text


def _groups_sentence(group_evidence: GroupEvidence) -> str:
    repeat = group_evidence.repeat
    assert repeat is not None
    measure = repeat.measure
    text = (
        f"{group_evidence.n_clusters} clusters of one half of the rows agree with those of the "
        f"other by {index(measure.selected)} in the kept columns (adjusted Rand index: 1 is the "
        f"same, 0 is chance), by {index(repeat.everything)} in all columns"
    )
    if len(measure.random):
        low, high = float(measure.random.min()), float(measure.random.max())
        text += f" and by {index_span(low, high)} in random choices"
    text += "."
    if measure.selected < group_evidence.cloud + 0.1:
        text += (
            f" A cloud without groups, spread as the kept columns, gives "
            f"{index(group_evidence.cloud)}: they show no groups beyond that."
        )
    return text


def _labels_sentence(group_evidence: GroupEvidence) -> str:
    nmi, accuracy = group_evidence.nmi, group_evidence.accuracy
    assert nmi is not None
    assert accuracy is not None
    text = (
        f"K-means with {group_evidence.n_classes} clusters finds the labels with NMI "
        f"{index(nmi.measure.selected)} and accuracy {index(accuracy.measure.selected)} in the "
        f"kept columns, with {index(nmi.everything)} and {index(accuracy.everything)} in all"
    )
    if len(nmi.measure.random):
        low, high = (float(end(nmi.measure.random)) for end in (np.min, np.max))
        text += f"; in random choices the NMI is {index_span(low, high)}"
    return text + "."


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


def _chance_sentence(group_evidence: GroupEvidence) -> str:
    """What to think of a selection that keeps no more than random columns: groups may speak."""
    if group_evidence.found:
        return (
            "To rebuild the table, or to keep neighbours, random columns would have served as "
            "well. To find groups they would not: the groups of the kept columns repeat, theirs do "
            "less."
        )
    nmi = group_evidence.nmi
    if nmi is not None and nmi.measure.n_beaten == len(nmi.measure.random):
        return (
            "To rebuild the table, or to keep neighbours, random columns would have served as "
            "well. The labels, which the method has not seen, are found better in the kept columns."
        )
    return (
        "By these measures random columns would have served as well. Try another method, "
        "another number of columns, or another scaling of the table."
    )


def group_notes(group_evidence: GroupEvidence) -> list[str]:
    """How the groups were looked for, or why they were not."""
    if group_evidence.repeat is None:
        return [group_evidence.note]
    numbers = group_evidence.numbers
    how = (
        f"K-means looks for {numbers[0]} clusters"
        if len(numbers) == 1
        else "K-means looks for "
        + ", ".join(map(str, numbers[:-1]))
        + f" and {numbers[-1]} clusters, and of these the number that repeats best counts, here "
        f"{group_evidence.n_clusters}"
    )
    return [
        f"Groups: {how}, in {group_evidence.n_rows:,} rows cut into halves four times. The columns "
        "were chosen on all these rows, which helps them a little."
    ]


def scale_notes(selection: Selection, judged: Selection) -> list[str]:
    """That a table was measured on another scale than its own, if so."""
    if judged is selection:
        return []
    name = type(selection.selector).__name__
    return [f"Measured in the columns as {name} scaled them."]


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
            f"What the kept columns tell of the others is measured on {len(sample.targets):,} of "
            f"the {n_features:,} columns, drawn at random."
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
