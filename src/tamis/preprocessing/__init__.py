"""From a real table to numbers that can be compared: types, gaps, categories, scale."""

from tamis.preprocessing._preparation import Preparation
from tamis.preprocessing._sampling import drawn_samples
from tamis.preprocessing._scaling import (
    Scaling,
    scaled,
    scaled_columns,
    scaler_for,
    warn_of_columns_left,
)
from tamis.preprocessing._selection import Selection

__all__ = [
    "Preparation",
    "Scaling",
    "Selection",
    "drawn_samples",
    "scaled",
    "scaled_columns",
    "scaler_for",
    "warn_of_columns_left",
]
