"""The selection that nobody has to tune."""

from tamis.auto._selector import Auto

__all__ = ["Auto"]
