"""The papers' experiments, by name: our figures beside theirs.

>>> from tamis import reproduction
>>> reproduction.names()
('udfs', 'jelsr', 'jdlufs', 'track', 'm3fs', 'leaderboard', 'fseval', 'auto')
"""

from tamis.reproduction.experiment import Experiment, Outcome
from tamis.reproduction.running import find, names, run

__all__ = ["Experiment", "Outcome", "find", "names", "run"]
