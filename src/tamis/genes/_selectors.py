"""The highly variable genes of single-cell work as selectors, each of the table it is given."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from tamis._typing import FloatArray, Matrix
from tamis.base import Keeps, Selector
from tamis.genes._dispersion import (
    normalised_dispersion,
    residual_variance,
    standardised_variance,
)
from tamis.genes._flavours import finite
from tamis.utils.columns import extent
from tamis.utils.sparse import is_sparse


class _OfCells(Selector):
    """What the three share: a table without negative values, of which each gene is scored alone."""

    _keeps: ClassVar[Keeps] = "independent"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags

    def _refuse_negative(self, X: Matrix, what: str) -> None:
        lowest, _ = extent(X)
        if (lowest < 0).any():
            raise ValueError(
                f"Negative values in data passed to {type(self).__name__}: "
                f"{self._describe_columns(np.flatnonzero(lowest < 0))}; it needs {what}."
            )


def _whole(X: Matrix) -> bool:
    """Whether all values are whole numbers."""
    values = X.data if is_sparse(X) else X
    return bool((values == np.rint(values)).all())


class NormalizedDispersion(_OfCells):
    r"""Rank genes by their dispersion, relative to the genes of a like mean.

    The highly variable genes of Seurat and of Cell Ranger, as scanpy has them: variance over mean,
    less the centre and over the spread of that of the genes in one bin of the mean.

    Cost: O(nd) time, O(nnz) for sparse input.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number or fraction of features to keep; None keeps half.
    flavor : {"seurat", "cell_ranger"}, default="seurat"
        "seurat" undoes the logarithm, logs the dispersions, and has bins of equal width; mean and
        standard deviation of each. "cell_ranger" takes the values as they are, and bins by
        percentiles; median and median absolute deviation.
    n_bins : int, default=20
        Bins of "seurat".
    keep : list of str or int, or None, default=None
        Columns that are always selected, by name, pattern ("MT-*") or index. They come first; the
        others are ranked as without them, since each column is scored by itself.
    drop : list of str or int, or None, default=None
        Columns that are not looked at and never selected.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Normalised dispersions. Genes without one have the lowest.
    ranking_ : ndarray of shape (n_features,)
        1 is the best feature.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Notes
    -----
    The table holds logarithms, ``log(1 + x)``, of counts at equal depth; a table of whole numbers
    only is refused, as its exponentials say nothing. Constant genes are set aside before the bins
    are made: leave them out of scanpy's table too for the same numbers.

    References
    ----------
    R. Satija et al. Spatial reconstruction of single-cell gene expression data. Nature
    Biotechnology 33, 2015. G. Zheng et al. Massively parallel digital transcriptional profiling of
    single cells. Nature Communications 8, 2017.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.genes import NormalizedDispersion
    >>> rng = np.random.default_rng(0)
    >>> counts = rng.poisson(1.0, (200, 100))
    >>> counts[:100, 3] *= 4  # one gene is high in half of the cells
    >>> logged = np.log1p(counts / counts.sum(axis=1, keepdims=True) * 100)
    >>> NormalizedDispersion(1, flavor="cell_ranger").fit(logged).get_support(indices=True)
    array([3])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **Selector._parameter_constraints,
        "flavor": [StrOptions({"seurat", "cell_ranger"})],
        "n_bins": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        flavor: Literal["seurat", "cell_ranger"] = "seurat",
        n_bins: int = 20,
        keep: Sequence[str | int] | None = None,
        drop: Sequence[str | int] | None = None,
    ) -> None:
        super().__init__(n_features_to_select, keep=keep, drop=drop)
        self.flavor = flavor
        self.n_bins = n_bins

    def _fit(self, X: Matrix) -> FloatArray:
        self._refuse_negative(X, "logarithms of counts")
        if self.flavor == "seurat" and _whole(X):
            raise ValueError(
                "NormalizedDispersion(flavor='seurat') needs logarithms of counts at equal depth, "
                "but the table holds whole numbers only; log it first, or use "
                "StandardizedVariance, which takes counts."
            )
        return finite(normalised_dispersion(X, self.flavor, self.n_bins).normalised)


