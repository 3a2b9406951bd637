"""Numerical engines: they know matrices, never selectors."""
