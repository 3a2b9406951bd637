"""What methods there are: their names, families, papers, costs, and what to tune.

Everything that treats methods alike (tests, evaluation, the command line) reads this table. A new
method is one file in ``tamis.selectors`` and one entry here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from inspect import signature
from types import MappingProxyType
from typing import Any, Literal

from tamis.auto import Auto
from tamis.base import Selector
from tamis.selectors.column_subset import ColumnSubset
from tamis.selectors.cufs import CUFS
from tamis.selectors.dgufs import DGUFS
from tamis.selectors.egcfs import EGCFS
from tamis.selectors.eufs import EUFS
from tamis.selectors.farthest_point import FarthestPointSampling
from tamis.selectors.fsasl import FSASL
from tamis.selectors.fsgmm import FSGMM
from tamis.selectors.inffs import InfFS
from tamis.selectors.jdlufs import JDLUFS
from tamis.selectors.jelsr import JELSR
from tamis.selectors.laplacian import LaplacianScore
from tamis.selectors.lda_km import LDAKM
from tamis.selectors.leverage import LeverageScore
from tamis.selectors.llcfs import LLCFS
from tamis.selectors.m3fs import M3FS
from tamis.selectors.mcfs import MCFS
from tamis.selectors.mrsf import MRSF
from tamis.selectors.ndfs import NDFS
from tamis.selectors.pca_score import PCAScore
from tamis.selectors.pfa import PFA
from tamis.selectors.random_subset import RandomSubset
from tamis.selectors.rne import RNE
from tamis.selectors.rsr import RSR
from tamis.selectors.rufs import RUFS
from tamis.selectors.sogfs import SOGFS
from tamis.selectors.sparse_kmeans import SparseKMeans
from tamis.selectors.spec import SPEC
from tamis.selectors.spfs import SPFS
from tamis.selectors.ssfs import SSFS
from tamis.selectors.track import TRACK
from tamis.selectors.u2fs import U2FS
from tamis.selectors.udfs import UDFS
from tamis.selectors.variance import MaxVariance

__all__ = [
    "DEFAULT_METHOD",
    "DEFAULT_METHOD_REASON",
    "METHODS",
    "RANDOM_BASELINE",
    "SCALING_WORDS",
    "Method",
    "get",
    "make",
    "method_of",
]

# What every comparison is made against besides all features.
RANDOM_BASELINE = "random_subset"
# What is used where no method is named.
DEFAULT_METHOD = "auto"
DEFAULT_METHOD_REASON = (
    "it decides by itself how to scale, how many groups there are, which columns tell them apart "
    "and how many are enough (docs/auto.md)"
)


@dataclass(frozen=True)
class Method:
    """One selector and what is known of it.

    Attributes
    ----------
    name : str
        As on the command line.
    selector : type
        Its class.
    family : str
        What kind of method it is: "automatic" (it decides everything by itself), "baseline",
        "score" (one feature at a time), "subset" (features that together rebuild the table),
        "spectral", "discriminant" (clusters, and a projection that tells them apart), "mixture",
        "margin" or "factorization".
    prefers : str
        The columns it keeps, in a few words.
    cost : str
        Its time in n samples and d features.
    reference : str
        The paper, or "" for a baseline that needs none.
    tune : mapping
        Parameters worth trying and the values to try.
    expected_failed_checks : mapping
        Invariances of :func:`tamis.testing.check_selector` that the method's mathematics does not
        have, each with the reason.
    scaling : {"standard", "columns", "none"}
        How the columns of an unknown table are best brought to one scale before: each to mean 0
        and variance 1; each to the unit interval, [0, 1]; or not at all. The columns of a sparse
        table are never shifted: they are divided by their standard deviations, or by their largest
        absolute values, which gives [0, 1] where nothing is negative and [-1, 1] elsewhere.
    cluster_parameter : str or None
        The parameter that holds the number of clusters, under whatever name; None has none.
    compares_rows : bool
        Whether every sample is compared with every other, as a search for neighbours does.
    """

    name: str
    selector: type[Selector]
    family: str
    prefers: str
    cost: str
    reference: str = ""
    tune: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    expected_failed_checks: Mapping[str, str] = field(default_factory=dict)
    scaling: Literal["standard", "columns", "none"] = "standard"
    cluster_parameter: str | None = None
    compares_rows: bool = False

    def __post_init__(self) -> None:
        parameters = signature(self.selector).parameters
        if self.cluster_parameter is None and "n_clusters" in parameters:
            object.__setattr__(self, "cluster_parameter", "n_clusters")
        if "n_neighbors" in parameters:
            object.__setattr__(self, "compares_rows", True)


# What `scaling` says, in words.
SCALING_WORDS: Mapping[str, str] = MappingProxyType(
    {
        "standard": "each column standardised; a sparse one divided by its standard deviation",
        "columns": "each column brought to [0, 1]; a sparse one divided by its largest value",
        "none": "columns as they are",
    }
)

_NOT_CENTRED = "the features enter uncentred, so that their zero matters"

METHODS: Mapping[str, Method] = MappingProxyType(
    {
        method.name: method
        for method in (
            Method(
                "auto",
                Auto,
                family="automatic",
                prefers="as few columns as show the groups of the samples, with nothing to tune",
                cost="O(n²d) for the neighbours, on three views and at most two scales",
                scaling="none",  # it finds the scale
                compares_rows=True,
                expected_failed_checks={
                    "duplicated columns": "one of two equal columns does the work of both",
                },
            ),
            Method(
                "random_subset",
                RandomSubset,
                family="baseline",
                prefers="any columns, at random",
                cost="O(nd)",
                expected_failed_checks={
                    "column permutation": "scores are drawn by position, whatever the columns hold",
                    "duplicated columns": "scores are drawn by position, whatever the columns hold",
                },
            ),
            Method(
                "max_variance",
                MaxVariance,
                family="baseline",
                prefers="columns that vary most",
                cost="O(nd)",
                scaling="none",  # standardised columns all vary alike
            ),
            Method(
                "pca_score",
                PCAScore,
                family="score",
                prefers="columns whose variance the leading components carry",
                cost="O(nd·min(n, d))",
                reference="Krzanowski, Applied Statistics 1987",
                tune={"n_components": (None, 1, 10, 0.9)},
            ),
            Method(
                "column_subset",
                ColumnSubset,
                family="subset",
                prefers="columns from which all others are best rebuilt",
                cost="O(nd·min(n, d)), O(d·min(n, d)) for each column chosen and exchange tried",
                reference="Farahat, Ghodsi, Kamel, Knowledge and Information Systems 2013",
                tune={"swaps": (True, False)},
                expected_failed_checks={
                    "late selection": "the number of features is part of what exchanges optimise",
                    "duplicated columns": "one of two equal columns does the work of both",
                },
            ),
            Method(
                "laplacian_score",
                LaplacianScore,
                family="score",
                prefers="columns that vary little between neighbouring samples",
                cost="O(n²d) for the neighbours, O(nkd) for the scores",
                reference="He, Cai, Niyogi, NIPS 2005",
                tune={"n_neighbors": (5, 10, 20), "weights": ("heat", "binary", "cosine")},
            ),
            Method(
                "spec",
                SPEC,
                family="score",
                prefers="columns that agree with the smooth eigenvectors of the graph",
                cost="O(n²d) for the neighbours, O(nkd) for the scores",
                reference="Zhao, Liu, ICML 2007",
                tune={"style": (1, 2, 3), "n_neighbors": (5, 10, 20)},
                expected_failed_checks={"translation": _NOT_CENTRED},
            ),
            Method(
                "mcfs",
                MCFS,
                family="spectral",
                prefers="columns that rebuild one spectral eigenvector after the other",
                cost="O(n²d) for the neighbours, O(ndp) for p features entered",
                reference="Cai, Zhang, He, KDD 2010",
                tune={"n_clusters": (5, 10, 20), "n_neighbors": (5, 10, 20)},
                expected_failed_checks={
                    "duplicated columns": "of two equal columns the second can no longer enter",
                },
            ),
            Method(
                "mrsf",
                MRSF,
                family="spectral",
                prefers="few columns that together rebuild the spectral embedding",
                cost="O(n²d) for the neighbours, O(np²) for p features kept",
                reference="Zhao, Wang, Liu, AAAI 2010",
                tune={"alpha": (0.2, 0.3, 0.4, 0.5, 0.6), "n_clusters": (5, 10, 15)},
                expected_failed_checks={
                    "duplicated columns": "one of two equal columns does the work of both",
                },
            ),
            Method(
                "udfs",
                UDFS,
                family="spectral",
                prefers="columns from which a linear map tells neighbours apart",
                cost="O(n²d) for the neighbours, O(nd·min(n, d)) per iteration",
                reference="Yang, Shen, Ma, Huang, Zhou, IJCAI 2011",
                tune={"gamma": (1e-6, 1e-3, 0.1, 1.0, 1e3), "reg": (1e-3, 1.0, 1e3)},
            ),
            Method(
                "jelsr",
                JELSR,
                family="spectral",
                prefers="columns that rebuild an embedding learned to suit them",
                cost="O(n²d) for the neighbours, O(nd·min(n, d)) per iteration",
                reference="Hou, Nie, Yi, Wu, IJCAI 2011",
                tune={"alpha": (1e-3, 0.1, 1.0, 10.0), "beta": (1e-3, 0.1, 1.0, 10.0)},
                cluster_parameter="n_components",  # of its embedding: the paper sets it to c
            ),
            Method(
                "track",
                TRACK,
                family="discriminant",
                prefers="columns in which K-means clusters are tight beside the spread of the data",
                cost="O(ndc) for K-means, O(nd·min(n, d)) per inner iteration",
                reference="Wang, Nie, Huang, ECML PKDD 2014",
                tune={"gamma": (1e-4, 1e-3, 1e-2, 0.1, 1.0), "ridge": (0.1, 1.0)},
            ),
            Method(
                "lda_km",
                LDAKM,
                family="discriminant",
                prefers="columns from which discriminant analysis tells K-means clusters apart",
                cost="O(ndc) for K-means, O(nd·min(n, d)) per inner iteration",
                reference="Ding, Li, ICML 2007; Wang, Nie, Huang, ECML PKDD 2014",
                tune={"gamma": (1e-4, 1e-3, 1e-2, 0.1, 1.0), "ridge": (0.1, 1.0)},
            ),
            Method(
                "fsgmm",
                FSGMM,
                family="mixture",
                prefers="columns that a mixture of Gaussians needs to tell its clusters apart",
                cost="O(ndc) per iteration",
                reference="Law, Figueiredo, Jain, TPAMI 2004",
                tune={"n_clusters": (2, 5, 10), "reg_covar": (1e-3, 0.01, 0.05)},
            ),
            Method(
                "m3fs",
                M3FS,
                family="margin",
                prefers="columns that separate clusters with the largest margin",
                cost="O(nd) per cut, O(min(n, d)³) per iteration with a manifold term",
                reference="Zhao, Kwok, Wang, Zhang, CVPR 2009",
                tune={"C": (0.3, 1.0, 10.0), "lam": (0.0, 1e-3, 0.01), "n_clusters": (2, 3, 5)},
                expected_failed_checks={
                    "late selection": "the number of features is a constraint of the objective",
                },
            ),
            Method(
                "jdlufs",
                JDLUFS,
                family="factorization",
                prefers="columns that rebuild cluster labels learned with a shared dictionary",
                cost="O(n²d) for the neighbours, O(nm² + ndm + nd·min(n, d)) per step, m atoms",
                reference="Fan, Dai, Zhang, Liu, poster 2019",
                scaling="columns",  # its penalties suppose a range of about one
                tune={"delta": (0.1, 1.0, 10.0), "gamma": (0.1, 1.0, 10.0), "n_clusters": (5, 10)},
                expected_failed_checks={"translation": _NOT_CENTRED},
            ),
            Method(
                "rufs",
                RUFS,
                family="factorization",
                prefers="columns that rebuild the labels of a robust non-negative factorization",
                cost="O(n²d) for the neighbours, O(ndc + nd·min(n, d)) per iteration",
                reference="Qian, Zhai, IJCAI 2013",
                scaling="columns",  # its factors are non-negative
                tune={"beta": (0.1, 1.0, 10.0), "nu": (0.1, 1.0, 10.0), "n_clusters": (5, 10)},
                expected_failed_checks={
                    "sign flip": "the loadings are non-negative, and rebuild no negative value",
                    "translation": _NOT_CENTRED,
                },
            ),
            Method(
                "eufs",
                EUFS,
                family="factorization",
                prefers="columns that a robust factorization into clusters cannot do without",
                cost="O(n²d) for the neighbours, O(ndc) per iteration",
                reference="Wang, Tang, Liu, AAAI 2015",
                tune={"alpha": (0.03, 0.1, 0.3), "beta": (0.1, 1.0, 10.0), "n_clusters": (5, 10)},
                expected_failed_checks={"translation": _NOT_CENTRED},
            ),
            Method(
                "cufs",
                CUFS,
                family="factorization",
                prefers="columns from which a linear map tells the codes of a dictionary",
                cost="O(nm² + ndm + nd·min(n, d)) per iteration, m atoms",
                reference="Zhu, Hu, Zhang, Zuo, AAAI 2016",
                scaling="columns",  # its dictionary rebuilds what is not centred
                tune={"reg": (0.1, 1.0, 10.0), "tau": (0.1, 1.0, 10.0)},
                expected_failed_checks={"translation": _NOT_CENTRED},
            ),
            Method(
                "rsr",
                RSR,
                family="subset",
                prefers="columns that a robust regression of the table on itself cannot do without",
                cost="O(nd·min(n, d)) per iteration",
                reference="Zhu, Zuo, Zhang, Hu, Shiu, Pattern Recognition 2015",
                tune={"alpha": (0.05, 0.1, 0.2, 0.4)},
            ),
            Method(
                "ndfs",
                NDFS,
                family="spectral",
                prefers="columns that rebuild non-negative spectral cluster labels",
                cost="O(n²d) for the neighbours, O(nd·min(n, d)) per iteration",
                reference="Li, Yang, Liu, Zhou, Lu, AAAI 2012",
                tune={"beta": (0.03, 0.1, 0.3), "alpha": (0.1, 1.0, 10.0), "n_clusters": (5, 10)},
            ),
            Method(
                "pfa",
                PFA,
                family="subset",
                prefers="one column of each group of columns that share their components",
                cost="O(nd·min(n, d)), O(dqk) per iteration of K-means, q components, k columns",
                reference="Lu, Cohen, Zhou, Tian, ACM Multimedia 2007",
                tune={"n_components": (None, 5, 0.8, 0.95)},
                expected_failed_checks={
                    "late selection": "the number of features is the number of groups",
                    "duplicated columns": "one of two equal columns does the work of both",
                },
            ),
            Method(
                "leverage",
                LeverageScore,
                family="score",
                prefers="columns that lie in the leading principal subspace",
                cost="O(nd·min(n, d))",
                reference="Mahoney, Drineas, PNAS 2009",
                tune={"n_components": (None, 2, 5, 0.9)},
            ),
            Method(
                "sparse_kmeans",
                SparseKMeans,
                family="discriminant",
                prefers="columns whose variance lies between clusters that are found with them",
                cost="O(ndc) per iteration of K-means, 48 fits of which choose the bound",
                reference="Witten, Tibshirani, JASA 2010",
                tune={"bound": (None, 1.5, 3.0), "n_clusters": (2, 5, 10)},
            ),
            Method(
                "inffs",
                InfFS,
                family="score",
                prefers="columns that vary much and correlate little with the others",
                cost="O(nd²)",
                reference="Roffo, Melzi, Cristani, ICCV 2015",
                scaling="columns",  # standardised columns all vary alike, which is half of it
                tune={"alpha": (0.0, 0.25, 0.5, 0.75)},  # 1 is the deviations alone
            ),
            Method(
                "sogfs",
                SOGFS,
                family="spectral",
                prefers="columns in which a graph of separate groups, learned with them, is smooth",
                cost="O(n²d) for the neighbours, O(nd·min(n, d)) per iteration",
                reference="Nie, Zhu, Li, AAAI 2016",
                tune={"gamma": (0.01, 0.03, 0.1), "n_clusters": (5, 10), "n_neighbors": (5, 10)},
            ),
            Method(
                "fsasl",
                FSASL,
                family="spectral",
                prefers="columns that keep which samples rebuild and neighbour each other",
                cost="O(n²d) for the neighbours, O(nd·min(n, d)) per iteration",
                reference="Du, Shen, KDD 2015",
                tune={"gamma": (0.01, 0.1, 1.0), "beta": (0.1, 1.0, 10.0)},
                cluster_parameter="n_components",
            ),
            Method(
                "u2fs",
                U2FS,
                family="spectral",
                prefers="columns that leave last when a regression of the embedding is thinned out",
                cost="O(n²d) for the neighbours, O(d²·min(n, d)) for the elimination",
                reference="Villa, Narayanan, Van Huffel, Bertrand, Varon, PeerJ CS 2021",
                tune={"n_clusters": (2, 5, 10), "ridge": (1e-3, 0.01, 0.1)},
                expected_failed_checks={
                    "duplicated columns": "one of two equal columns does the work of both",
                },
            ),
            Method(
                "dgufs",
                DGUFS,
                family="spectral",
                prefers="columns that depend on cluster labels, and these on the neighbours",
                cost="O(n²d) for the neighbours, O(ndc) per iteration",
                reference="Guo, Zhu, AAAI 2018",
                tune={"n_clusters": (2, 5, 10), "beta": (0.2, 0.5, 0.8)},
                expected_failed_checks={
                    "late selection": "the number of features is part of the objective",
                },
            ),
            Method(
                "spfs",
                SPFS,
                family="subset",
                prefers="columns whose products together are similar to a kernel of the samples",
                cost="O(n²d) for the kernel, O(nd) for each column chosen",
                reference="Zhao, Wang, Liu, Ye, IEEE TKDE 2013",
                compares_rows=True,
                expected_failed_checks={
                    "duplicated columns": "the second of two equal columns adds less",
                },
            ),
            Method(
                "farthest_point",
                FarthestPointSampling,
                family="subset",
                prefers="columns that lie far from all that were taken before",
                cost="O(nd) for each column chosen",
                reference="Eldar, Lindenbaum, Porat, Zeevi, IEEE TIP 1997",
                expected_failed_checks={
                    "duplicated columns": "the second of two equal columns is at no distance",
                },
            ),
            Method(
                "egcfs",
                EGCFS,
                family="spectral",
                prefers="columns in which near samples are joined and clusters lie apart",
                cost="O(n²d) for the neighbours, O(nd·min(n, d)) per iteration",
                reference="Zhang, Zhang, Li, IEEE TNNLS 2022",
                tune={
                    "n_clusters": (2, 5, 10),
                    "gamma": (0.01, 0.1, 1.0),
                    "beta": (0.1, 1.0, 10.0),
                },
            ),
            Method(
                "rne",
                RNE,
                family="spectral",
                prefers="groups of columns that neighbouring samples rebuild together",
                cost="O(n²d) for the neighbours, O(ndc) per step",
                reference="Liu, Ye, Li, Wang, Gao, Knowledge-Based Systems 2020",
                tune={"n_components": (2, 5, 10), "alpha": (1.0, 10.0, 100.0)},
                expected_failed_checks={
                    "sign flip": "the groups have non-negative weights",
                    "duplicated columns": "two equal columns start two groups, or share one weight",
                },
            ),
            Method(
                "llcfs",
                LLCFS,
                family="spectral",
                prefers="columns from which the neighbours of each sample predict its cluster",
                cost="O(n²d) for the neighbours, O(nd) per iteration",
                reference="Zeng, Cheung, TPAMI 2011",
                tune={"n_clusters": (2, 5, 10), "ridge": (0.1, 1.0, 10.0)},
            ),
            Method(
                "ssfs",
                SSFS,
                family="spectral",
                prefers="columns that tell the two sides of stable eigenvectors of the graph apart",
                cost="O(n²d) for the neighbours, O(nd·min(n, d)) for the classifiers",
                reference="Segal, Lindenbaum, Jaffe, TMLR 2024",
                tune={"n_eigenvectors": (5, 10, 20), "ridge": (1e-3, 0.01, 0.1)},
            ),
        )
    }
)


def get(name: str) -> Method:
    """The method of that name; an error lists the names there are."""
    try:
        return METHODS[name]
    except KeyError:
        raise ValueError(
            f"There is no method {name!r}; the methods are {', '.join(METHODS)}."
        ) from None


def make(name: str, **parameters: Any) -> Selector:
    """A new selector by name.

    >>> from tamis.registry import make
    >>> make("laplacian_score", n_features_to_select=10)
    LaplacianScore(n_features_to_select=10)
    """
    return get(name).selector(**parameters)


def method_of(selector: Selector) -> Method | None:
    """The entry of a selector's class, or None for a class that is not registered."""
    return next((m for m in METHODS.values() if m.selector is type(selector)), None)
