"""How much genes vary beyond what their mean lets expect: four statistics of the field."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.interpolate import CubicSpline

from tamis._typing import BoolArray, FloatArray, IntArray, Matrix, SparseMatrix
from tamis.genes._groups import Batches, sums_of_squares
from tamis.genes._matrix import blocks_of, column_sums, mean_and_scatter, row_sums
from tamis.solvers.loess import loess
from tamis.utils.blocks import row_blocks
from tamis.utils.columns import weighted_moments
from tamis.utils.sparse import is_sparse

# Means and unbiased variances of the columns.
Moments = tuple[FloatArray, FloatArray]
# The median absolute deviation of a normal variable, in standard deviations.
NORMAL_MAD = 0.6744897501960817
# In place of a mean of zero.
TINY_MEAN = 1e-12
# Fewer points make no curve: dispersion over the mean stands in.
FEWEST_OF_A_CURVE = 10
# Where sums over the cells are made as a function of the gene's total.
N_NODES = 256


class Dispersion(NamedTuple):
    """Mean, variance or dispersion, and the statistic by which genes are ranked.

    Attributes
    ----------
    means, spread, normalised : ndarray of shape (n_genes,)
        Genes for which the statistic is not defined have NaN.
    """

    means: FloatArray
    spread: FloatArray
    normalised: FloatArray


def normalised_dispersion(
    logged: Matrix, flavor: Literal["seurat", "cell_ranger"] = "seurat", n_bins: int = 20
) -> Dispersion:
    """Dispersion (variance over mean) of a gene, relative to the genes of a like mean.

    Parameters
    ----------
    logged : {ndarray, CSR} of shape (n_cells, n_genes)
        Logarithms of counts at equal depth.
    flavor : {"seurat", "cell_ranger"}
        "seurat" undoes the logarithm, has `n_bins` bins of equal width of the logged mean, and
        takes mean and deviation of the logged dispersions in each; "cell_ranger" takes the values
        as they are, 20 bins by percentiles, and median and median absolute deviation.
    """
    if flavor == "seurat":
        if is_sparse(logged):
            parts = (np.expm1(logged.data), logged.indices, logged.indptr)
            logged = sp.csr_array(parts, shape=logged.shape)
        else:
            logged = np.expm1(logged)
    means, variances = mean_and_variance(logged)
    means[means == 0] = TINY_MEAN
    spread = variances / means
    if flavor == "cell_ranger":
        edges = np.unique(np.percentile(means, np.arange(10, 105, 5)))
        bins = np.searchsorted(edges, means, side="left")
        return Dispersion(means, spread, _per_bin(spread, bins, _median_and_mad))
    with np.errstate(divide="ignore"):
        spread = np.where(spread == 0, np.nan, np.log(spread))
    means = np.log1p(means)
    edges = np.linspace(means.min(), means.max(), n_bins + 1)
    bins = np.searchsorted(edges[1:-1], means, side="left")
    return Dispersion(means, spread, _per_bin(spread, bins, _mean_and_deviation))


def _per_bin(
    values: FloatArray,
    bins: IntArray,
    centre_and_scale: Callable[[FloatArray], tuple[float, float]],
) -> FloatArray:
    """The values of each bin, less their centre and over their scale; NaN stays NaN."""
    found = np.full(len(values), np.nan)
    for one in np.unique(bins):
        members = np.flatnonzero((bins == one) & ~np.isnan(values))
        if len(members):
            centre, scale = centre_and_scale(values[members])
            with np.errstate(divide="ignore", invalid="ignore"):
                found[members] = (values[members] - centre) / scale
    return found


def _mean_and_deviation(values: FloatArray) -> tuple[float, float]:
    """A gene that is alone in its bin has a normalised dispersion of 1."""
    if len(values) == 1:
        return 0.0, float(values[0])
    return float(values.mean()), float(values.std(ddof=1))


def _median_and_mad(values: FloatArray) -> tuple[float, float]:
    centre = float(np.median(values))
    return centre, float(np.median(np.abs(values - centre))) / NORMAL_MAD


def standardised_variance(
    counts: Matrix, span: float = 0.3, moments: Moments | None = None
) -> FloatArray:
    """Variance of a gene's counts, over the variance that a smooth curve lets expect at its mean.

    Counts are clipped at ``√n`` expected deviations above their mean.

    Parameters
    ----------
    counts : {ndarray, CSR} of shape (n_cells, n_genes)
    span : float, default=0.3
        Of the curve; see :func:`tamis.solvers.loess.loess`.
    moments : tuple of two ndarray of shape (n_genes,) or None, default=None
        See :func:`mean_and_variance`, where they are known already.
    """
    n_cells = counts.shape[0]
    means, variances = mean_and_variance(counts) if moments is None else moments
    deviation = _expected_deviation(means, variances, span)
    highest = deviation * np.sqrt(n_cells) + means
    if is_sparse(counts):
        # Few counts are clipped: what they lose is taken from the scatter about the mean.
        scatter = (n_cells - 1) * variances
        one = np.zeros(n_cells, dtype=np.intp)
        lost = _lost_by_clipping(counts, highest, means[None], one)
    else:
        scatter = ((np.minimum(counts, highest) - means) ** 2).sum(axis=0)
        lost = np.zeros(len(means))
    normalised: FloatArray = (scatter - lost) / ((n_cells - 1) * deviation**2)
    return normalised


def _lost_by_clipping(
    counts: SparseMatrix, highest: FloatArray, means: FloatArray, codes: IntArray
) -> FloatArray:
    """How much smaller squared deviations from the means of batches are of counts cut at `highest`.

    O(nnz), in a pass that does no more than compare; few counts are cut.
    """
    lost = np.zeros(counts.shape[1])
    dtype = np.result_type(counts.dtype, np.float32)
    # Rounded down, so that no count is missed.
    bound = np.nextafter(highest.astype(dtype), dtype.type(-np.inf))
    for stored in row_blocks(counts.nnz, 1):
        over = stored.start + np.flatnonzero(counts.data[stored] > bound[counts.indices[stored]])
        genes = counts.indices[over]
        cells = np.searchsorted(counts.indptr, over, side="right") - 1
        centre = means[codes[cells], genes]
        before = counts.data[over] - centre
        after = np.minimum(counts.data[over], highest[genes]) - centre
        lost += np.bincount(genes, before**2 - after**2, minlength=len(lost))
    return lost


def standardised_variance_within(
    counts: SparseMatrix, batches: Batches, seen: BoolArray, moments: Moments | None = None
) -> FloatArray:
    """The same about the means of the batches, with one curve for all; O(nnz).

    Parameters
    ----------
    counts : csr_array of shape (n_cells, n_genes)
    batches : Batches
    seen : ndarray of bool of shape (n_genes,)
        The genes that the curve is made of.
    moments : tuple of two ndarray of shape (n_genes,) or None, default=None
        Of one batch, where they are known already.
    """
    if batches.is_one:
        return standardised_variance(counts, moments=moments)
    n_cells = counts.shape[0]
    freedom = max(1, n_cells - len(batches.sizes))
    means = batches.means(counts)
    total = batches.sizes @ means / n_cells
    squares = column_sums(counts, lambda values, _: values**2)
    scatter = (squares - sums_of_squares(batches.sizes[None], means)[0]).clip(min=0)
    deviation = _expected_deviation(total, np.where(seen, scatter / freedom, 0), 0.3)
    highest = deviation * np.sqrt(n_cells) + total
    lost = _lost_by_clipping(counts, highest, means, batches.codes)
    return (scatter - lost).clip(min=0) / (freedom * deviation**2)


def _expected_deviation(means: FloatArray, variances: FloatArray, span: float) -> FloatArray:
    """By a smooth curve through the logged variances and means; 1 for genes that do not vary."""
    varying = variances > 0
    expected = np.zeros(len(means))
    if varying.any():
        x, y = np.log10(means[varying]), np.log10(variances[varying])
        expected[varying] = loess(x, y, span)
    deviation: FloatArray = np.sqrt(10**expected)
    return deviation


def log_variance(logged: Matrix, span: float = 0.3, moments: Moments | None = None) -> FloatArray:
    """Variance of logged values, over what a smooth curve lets expect at their mean.

    Parameters
    ----------
    logged : {ndarray, CSR} of shape (n_cells, n_genes)
    span : float, default=0.3
        Of the curve; see :func:`tamis.solvers.loess.loess`.
    moments : tuple of two ndarray of shape (n_genes,) or None, default=None
        See :func:`mean_and_variance`, where they are known already.
    """
    means, variances = mean_and_variance(logged) if moments is None else moments
    varying = variances > 0
    normalised = np.zeros(len(means))
    if np.count_nonzero(varying) * span >= FEWEST_OF_A_CURVE:
        x, y = np.log10(means[varying]), np.log10(variances[varying])
        normalised[varying] = 10 ** (y - loess(x, y, span))
    else:
        normalised[varying] = variances[varying] / means[varying]
    return normalised


def residual_variance(
    counts: Matrix,
    theta: float = 100.0,
    clip: float | None = None,
    depth: FloatArray | None = None,
    means: FloatArray | None = None,
) -> FloatArray:
    """Variance of a gene's Pearson residuals, given the depth of the cells.

    Parameters
    ----------
    counts : {ndarray, CSR} of shape (n_cells, n_genes)
    theta : float, default=100
        Counts of mean μ have the variance ``μ + μ²/theta``.
    clip : float or None, default=None
        Residuals are clipped to ± this; None is ``√n``.
    depth : ndarray of shape (n_cells,) or None, default=None
        The totals of the cells, where `counts` has not all genes.
    means : ndarray of shape (n_genes,) or None, default=None
        Of the genes, where they are known already.

    Notes
    -----
    O(nnz), and O(n) for each of 256 values of the gene's total: at a count of zero the residual
    depends on that and on the depth alone, and its sums over all cells are a smooth function of
    the total, which is interpolated to a relative 1e-7.
    """
    n_cells, n_genes = counts.shape
    clip = float(np.sqrt(n_cells)) if clip is None else clip
    table = sp.csr_array(counts)
    total = column_sums(table) if means is None else means * n_cells
    if depth is None:
        depth = row_sums(table)
    share = depth / (depth.sum() or 1.0)
    found = np.zeros(n_genes)
    seen = np.flatnonzero(total)
    if len(seen) == 0:
        return found
    first, second = np.zeros(n_genes), np.zeros(n_genes)
    first[seen], second[seen] = _sums_at_zero(share, total[seen], theta, clip)
    lengths = np.diff(table.indptr)
    for rows, stored in blocks_of(table):
        genes = table.indices[stored].astype(np.intp)
        values = table.data[stored].astype(np.float64)
        expected = np.repeat(share[rows], lengths[rows]) * total[genes]
        scale = np.sqrt(expected * (1 + expected / theta))
        scale[scale == 0] = 1.0
        # The residual less that at a count of zero, and the same of their squares.
        more = values / scale
        more_squared = more * (values - 2 * expected) / scale
        far = np.flatnonzero(np.maximum(values - expected, expected) > clip * scale)
        if len(far):
            at_zero = np.maximum(-expected[far] / scale[far], -clip)
            residual = np.clip((values[far] - expected[far]) / scale[far], -clip, clip)
            more[far] = residual - at_zero
            more_squared[far] = residual**2 - at_zero**2
        first += np.bincount(genes, more, minlength=n_genes)
        second += np.bincount(genes, more_squared, minlength=n_genes)
    found[seen] = (second / n_cells - (first / n_cells) ** 2)[seen].clip(min=0)
    return found


def _sums_at_zero(
    share: FloatArray, total: FloatArray, theta: float, clip: float
) -> tuple[FloatArray, FloatArray]:
    """Sums over all cells of the residual at a count of zero, and of its square, for each total."""

    def sums(totals: FloatArray) -> FloatArray:
        both = np.empty((len(totals), 2))
        for some in row_blocks(len(totals), len(share)):
            expected = np.outer(totals[some], share)
            square = np.minimum(expected / (1 + expected / theta), clip**2)
            both[some, 0], both[some, 1] = -np.sqrt(square).sum(axis=1), square.sum(axis=1)
        return both

    totals = np.unique(total)
    largest = share.max() * totals[-1]
    if len(totals) <= N_NODES or largest / (1 + largest / theta) >= clip**2:  # not smooth if cut
        first, second = sums(totals)[np.searchsorted(totals, total)].T
        return first, second
    nodes = np.linspace(np.log(totals[0]), np.log(totals[-1]), N_NODES)
    at_nodes = sums(np.exp(nodes)) / np.exp(nodes)[:, None] ** (0.5, 1.0)
    first, second = CubicSpline(nodes, at_nodes)(np.log(total)).T
    return first * np.sqrt(total), second * total


def mean_and_variance(X: Matrix) -> Moments:
    """Mean and unbiased variance of each column, in float64.

    The mean is the sum over the number, so that columns of equal counts have one mean to the last
    bit: a curve through the genes then has them at one place.
    """
    if is_sparse(X):
        mean, scatter = mean_and_scatter(X)
    else:
        mean = np.asarray(X.T @ np.ones(X.shape[0])) / X.shape[0]
        _, scatter = weighted_moments(X, np.ones(X.shape[0]))
    return mean, scatter / max(1, X.shape[0] - 1)
