"""A fitted preparation as plain numbers, text, lists and dicts, and back."""

from __future__ import annotations

from dataclasses import asdict, fields
from typing import Any

import numpy as np

from tamis.preprocessing._imputation import Imputation
from tamis.preprocessing._kinds import KINDS
from tamis.preprocessing._low_rank import LowRank
from tamis.preprocessing._neighbouring_columns import NeighbouringColumns
from tamis.preprocessing._notation import DATE_FORMATS, NumberNotation
from tamis.preprocessing._readings import (
    CYCLES,
    BooleanReading,
    CategoryReading,
    DateReading,
    NumberReading,
    Reading,
)

READINGS = {
    "number": NumberReading,
    "boolean": BooleanReading,
    "date": DateReading,
    "category": CategoryReading,
}
KEYS: dict[str, Any] = {
    "parameters": dict,
    "names": list,
    "named": bool,
    "kinds": dict,
    "readings": dict,
    "groups": dict,
    "dropped": dict,
    "imputed": dict,
    "notes": list,
    "usual_levels": list,
    "imputation": (dict, type(None)),
    "offset": (list, type(None)),
    "factor": (list, type(None)),
}


def fitted_to_dict(preparation: Any) -> dict[str, Any]:
    """What :meth:`Preparation.to_dict` gives."""
    imputation = preparation._imputation
    return {
        "parameters": preparation.get_params(deep=False),
        "names": list(preparation._names),
        "named": hasattr(preparation, "feature_names_in_"),
        "kinds": dict(preparation.kinds_),
        "readings": {name: _plain(asdict(one)) for name, one in preparation._readings.items()},
        "groups": {name: list(outputs) for name, outputs in preparation.groups_.items()},
        "dropped": dict(preparation.dropped_),
        "imputed": dict(preparation.imputed_),
        "notes": list(preparation.notes_),
        "usual_levels": list(preparation._usual_levels),
        "imputation": None
        if imputation is None
        else {
            "typical": imputation.typical.tolist(),
            "modelled": imputation.modelled.tolist(),
            "low_rank": None if imputation.low_rank is None else _arrays(imputation.low_rank),
        },
        "offset": None if preparation._offset is None else preparation._offset.tolist(),
        "factor": None if preparation._factor is None else preparation._factor.tolist(),
    }


def fitted_from_dict(cls: Any, form: Any) -> Any:
    """What :meth:`Preparation.from_dict` gives."""
    _check(isinstance(form, dict), "it is no dict")
    for key, kind in KEYS.items():
        _check(key in form, f"it lacks {key!r}")
        _check(isinstance(form[key], kind), f"{key!r} is of the wrong type")
    unknown = sorted(set(map(str, form)) - set(KEYS))
    _check(not unknown, f"it has the unknown key {unknown[0]!r}" if unknown else "")
    known = cls._get_param_names()
    _check(sorted(map(str, form["parameters"])) == sorted(known), "its parameters are others")
    preparation = cls(**form["parameters"])
    try:
        preparation._validate_params()
    except ValueError as error:
        raise ValueError(f"The form of a preparation is wrong: {error}") from None
    names = form["names"]
    _check(_texts(names) and len(set(names)) == len(names) > 0, "'names' are no different texts")
    _check(set(form["kinds"]) == set(names), "'kinds' are not those of the names")
    _check(all(kind in KINDS for kind in form["kinds"].values()), "'kinds' has an unknown kind")
    readings = form["readings"]
    _check(bool(readings) and set(readings) <= set(names), "'readings' are not of the names")
    _check(list(form["groups"]) == list(readings), "'groups' are not those of the readings")
    preparation.n_features_in_ = len(names)
    if form["named"]:
        preparation.feature_names_in_ = np.array(names, dtype=object)
    preparation._names = tuple(names)
    preparation.kinds_ = dict(form["kinds"])
    preparation._readings = {
        name: _reading(preparation.kinds_[name], one) for name, one in readings.items()
    }
    preparation.groups_ = {}
    for name, outputs in form["groups"].items():
        _check(
            isinstance(outputs, list)
            and _texts(outputs)
            and len(outputs) == _n_outputs(preparation._readings[name]),
            f"the outputs of {name!r} are not those of its kind",
        )
        preparation.groups_[name] = list(outputs)
    outputs = [output for group in preparation.groups_.values() for output in group]
    _check(len(set(outputs)) == len(outputs), "two outputs have one name")
    for key in ("dropped", "imputed"):
        _check(set(form[key]) <= set(names), f"{key!r} are not of the names")
    _check(_texts(form["dropped"].values()), "'dropped' has a reason that is no text")
    _check(_texts(form["notes"]), "'notes' are no texts")
    preparation.dropped_ = dict(form["dropped"])
    preparation.imputed_ = {
        name: float(_vector([share], 1, "imputed")[0]) for name, share in form["imputed"].items()
    }
    preparation.notes_ = tuple(form["notes"])
    categories = [r for r in preparation._readings.values() if isinstance(r, CategoryReading)]
    usual = form["usual_levels"]
    _check(
        len(usual) == len(categories)
        and all(
            type(u) is int and 0 <= u < r.n_outputs for u, r in zip(usual, categories, strict=True)
        ),
        "'usual_levels' are no levels of the categories",
    )
    preparation._usual_levels = list(usual)
    n_numbers = len(readings) - len(categories)
    needed = preparation.missing == "impute"
    _check((form["imputation"] is not None) == needed, "'imputation' does not suit 'missing'")
    preparation._imputation = _imputation(form["imputation"], n_numbers) if needed else None
    scaled = preparation.scaling != "none"
    for key in ("offset", "factor"):
        _check((form[key] is not None) == scaled, f"{key!r} does not suit 'scaling'")
        value = _vector(form[key], len(outputs), key) if scaled else None
        setattr(preparation, f"_{key}", value)
    return preparation


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    return [_plain(inner) for inner in value] if isinstance(value, tuple | list) else value


