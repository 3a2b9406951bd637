"""Compare methods: a protocol that names everything, a sweep that can be interrupted, statistics.

>>> from tamis.evaluation import Candidate, Protocol, evaluate
>>> protocol = Protocol(n_features=(2,), n_repeats=5)
>>> results = evaluate(["iris"], [Candidate("MRSF", "mrsf")], protocol)
>>> for label in results.labels:
...     print(f"{label:14} {results.estimate('iris', label, 'kmeans_acc').mean:.2f}")
All features   0.85
Random subsets 0.79
MRSF           0.78
"""

from tamis.evaluation.candidates import ALL_FEATURES, RANDOM, Candidate, with_baselines
from tamis.evaluation.mixed import MixedTable
from tamis.evaluation.preparation import contents_name, differences, prepared
from tamis.evaluation.protocol import Protocol
from tamis.evaluation.results import Estimate, Record, Results
from tamis.evaluation.runs import evaluate, fit_and_score, selection_tasks
from tamis.evaluation.statistics import (
    Comparison,
    Ranks,
    critical_difference,
    fewest_pairs,
    mean_ranks,
    paired_tests,
)
from tamis.evaluation.sweep import SweepError, Task, sweep
from tamis.evaluation.tables import ComparisonTable, comparison_table
from tamis.evaluation.third_party import ScoringFunction, load_selector

__all__ = [
    "ALL_FEATURES",
    "RANDOM",
    "Candidate",
    "Comparison",
    "ComparisonTable",
    "Estimate",
    "MixedTable",
    "Protocol",
    "Ranks",
    "Record",
    "Results",
    "ScoringFunction",
    "SweepError",
    "Task",
    "comparison_table",
    "contents_name",
    "critical_difference",
    "differences",
    "evaluate",
    "fewest_pairs",
    "fit_and_score",
    "load_selector",
    "mean_ranks",
    "paired_tests",
    "prepared",
    "selection_tasks",
    "sweep",
    "with_baselines",
]
