"""The papers' experiments, by name: our figures beside theirs.

>>> from tamis.evaluation import experiments
>>> experiments.names()
('udfs', 'jelsr', 'jdlufs', 'track', 'm3fs', 'leaderboard')
"""

from tamis.evaluation.experiments.base import Experiment, Outcome
from tamis.evaluation.experiments.running import find, names, run

__all__ = ["Experiment", "Outcome", "find", "names", "run"]
