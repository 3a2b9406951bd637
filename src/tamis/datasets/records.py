"""What is known of a data set, a loaded set, and the errors of the package."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tamis._typing import FloatArray, Matrix
from tamis.datasets.checks import checked_labels, checked_table

__all__ = [
    "Copy",
    "Dataset",
    "DatasetError",
    "DatasetWarning",
    "Download",
    "Entry",
    "Kind",
    "Raw",
    "Recipe",
]

#: Clusters to look for in a table without classes.
N_CLUSTERS = 5

Kind: TypeAlias = Literal["image", "text", "genes", "speech", "table"]


class DatasetError(LookupError, ValueError):
    """A set that cannot be had, or a file that cannot be used; the message says what to do."""


class DatasetWarning(UserWarning):
    """A set was loaded, but it is not the one that the registry describes."""


class Raw(NamedTuple):
    """A table and its classes as a source holds them, before types are made uniform.

    ``names`` are those of the columns, where the source has any.
    """

    X: Matrix
    y: NDArray[Any]
    names: tuple[str, ...] | None = None


class Copy(NamedTuple):
    """Which copy of a set was read.

    Attributes
    ----------
    sha256 : str
        :func:`tamis.datasets.checksum` of what it holds.
    difference : str or None
        How it differs from what the registry describes, to follow the name of the file; None if it
        does not.
    """

    sha256: str
    difference: str | None


@dataclass(frozen=True)
class Recipe:
    """How a set is made of another one.

    Attributes
    ----------
    base : str
        Name of the set it is made of.
    about : str
        What is done, in a few words.
    make : callable
        Takes the base as :class:`Raw`, its labels coded from 0, and returns the new one.
    """

    base: str
    about: str
    make: Callable[[Raw], Raw]


@dataclass(frozen=True)
class Download:
    """Where a set is fetched, and how the files are read.

    Attributes
    ----------
    addresses : tuple of str
        All are needed, in this order.
    read : callable
        Takes the paths of the downloaded files and the entry, and returns :class:`Raw`.
    """

    addresses: tuple[str, ...]
    read: Callable[[Sequence[Path], Entry], Raw]


@dataclass(frozen=True)
class Entry:
    """One set of the registry and what is known of it.

    Attributes
    ----------
    name : str
        As given to :func:`tamis.datasets.load`.
    n_samples, n_features, n_classes : int
        Size of the set.
    kind : {"image", "text", "genes", "speech", "table"}
        What the rows are.
    image_shape : (int, int) or None
        Height and width, when the columns are the pixels of a picture.
    image_order : {"C", "F"}
        Order in which the columns run through the picture: "C" by rows, "F" by columns, so that
        ``row.reshape(image_shape, order=image_order)`` stands upright.
    papers : tuple of str
        The experiments that use the set ("udfs", "jelsr", "jdlufs", "track", "m3fs").
    source : str
        Address of the public source, "scikit-learn" for a set that it carries, or whom to ask.
    licence : str
        The terms as far as known; the source has the last word.
    sparse : bool
        Whether the table is loaded as a CSR array, however the file stores it.
    sha256 : str or None
        :func:`tamis.datasets.checksum` of the contents, whatever the file format.
    files : tuple of str
        File names without ending that are looked for; case, ``-`` and ``_`` do not matter.
    recipe : Recipe or None
        How the set is made, when it is derived from another one.
    download : Download or None
        How the set is fetched, when it can be.
    note : str
        What a user should know.
    """

    name: str
    n_samples: int
    n_features: int
    n_classes: int
    kind: Kind
    image_shape: tuple[int, int] | None = None
    image_order: Literal["C", "F"] = "C"
    papers: tuple[str, ...] = ()
    source: str = ""
    licence: str = "unknown: ask the source"
    sparse: bool = False
    sha256: str | None = None
    files: tuple[str, ...] = ()
    recipe: Recipe | None = None
    download: Download | None = None
    note: str = ""


@dataclass(frozen=True, eq=False)
class Dataset:
    """A table with, perhaps, the classes of its samples: a set of the registry, or your own.

    Attributes
    ----------
    name : str
        Its name in the registry, the file's, or one that you give.
    X : {array-like, sparse, pandas or polars frame} of shape (n_samples, n_features)
        Numbers, all finite; kept as an array, or as a sparse one. Registered sets have float64.
    y : array-like of shape (n_samples,) or None
        Classes, none of them missing; those of registered sets are coded 0, 1, … in the sorted
        order of the source's labels. They serve evaluation only: no method sees them. Without
        them selections are judged by their agreement with a clustering of all features.
    entry : Entry or None
        What the registry says of the set, if it is there.
    feature_names : tuple of str or None
        Names of the columns, where the source has any.
    n_clusters : int or None
        Clusters to look for. None looks for as many as there are classes, or for 5.

    Examples
    --------
    >>> from tamis.datasets import Dataset
    >>> Dataset("mine", [[1, 2], [3, 4], [5, 7]], ["a", "b", "b"]).n_classes
    2
    """

    name: str
    X: Matrix
    y: NDArray[Any] | None = None
    entry: Entry | None = None
    feature_names: tuple[str, ...] | None = None
    n_clusters: int | None = None

    def __post_init__(self) -> None:
        try:
            X, names = checked_table(self.X, self.feature_names)
            y = None if self.y is None else checked_labels(self.y, X.shape[0])
        except ValueError as error:
            raise DatasetError(f"the table {self.name!r}: {error}") from None
        for name, value in (("X", X), ("feature_names", names), ("y", y)):
            object.__setattr__(self, name, value)

    @property
    def n_classes(self) -> int:
        """Number of classes among the samples, or of clusters to look for."""
        if self.n_clusters is not None:
            return self.n_clusters
        return N_CLUSTERS if self.y is None else len(np.unique(self.y))

    @property
    def image_shape(self) -> tuple[int, int] | None:
        """Height and width when the columns are pixels, else None."""
        shape = None if self.entry is None else self.entry.image_shape
        return shape if shape and shape[0] * shape[1] == self.X.shape[1] else None

    def image(self, values: FloatArray) -> FloatArray:
        """One value per feature, laid out as an upright picture.

        ``values`` may be a sample or the scores of a selector.

        >>> from tamis import datasets
        >>> digits = datasets.load("digits")
        >>> digits.image(digits.X[0]).shape
        (8, 8)
        """
        shape = self.image_shape
        if shape is None or self.entry is None:
            raise DatasetError(f"The columns of {self.name!r} are not the pixels of a picture.")
        return np.asarray(values).reshape(shape, order=self.entry.image_order)
