"""The selection that nobody has to tune."""

from tamis.auto._again import scores_again
from tamis.auto._reasons import STANDS_FOR
from tamis.auto._scales import scale_factors
from tamis.auto._selector import Auto

__all__ = ["STANDS_FOR", "Auto", "scale_factors", "scores_again"]
