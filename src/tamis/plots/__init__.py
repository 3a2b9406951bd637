"""Pictures of a fitted selector, with matplotlib (``pip install 'tamis[plot]'``).

Each function draws on the given axes, or on new ones, and returns them. Those that compute
something worth keeping have a Display class beside them, as in scikit-learn.
"""

from tamis.plots._embedding import EmbeddingDisplay, plot_embedding
from tamis.plots._path import plot_path
from tamis.plots._pixels import plot_selection
from tamis.plots._scores import ScoresDisplay, plot_scores
from tamis.plots._stability import StabilityDisplay, plot_stability

__all__ = [
    "EmbeddingDisplay",
    "ScoresDisplay",
    "StabilityDisplay",
    "plot_embedding",
    "plot_path",
    "plot_scores",
    "plot_selection",
    "plot_stability",
]
