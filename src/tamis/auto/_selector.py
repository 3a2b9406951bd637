"""Auto: decides by itself how to scale, how many groups, which columns and how many."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from tamis._typing import FloatArray, IntArray, Matrix
from tamis.auto._count import CountCurve, count_curve
from tamis.auto._reasons import Columns, Reasons, describe, reasons_for, refit_shares
from tamis.auto._scales import Scale, scale_factors, scaled_table, scales_to_try
from tamis.auto._search import Found, full_ranking, search
from tamis.auto._structure import Structure, structure_of
from tamis.auto._whole import groups_of_all
from tamis.base import Keeps, Selector
from tamis.distributed import SAMPLED_ROWS, Needs, drawn_rows
from tamis.utils.frames import frame_of_rows
from tamis.utils.ties import content_ranks
from tamis.utils.validation import Table

# The number of columns is sought among so many of the best.
MOST_TRIED = 400


class Auto(Selector):
    r"""Select columns with nothing to tune: scale, groups, columns and their number are found.

    From the table alone:

    1. *Is there structure?* The correlations of the columns are compared with those of copies in
       which each column is shuffled by itself. If chance explains them, a warning says so.
    2. *Scale.* Columns of different units are standardised. Where all columns have one unit
       (pixels, counts, spectra), dividing by the root of the deviation is tried too, since
       standardising makes the noise of columns that hardly vary as loud as the rest.
    3. *Groups.* On each scale, three graphs of neighbouring samples (all columns, the leading
       principal components, the angles in these) are averaged; one in which a single sample is
       everybody's neighbour is left out. The graph is parted into communities 15 times, at three
       resolutions and in five orders; what these partitions agree on are the groups.
    4. *Columns.* On each scale, few columns that together rebuild the groups of all partitions are
       found by an l2,1 regression, as in :class:`tamis.MRSF`. Of these rankings the one is taken on
       whose best columns K-means comes closest to partitions that all columns show; with more
       columns than samples, standardised columns have to come clearly closer.
    5. *Their number.* About a tenth of the columns (from 3 to 100): the farther a number is from
       that, the more of the groups it has to show, counted above what shuffled columns show.

    No label is used, and nothing depends on chance but the shuffled copies, the refits and the
    starts of K-means in point 5, which `random_state` fixes.

    Of more than 20,000 samples so many decide, drawn at random, and a warning says so; the groups
    of the others are those whose means are nearest.

    Cost: a small multiple of :class:`tamis.MRSF`: three neighbour searches per scale, at most two
    scales, 15 partitions and a regression on each (twice as many partitions with `n_clusters`),
    and six regressions on half of the samples; memory as MRSF. Sparse input is never densified.

    Parameters
    ----------
    n_features_to_select : "auto", int, float or None, default="auto"
        "auto" finds the number; otherwise a number, a fraction in (0, 1], or None for half. The
        ranking does not depend on it, so that it can be changed after `fit`.
    n_clusters : int or None, default=None
        The number of groups, where it is known.
    scaling : {"auto", "standard", "pareto", "none"}, default="auto"
        How the columns are scaled inside: divided by their deviation, by the root of it, or all by
        one number.
    keep : list of str or int, or None, default=None
        Columns that are always selected, by name, pattern ("id_*") or index. The others are
        chosen to rebuild what the kept ones leave of the groups.
    drop : list of str or int, or None, default=None
        Columns that are not looked at and never selected.
    random_state : int, RandomState instance or None, default=0
        For the shuffled copies, the starts of K-means by which the number is found, and the halves
        of the refits; None for others on every call.
    n_jobs : int or None, default=None
        Threads of the neighbour search where it uses a tree.
    verbose : bool, default=False
        Whether to show a progress bar of the neighbour search, on a terminal.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Norms of the coefficients and, below them, the order in which the other columns would
        follow; as those of :class:`tamis.MRSF`.
    ranking_ : ndarray of shape (n_features,)
        1 is the best feature.
    n_features_ : int
        The number that was found.
    n_clusters_ : int
        The number of groups.
    labels_ : ndarray of shape (n_samples,)
        The groups, the largest first.
    scaling_ : {"standard", "pareto", "none"}
        The scale that was chosen.
    scaling_reason_ : str
        Why these scales were tried.
    candidates_ : list of dict
        The rankings that were tried, one per scale: "scaling", "target" ("groups", or "eigenvector"
        where there is one group only), their "agreement" with partitions of all columns and the
        "modularity" of the K-means clusters, and the "weight" (1 for the chosen one).
    structure_ : dict
        "statistic", "p_value" and "found" of the comparison with shuffled copies.
    curve_ : dict
        What the number of columns was chosen by: "counts", "agreement", "chance".
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Notes
    -----
    The rule of point 4 was chosen on half of 30 real tables and tried on the other half: see
    :doc:`/auto`.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from tamis import Auto
    >>> X = load_breast_cancer(as_frame=True).data
    >>> auto = Auto().fit(X)
    >>> auto.n_features_, auto.scaling_, auto.structure_["found"]
    (5, 'standard', True)
    >>> auto.reasons().set_index("column")["reason"]["mean area"]
    'rebuilt from the kept columns (R² 0.98), mostly mean radius (r = 0.99)'
    """

    _keeps: ClassVar[Keeps] = "given"
    _needs: ClassVar[Needs | None] = "rows"
    _learned: ClassVar[dict[str, Any]] = {
        "labels_": ("n_samples",),
        "n_clusters_": 1,
        "scaling_": "standard",
        "scaling_reason_": "no column varies",
        "candidates_": [],
        "structure_": {"statistic": 0.0, "p_value": 1.0, "found": False},
        "curve_": {},
        "n_features_": 0,
    }
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **Selector._parameter_constraints,
        "n_features_to_select": [
            StrOptions({"auto"}),
            *Selector._parameter_constraints["n_features_to_select"],
        ],
        "n_clusters": [None, Interval(Integral, 1, None, closed="left")],
        "scaling": [StrOptions({"auto", "standard", "pareto", "none"})],
        "random_state": ["random_state"],
        "n_jobs": [None, Integral],
        "verbose": ["verbose"],
    }

    n_features_: int
    labels_: IntArray
    _reasons: Reasons | None

    def __init__(
        self,
        n_features_to_select: int | float | str | None = "auto",
        *,
        n_clusters: int | None = None,
        scaling: str = "auto",
        keep: Sequence[str | int] | None = None,
        drop: Sequence[str | int] | None = None,
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        super().__init__(n_features_to_select, keep=keep, drop=drop)  # type: ignore[arg-type]
        self.n_clusters = n_clusters
        self.scaling = scaling
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _rows_to_decide_on(self, table: Table) -> IntArray | None:
        """Of a long table some rows, drawn in an order that their values decide."""
        n_samples = table.X.shape[0]
        if n_samples <= SAMPLED_ROWS:
            return None
        outwards = np.argsort(content_ranks(table.X))
        return np.sort(outwards[drawn_rows(n_samples, SAMPLED_ROWS)])

    def _extend_to_rows(self, X: Matrix, drawn: IntArray) -> None:
        factors = scale_factors(X, self.scaling_)
        self.labels_ = groups_of_all(X, factors, drawn, self.labels_)

    def _fit(self, X: Matrix) -> FloatArray:
        random = check_random_state(self.random_state)
        order = np.argsort(content_ranks(X))
        structure = structure_of(X, order, random)
        scales, self.scaling_reason_ = self._scales(X)
        found = search(
            X,
            scales,
            self.n_clusters,
            self._kept,
            order,
            n_jobs=self.n_jobs,
            verbose=bool(self.verbose),
        )
        scores = full_ranking(X, found, self._kept)
        best_first = np.argsort(-scores, kind="stable")
        curve = count_curve(
            X, best_first[:MOST_TRIED], found.shape, found.n_compared, order, random
        )

        self.structure_ = asdict(structure) | {"found": structure.found}
        self.scaling_, self.labels_ = found.rankings[found.chosen].scale, found.shape.labels
        self.n_clusters_ = found.shape.n_groups
        self.candidates_ = _as_rows(found)
        self.curve_ = {
            "counts": curve.counts,
            "agreement": curve.agreement,
            "chance": curve.chance,
        }
        # Columns to keep that do not vary are not in X.
        n_constant = int(np.count_nonzero(self._listed("keep") & self._set_aside))
        self.n_features_ = X.shape[1] + n_constant
        if structure.found and curve.chosen is not None:
            n_varying = max(curve.chosen, int(np.count_nonzero(self._kept)))
            self.n_features_ = n_varying + n_constant
        self._warn_of_doubts(structure, curve, X.shape[1])
        self._n_explained = self._n_selected()
        n_varying = min(self._n_explained - n_constant, X.shape[1])
        self._reasons = self._reasons_for(X, found, best_first[:n_varying], order, random)
        return scores

    def _fit_constants(self, n_samples: int) -> None:
        super()._fit_constants(n_samples)
        self.n_features_ = int(np.count_nonzero(self._listed("keep")))
        self._reasons, self._n_explained = None, self._n_selected()
        kept = "none is kept but those to keep" if self.n_features_ else "none is kept"
        self._warn(
            "finds no structure: no column varies, so that "
            + (f"{kept}." if self._finds_number() else "the first columns are kept.")
        )

    def _scales(self, X: Matrix) -> tuple[tuple[Scale, ...], str]:
        """The scales to try, and why."""
        if self.scaling == "auto":
            return scales_to_try(X)
        return (self.scaling,), "it was asked for"  # type: ignore[return-value]

    def _reasons_for(
        self,
        X: Matrix,
        found: Found,
        selected: IntArray,
        order: IntArray,
        random: np.random.RandomState,
    ) -> Reasons:
        chosen = found.rankings[found.chosen]
        Z = scaled_table(X, chosen.scale)
        shares = refit_shares(Z, chosen, len(selected), self._kept, order, random)
        return reasons_for(Z, selected, found.shape.labels, shares)

    def _warn_of_doubts(self, structure: Structure, curve: CountCurve, n_varying: int) -> None:
        """Say what there is no ground for: structure, a number, or columns that do not vary."""
        if not structure.found:
            what = (
                "only one column varies"
                if n_varying == 1
                else "the columns know no more of each other than if each were shuffled by itself "
                f"(p = {structure.p_value:.2g})"
            )
            so = "all columns that vary are kept"
            if not self._finds_number():
                so = "the order is little more than chance"
            self._warn(f"finds no structure: {what}, so that {so}.")
        elif curve.chosen is None and self._finds_number():
            self._warn(
                f"finds no number of columns: with n_clusters={self.n_clusters_}, none shows more "
                "of the groups than chance does, so that all columns that vary are kept."
            )
        n_idle = self._n_selected() - n_varying
        if n_idle > np.count_nonzero(self._listed("keep") & self._set_aside):
            self._warn(
                f"keeps {n_idle} columns that do not vary: n_features_to_select="
                f"{self.n_features_to_select}, but only {n_varying} columns vary."
            )

    def _finds_number(self) -> bool:
        return isinstance(self.n_features_to_select, str)

    def _n_wanted(self) -> int:
        if not self._finds_number():
            return super()._n_wanted()
        n_kept = int(np.count_nonzero(self._listed("keep")))
        n_left = int(np.count_nonzero(~self._listed("drop")))
        # Before the fit, and between two of them, any number that the lists allow will do.
        return min(n_left, max(n_kept, getattr(self, "n_features_", n_left)))

    def reasons(self) -> Any:
        """Why each column is kept or not: a data frame with one row per column.

        The columns are "column", "kept", "rank" (of the kept ones), "kind" ("kept", or why not:
        "constant", "dropped", "copy", "rebuilt", "no structure", "adds little"), "reason" in words,
        "kept_by_refits" (the share of six refits on halves of the samples that keep it; None with
        fewer than four samples), "explained" (R² on the kept columns), "nearest" (the kept column
        it correlates with most) with its "correlation", "group" (the one that it tells apart
        best), "group_share" (of its variance, between the groups) and "stands_for" (how many
        columns that are not kept correlate with it most). Columns that do not vary, or were
        dropped, have no numbers.

        Returns
        -------
        DataFrame
            Of pandas where it is installed, else of polars or pyarrow.
        """
        return frame_of_rows(self._reason_rows(self._names()))

    def _reason_rows(self, names: Sequence[str]) -> list[dict[str, Any]]:
        """The rows of :meth:`reasons`, the columns under the given names."""
        check_is_fitted(self, "ranking_")
        if self._n_selected() != self._n_explained:
            raise ValueError(
                f"Auto was fitted for {self._n_explained} features, and its reasons are of those; "
                f"n_features_to_select now asks for {self._n_selected()}: call fit again."
            )
        table = Columns(
            names,
            self.ranking_,
            self.get_support(),
            ~self._set_aside,
            self._listed("keep"),
            self._listed("drop"),
        )
        return describe(self._reasons, table)

    def _names(self) -> list[str]:
        names = getattr(self, "feature_names_in_", None)
        return [f"x{j}" for j in range(self.n_features_in_)] if names is None else list(names)


def _as_rows(found: Found) -> list[dict[str, Any]]:
    return [
        {
            "scaling": ranking.scale,
            "target": ranking.target,
            "agreement": evidence.agreement,
            "modularity": evidence.modularity,
            "weight": float(i == found.chosen),
        }
        for i, (ranking, evidence) in enumerate(zip(found.rankings, found.evidence, strict=True))
    ]
