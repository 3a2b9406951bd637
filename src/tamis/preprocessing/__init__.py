"""From a real table to numbers that can be compared: rows drawn, columns scaled."""

from tamis.preprocessing._sampling import drawn_samples
from tamis.preprocessing._scaling import (
    Scaling,
    scaled,
    scaled_columns,
    scaler_for,
    warn_of_columns_left,
)

__all__ = [
    "Scaling",
    "drawn_samples",
    "scaled",
    "scaled_columns",
    "scaler_for",
    "warn_of_columns_left",
]
