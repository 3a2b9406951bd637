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

from tamis.evaluation.candidates import Candidate, with_baselines
from tamis.evaluation.own_table import OwnTable
from tamis.evaluation.protocol import Protocol
from tamis.evaluation.results import Estimate, Record, Results
from tamis.evaluation.runs import evaluate, selection_tasks
from tamis.evaluation.statistics import (
    Comparison,
    Ranks,
    critical_difference,
    fewest_pairs,
    mean_ranks,
    paired_tests,
)
from tamis.evaluation.sweep import SweepError, Task, sweep

__all__ = [
    "Candidate",
    "Comparison",
    "Estimate",
    "OwnTable",
    "Protocol",
    "Ranks",
    "Record",
    "Results",
    "SweepError",
    "Task",
    "critical_difference",
    "evaluate",
    "fewest_pairs",
    "mean_ranks",
    "paired_tests",
    "selection_tasks",
    "sweep",
    "with_baselines",
]
