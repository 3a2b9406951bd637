"""What speaks for a selection, as numbers: plots and the report draw it.

:func:`read_selection` pairs a fitted selector with its table, :func:`knee` finds where the scores
bend, :func:`measure_loss` compares the selection with random subsets of its size,
:func:`measure_groups` sees whether its groups repeat in other rows, :func:`measure_redundancy`
correlates its columns, :func:`subsample_selections` refits on parts of the rows, and
:func:`planar_views` and :func:`find_groups` make the picture of the samples.
:func:`read_decisions` tells what an automatic selection decided by itself and why, and
:func:`measure_numbers` what more columns would add.
"""

from tamis.inspection._curve import knee, knee_of
from tamis.inspection._decisions import Decisions, NumberCurve, read_curve, read_decisions
from tamis.inspection._group_evidence import Compared, GroupEvidence, measure_groups
from tamis.inspection._groups import Groups, check_labels, find_groups, group_labels
from tamis.inspection._loss import Loss, Measure, measure_loss, subset_loss
from tamis.inspection._number import NumberEvidence, Span, measure_numbers
from tamis.inspection._redundancy import Redundancy, measure_redundancy
from tamis.inspection._sample import Sample, draw_sample
from tamis.inspection._scaled import as_chosen
from tamis.inspection._selection import (
    Choice,
    Selection,
    check_fitted,
    read_selection,
    selected_columns,
)
from tamis.inspection._stability import Stability, subsample_selections
from tamis.inspection._views import View, aligned, centred_gram, planar_views, principal_view

__all__ = [
    "Choice",
    "Compared",
    "Decisions",
    "GroupEvidence",
    "Groups",
    "Loss",
    "Measure",
    "NumberCurve",
    "NumberEvidence",
    "Redundancy",
    "Sample",
    "Selection",
    "Span",
    "Stability",
    "View",
    "aligned",
    "as_chosen",
    "centred_gram",
    "check_fitted",
    "check_labels",
    "draw_sample",
    "find_groups",
    "group_labels",
    "knee",
    "knee_of",
    "measure_groups",
    "measure_loss",
    "measure_numbers",
    "measure_redundancy",
    "planar_views",
    "principal_view",
    "read_curve",
    "read_decisions",
    "read_selection",
    "selected_columns",
    "subsample_selections",
    "subset_loss",
]
