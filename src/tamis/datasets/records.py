"""What is known of a data set, a loaded set, and the errors of the package."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tamis._typing import FloatArray, IntArray, Matrix

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


@dataclass(frozen=True)
class Dataset:
    """A loaded set.

    Attributes
    ----------
    name : str
        Its name in the registry, or the file's for a set of your own.
    X : ndarray or csr_array of shape (n_samples, n_features)
        Values as float64.
    y : ndarray of shape (n_samples,)
        Classes coded 0, 1, … in the sorted order of the source's labels. For judging only.
    entry : Entry
        What the registry says of the set.
    feature_names : tuple of str or None
        Names of the columns, where the source has any.
    """

    name: str
    X: Matrix
    y: IntArray
    entry: Entry
    feature_names: tuple[str, ...] | None = None

    @property
    def n_classes(self) -> int:
        """Number of classes among the samples."""
        return int(np.unique(self.y).size)

    @property
    def image_shape(self) -> tuple[int, int] | None:
        """Height and width when the columns are pixels, else None."""
        shape = self.entry.image_shape
        return shape if shape and shape[0] * shape[1] == self.X.shape[1] else None

    def image(self, values: FloatArray) -> FloatArray:
        """One value a feature, laid out as an upright picture.

        ``values`` may be a sample or the scores of a selector.

        >>> from tamis import datasets
        >>> digits = datasets.load("digits")
        >>> digits.image(digits.X[0]).shape
        (8, 8)
        """
        shape = self.image_shape
        if shape is None:
            raise DatasetError(f"The columns of {self.name!r} are not the pixels of a picture.")
        return np.asarray(values).reshape(shape, order=self.entry.image_order)
