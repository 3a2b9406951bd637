"""Naive references, written from the equations."""