class StandardizedVariance(_OfCells):
    r"""Rank genes by the variance of their counts, over what is expected at their mean.

    The highly variable genes of Seurat 3: a smooth curve through logged variances and means gives
    the expected deviation, and counts are clipped at ``√n`` such deviations above the mean.

    Cost: O(nd) time, O(nnz) for sparse input, and O(d log d) for the curve.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number or fraction of features to keep; None keeps half.
    span : float, default=0.3
        The share of the genes by which the curve is fitted at a place.
    keep : list of str or int, or None, default=None
        Columns that are always selected, by name, pattern ("MT-*") or index. They come first; the
        others are ranked as without them, since each column is scored by itself.
    drop : list of str or int, or None, default=None
        Columns that are not looked at and never selected.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Variances of the standardised, clipped counts.
    ranking_ : ndarray of shape (n_features,)
        1 is the best feature.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Notes
    -----
    The table holds raw counts; one that is not of whole numbers is refused. The numbers are those
    of scanpy's ``flavor="seurat_v3"``, to rounding.

    References
    ----------
    T. Stuart et al. Comprehensive integration of single-cell data. Cell 177, 2019.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.genes import StandardizedVariance
    >>> rng = np.random.default_rng(0)
    >>> counts = rng.poisson(rng.uniform(0.5, 3, 100), (200, 100))
    >>> counts[:100, 3] *= 4  # one gene is high in half of the cells
    >>> StandardizedVariance(1).fit(counts).get_support(indices=True)
    array([3])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **Selector._parameter_constraints,
        "span": [Interval(Real, 0, 1, closed="right")],
    }

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        span: float = 0.3,
        keep: Sequence[str | int] | None = None,
        drop: Sequence[str | int] | None = None,
    ) -> None:
        super().__init__(n_features_to_select, keep=keep, drop=drop)
        self.span = span

    def _fit(self, X: Matrix) -> FloatArray:
        _check_counts(self, X)
        return standardised_variance(X, self.span)


class PearsonResiduals(_OfCells):
    r"""Rank genes by the variance of their Pearson residuals, given the depth of the cells.

    A count of cell i and gene j is expected to be :math:`\mu_{ij}`, the share of the cell in all
    counts times that of the gene; the residual is
    :math:`(x_{ij} - \mu_{ij}) / \sqrt{\mu_{ij} + \mu_{ij}^2 / \theta}`, clipped to ± ``√n``.

    Cost: O(nnz) time and memory.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number or fraction of features to keep; None keeps half.
    theta : float, default=100
        The larger, the closer to Poisson.
    clip : float or None, default=None
        Residuals are clipped to ± this; None is ``√n``.
    keep : list of str or int, or None, default=None
        Columns that are always selected, by name, pattern ("MT-*") or index. They come first; the
        others are ranked as without them, since each column is scored by itself.
    drop : list of str or int, or None, default=None
        Columns that are not looked at and never selected.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Variances of the residuals.
    ranking_ : ndarray of shape (n_features,)
        1 is the best feature.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Notes
    -----
    The table holds raw counts; one that is not of whole numbers is refused. The depth of a cell is
    its sum over the columns that vary. The numbers are those of scanpy's
    ``flavor="pearson_residuals"``, to rounding.

    References
    ----------
    J. Lause, P. Berens, D. Kobak. Analytic Pearson residuals for normalization of single-cell
    RNA-seq UMI data. Genome Biology 22, 2021.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.genes import PearsonResiduals
    >>> rng = np.random.default_rng(0)
    >>> counts = rng.poisson(rng.uniform(0.5, 3, 100), (200, 100))
    >>> counts[:100, 3] *= 4  # one gene is high in half of the cells
    >>> PearsonResiduals(1).fit(counts).get_support(indices=True)
    array([3])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **Selector._parameter_constraints,
        "theta": [Interval(Real, 0, None, closed="neither")],
        "clip": [None, Interval(Real, 0, None, closed="neither")],
    }

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        theta: float = 100.0,
        clip: float | None = None,
        keep: Sequence[str | int] | None = None,
        drop: Sequence[str | int] | None = None,
    ) -> None:
        super().__init__(n_features_to_select, keep=keep, drop=drop)
        self.theta = theta
        self.clip = clip

    def _fit(self, X: Matrix) -> FloatArray:
        _check_counts(self, X)
        return residual_variance(X, self.theta, self.clip)


def _check_counts(selector: _OfCells, X: Matrix) -> None:
    selector._refuse_negative(X, "raw counts")
    if not _whole(X):
        raise ValueError(
            f"{type(selector).__name__} needs raw counts, but the table holds values that are not "
            "whole numbers; for logarithms use NormalizedDispersion."
        )
