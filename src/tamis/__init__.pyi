"""The public names, for type checkers and for the lazy loader, which reads them from here."""

from . import (
    auto,
    base,
    cli,
    clustering,
    datasets,
    distributed,
    evaluation,
    genes,
    graphs,
    grouped,
    inspection,
    io,
    metrics,
    plots,
    preprocessing,
    registry,
    report,
    reproduction,
    selectors,
    studio,
    testing,
)
from .auto import Auto
from .base import Selector
from .grouped import GroupedSelector
from .selectors._graph import GraphSelector
from .selectors.column_subset import ColumnSubset
from .selectors.cufs import CUFS
from .selectors.dgufs import DGUFS
from .selectors.egcfs import EGCFS
from .selectors.eufs import EUFS
from .selectors.farthest_point import FarthestPointSampling
from .selectors.fsasl import FSASL
from .selectors.fsgmm import FSGMM
from .selectors.inffs import InfFS
from .selectors.jdlufs import JDLUFS
from .selectors.jelsr import JELSR
from .selectors.laplacian import LaplacianScore
from .selectors.lda_km import LDAKM
from .selectors.leverage import LeverageScore
from .selectors.llcfs import LLCFS
from .selectors.m3fs import M3FS
from .selectors.mcfs import MCFS
from .selectors.mrsf import MRSF
from .selectors.ndfs import NDFS
from .selectors.pca_score import PCAScore
from .selectors.pfa import PFA
from .selectors.random_subset import RandomSubset
from .selectors.rne import RNE
from .selectors.rsr import RSR
from .selectors.rufs import RUFS
from .selectors.sogfs import SOGFS
from .selectors.sparse_kmeans import SparseKMeans
from .selectors.spec import SPEC
from .selectors.spfs import SPFS
from .selectors.ssfs import SSFS
from .selectors.track import TRACK
from .selectors.u2fs import U2FS
from .selectors.udfs import UDFS
from .selectors.variance import MaxVariance

__version__: str

__all__ = [
    "CUFS",
    "DGUFS",
    "EGCFS",
    "EUFS",
    "FSASL",
    "FSGMM",
    "JDLUFS",
    "JELSR",
    "LDAKM",
    "LLCFS",
    "M3FS",
    "MCFS",
    "MRSF",
    "NDFS",
    "PFA",
    "RNE",
    "RSR",
    "RUFS",
    "SOGFS",
    "SPEC",
    "SPFS",
    "SSFS",
    "TRACK",
    "U2FS",
    "UDFS",
    "Auto",
    "ColumnSubset",
    "FarthestPointSampling",
    "GraphSelector",
    "GroupedSelector",
    "InfFS",
    "LaplacianScore",
    "LeverageScore",
    "MaxVariance",
    "PCAScore",
    "RandomSubset",
    "Selector",
    "SparseKMeans",
    "__version__",
    "auto",
    "base",
    "cli",
    "clustering",
    "datasets",
    "distributed",
    "evaluation",
    "genes",
    "graphs",
    "grouped",
    "inspection",
    "io",
    "metrics",
    "plots",
    "preprocessing",
    "registry",
    "report",
    "reproduction",
    "selectors",
    "studio",
    "testing",
]
