"""A local web page to look at one's columns, decide, and take the code along.

``tamis studio data.csv`` opens it from a terminal, :func:`open` from a notebook. Nothing leaves the
machine: the page talks to a server on this computer alone, under an address that cannot be guessed.
"""

from tamis.studio._open import RunningStudio, open, serve

__all__ = ["RunningStudio", "open", "serve"]
