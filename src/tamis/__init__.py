"""tamis: decide which columns of a wide table to keep, without labels."""

from importlib.metadata import version

from tamis.base import GraphSelector, Selector
from tamis.selectors.cufs import CUFS
from tamis.selectors.eufs import EUFS
from tamis.selectors.fsgmm import FSGMM
from tamis.selectors.jdlufs import JDLUFS
from tamis.selectors.jelsr import JELSR
from tamis.selectors.laplacian import LaplacianScore
from tamis.selectors.lda_km import LDAKM
from tamis.selectors.m3fs import M3FS
from tamis.selectors.mcfs import MCFS
from tamis.selectors.mrsf import MRSF
from tamis.selectors.pca_score import PCAScore
from tamis.selectors.random_subset import RandomSubset
from tamis.selectors.rufs import RUFS
from tamis.selectors.spec import SPEC
from tamis.selectors.track import TRACK
from tamis.selectors.udfs import UDFS
from tamis.selectors.variance import MaxVariance

__version__ = version("tamis")

__all__ = [
    "CUFS",
    "EUFS",
    "FSGMM",
    "JDLUFS",
    "JELSR",
    "LDAKM",
    "M3FS",
    "MCFS",
    "MRSF",
    "RUFS",
    "SPEC",
    "TRACK",
    "UDFS",
    "GraphSelector",
    "LaplacianScore",
    "MaxVariance",
    "PCAScore",
    "RandomSubset",
    "Selector",
    "__version__",
]
