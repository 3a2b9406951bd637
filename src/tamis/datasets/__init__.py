"""The sets of the papers and the usual ones of the field: found, fetched, checked.

>>> from tamis import datasets
>>> datasets.load("iris").X.shape
(150, 4)
"""

from tamis.datasets.contents import checksum
from tamis.datasets.loading import available, load, local_copy, origin
from tamis.datasets.records import (
    Copy,
    Dataset,
    DatasetError,
    DatasetWarning,
    Download,
    Entry,
    Recipe,
)
from tamis.datasets.registry import entry, markdown, names

__all__ = [
    "Copy",
    "Dataset",
    "DatasetError",
    "DatasetWarning",
    "Download",
    "Entry",
    "Recipe",
    "available",
    "checksum",
    "entry",
    "load",
    "local_copy",
    "markdown",
    "names",
    "origin",
]