def _arrays(model: LowRank) -> dict[str, Any]:
    form = {
        field.name: np.asarray(getattr(model, field.name), dtype=float).tolist()
        for field in fields(model)
        if field.name != "neighbours"
    }
    beside = model.neighbours
    form["neighbours"] = None
    if beside is not None:
        form["neighbours"] = {
            field.name: getattr(beside, field.name).tolist() for field in fields(beside)
        }
    return form


def _check(right: bool, what: str) -> None:
    if not right:
        raise ValueError(
            f"The form of a preparation is wrong: {what}; write it again with to_dict()."
        )


def _texts(values: Any) -> bool:
    return all(isinstance(value, str) for value in values)


def _vector(values: Any, length: int, key: str) -> Any:
    right = isinstance(values, list) and len(values) == length
    right = right and all(type(value) in (int, float) for value in values)
    _check(right and bool(np.isfinite(values).all()), f"{key!r} is no list of {length} numbers")
    return np.array(values, dtype=np.float64)


def _n_outputs(reading: Reading) -> int:
    if isinstance(reading, CategoryReading):
        return reading.n_outputs
    return 1 + 2 * len(reading.cycles) if isinstance(reading, DateReading) else 1


def _reading(kind: str, form: Any) -> Reading:
    _check(kind in READINGS and isinstance(form, dict), f"a reading of kind {kind!r}")
    cls = READINGS[kind]
    _check(set(form) == {field.name for field in fields(cls)}, f"a reading of kind {kind!r}")
    if kind == "number":
        notation = form["notation"]
        _check(isinstance(notation, dict) and set(notation) == {"comma", "symbols"}, "a notation")
        comma, symbols = notation["comma"], notation["symbols"]
        _check(comma in ("none", "thousands", "decimal") and type(symbols) is bool, "a notation")
        return NumberReading(NumberNotation(comma, symbols))
    if kind == "boolean":
        _check(_texts(form.values()), "the words of a truth value")
        return BooleanReading(**form)
    if kind == "date":
        _check(form["form"] in DATE_FORMATS, "how a date is written")
        cycles = form["cycles"]
        _check(isinstance(cycles, list) and all(one in list(CYCLES) for one in cycles), "a cycle")
        return DateReading(
            form["form"], float(_vector([form["origin"]], 1, "origin")[0]), tuple(cycles)
        )
    levels, rare = form["levels"], form["rare"]
    _check(
        isinstance(levels, list)
        and isinstance(rare, list)
        and _texts(levels)
        and _texts(rare)
        and len(set(levels + rare)) == len(levels) + len(rare) > 0,
        "the levels of a category",
    )
    return CategoryReading(tuple(levels), tuple(rare))


def _imputation(form: dict[str, Any], n_numbers: int) -> Imputation:
    _check(set(form) == {"typical", "modelled", "low_rank"}, "'imputation' has other keys")
    typical = _vector(form["typical"], n_numbers, "typical")
    modelled = form["modelled"]
    _check(_places(modelled, n_numbers), "'modelled' are no columns")
    columns = np.array(modelled, dtype=np.intp)
    model = form["low_rank"]
    if model is None:
        return Imputation(typical, None, columns)
    _check(
        isinstance(model, dict) and set(model) == {field.name for field in fields(LowRank)},
        "'low_rank' has other keys",
    )
    rows = model["components"]
    _check(isinstance(rows, list) and len(rows) == len(columns) > 0, "'components' has other rows")
    rank = len(rows[0]) if isinstance(rows[0], list) else 0
    beside = _neighbours(model["neighbours"], len(columns))
    _check(rank > 0 or beside is not None, "'components' has no columns")
    components = np.array([_vector(row, rank, "components") for row in rows])
    vectors = {
        key: _vector(model[key], len(columns), key)
        for key in ("mean", "scale", "lowest", "highest")
    }
    _check(bool((vectors["scale"] > 0).all()), "'scale' is not positive")
    noise = float(_vector([model["noise"]], 1, "noise")[0])
    low_rank = LowRank(**vectors, components=components, noise=noise, neighbours=beside)
    return Imputation(typical, low_rank, columns)


def _neighbours(form: Any, n_columns: int) -> NeighbouringColumns | None:
    if form is None:
        return None
    _check(
        isinstance(form, dict)
        and set(form) == {field.name for field in fields(NeighbouringColumns)},
        "'neighbours' has other keys",
    )
    targets, sources, weights = form["targets"], form["sources"], form["weights"]
    _check(_places(targets, n_columns), "the targets of 'neighbours' are no columns")
    _check(
        isinstance(sources, list)
        and isinstance(weights, list)
        and len(sources) == len(weights) == len(targets) > 0
        and all(_places(row, n_columns) and len(row) == len(sources[0]) > 0 for row in sources),
        "the sources of 'neighbours' are no columns",
    )
    n_neighbours = len(sources[0])
    return NeighbouringColumns(
        np.array(targets, dtype=np.intp),
        np.array(sources, dtype=np.intp),
        np.array([_vector(row, n_neighbours, "weights") for row in weights]),
    )


def _places(values: Any, n_columns: int) -> bool:
    """Whether these are different columns."""
    right = isinstance(values, list) and all(type(j) is int and 0 <= j < n_columns for j in values)
    return right and len(set(values)) == len(values)
