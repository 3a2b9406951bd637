"""Cases of Auto beside MRSF, the strongest single method, on the same table."""

from __future__ import annotations

from functools import partial
from typing import Any

from benchmarks import data
from benchmarks.case import Case, fit

# Auto may take ten times as long as MRSF.
MIN_RATIO = 0.1


def _auto(X: Any) -> dict[str, str]:
    from tamis import Auto

    fitted = Auto().fit(X)
    return {"note": f"{fitted.n_features_} columns, {fitted.n_clusters_} groups, {fitted.scaling_}"}


def _case(shape: str, load: Any, needs: str | None = None) -> Case:
    return Case(
        "Auto, everything found",
        shape,
        load,
        _auto,
        partial(fit, method="mrsf"),
        "MRSF with its defaults",
        min_ratio=MIN_RATIO,
        needs=needs,
    )


CASES = (
    _case("5000 × 500, clusters", partial(data.clusters, 5000, 500)),
    _case("200 × 5000, clusters", partial(data.clusters, 200, 5000)),
    _case("USPS", partial(data.real_set, "USPS"), "USPS"),
    _case("COIL20", partial(data.real_set, "COIL20"), "COIL20"),
    _case("mouse bladder, sparse", partial(data.real_set, "MouseBladder_sc"), "MouseBladder_sc"),
)
