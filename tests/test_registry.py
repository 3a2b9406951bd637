"""The table of methods: complete, true, and every method keeps the contract."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import re

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from references.quick import QUICK, quick
from sklearn.datasets import load_wine
from sklearn.preprocessing import scale

import tamis
import tamis.auto
import tamis.selectors
from tamis import (
    M3FS,
    SPEC,
    ColumnSubset,
    GraphSelector,
    LaplacianScore,
    MaxVariance,
    PCAScore,
    RandomSubset,
    Selector,
    registry,
)
from tamis.preprocessing import scaled
from tamis.registry import METHODS, SCALING_WORDS, Method, get, make, method_of
from tamis.testing import CHECKS, selector_checks

COSINE_LACKS = {"translation": "angles are taken at the origin"}
# Every method, and the settings that change its formula, each with what it fails.
SETTINGS = {
    **{name: (quick(name), method.expected_failed_checks) for name, method in METHODS.items()},
    "spec, style 2": (SPEC(style=2), {}),
    "spec, style 3": (SPEC(style=3), METHODS["spec"].expected_failed_checks),
    "pca_score, fraction": (PCAScore(n_components=0.9), {}),
    "column_subset, greedy": (
        ColumnSubset(swaps=False),
        {
            "duplicated columns": METHODS["column_subset"].expected_failed_checks[
                "duplicated columns"
            ]
        },
    ),
    "laplacian_score, binary": (LaplacianScore(weights="binary"), {}),
    "laplacian_score, cosine": (LaplacianScore(weights="cosine"), COSINE_LACKS),
    "m3fs, three clusters": (
        M3FS(n_clusters=3, lam=0, epsilon=0.1, max_iter=3),
        {
            **METHODS["m3fs"].expected_failed_checks,
            "translation": "functions of several clusters have no bias: the zero matters",
        },
    ),
}

CONTRACT = "scikit-learn contract"


def slow_where_iterative(settings):
    """The settings as parameters; those of methods that fit for long are left to `make test`."""
    return [
        pytest.param(setting, marks=pytest.mark.slow)
        if setting.partition(",")[0] in {*QUICK, "m3fs"}
        else setting
        for setting in settings
    ]


def documents(estimator, attribute):
    return attribute in documented(type(estimator), "Attributes")


def run(estimator, check, expected_failed_checks):
    return dict(selector_checks(estimator, expected_failed_checks=expected_failed_checks))[check]()


@pytest.mark.parametrize("check", [check for check in CHECKS if check != CONTRACT])
@pytest.mark.parametrize("setting", slow_where_iterative(SETTINGS))
def test_every_method_passes_every_check(setting, check):
    estimator, expected_failed_checks = SETTINGS[setting]
    if check == "objective never rises" and setting in METHODS:
        estimator = make(setting)  # to the last iteration
    result = run(estimator, check, expected_failed_checks)
    if check in expected_failed_checks:
        assert result == f"expected failure: {expected_failed_checks[check]}"
    elif check == "objective never rises" and not documents(estimator, "objective_"):
        assert result == "skipped: the method has no objective"
    elif check == "precomputed graph" and "affinity" not in estimator.get_params():
        assert result == "skipped: the method uses no graph"
    else:
        assert result == "passed"


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", slow_where_iterative(METHODS))
def test_every_method_keeps_the_contract_of_scikit_learn(name):
    """Once per class: it is about parameters, tags and shapes, which no setting changes."""
    estimator = quick(name)
    least = {"max_iter": 1, "n_init": 1, "scaling": "none"}
    estimator.set_params(**{p: least[p] for p in least.keys() & estimator.get_params().keys()})
    assert run(estimator, CONTRACT, METHODS[name].expected_failed_checks) == "passed"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("setting", "check"),
    [
        (setting, check)
        for setting, (_, expected_failed_checks) in SETTINGS.items()
        for check in expected_failed_checks
    ],
)
def test_what_a_method_is_said_to_lack_it_lacks(setting, check):
    estimator, expected_failed_checks = SETTINGS[setting]
    assert len(expected_failed_checks[check]) > 10
    with pytest.raises(AssertionError, match=f"fails the check '{check}'"):
        run(estimator, check, expected_failed_checks={})


# Base classes live in these modules.
SHARED = ("tamis.base", "tamis.selectors._")

# --- completeness -----------------------------------------------------------------------------


def selectors_in_the_package():
    found = set()
    for module in pkgutil.iter_modules(tamis.selectors.__path__):
        content = vars(importlib.import_module(f"tamis.selectors.{module.name}")).values()
        found |= {item for item in content if inspect.isclass(item) and issubclass(item, Selector)}
    found.add(tamis.auto.Auto)
    return {item for item in found if not item.__module__.startswith(SHARED)}


def test_every_selector_is_exported_and_registered_once():
    registered = [method.selector for method in METHODS.values()]
    assert len(set(registered)) == len(registered)
    assert set(registered) == selectors_in_the_package()
    exported = {getattr(tamis, name) for name in tamis.__all__}
    shared = {Selector, GraphSelector, tamis.GroupedSelector}
    assert {item for item in exported if inspect.isclass(item)} - shared == set(registered)


def test_everything_that_is_exported_exists():
    for module in (tamis, registry, tamis.testing):
        assert len(set(module.__all__)) == len(module.__all__)
        assert all(hasattr(module, name) for name in module.__all__)


def test_methods_are_found_under_their_own_name():
    assert all(name == method.name for name, method in METHODS.items())
    assert all(re.fullmatch(r"[a-z][a-z0-9_]*", name) for name in METHODS)


def test_the_table_cannot_be_changed():
    with pytest.raises(TypeError):
        METHODS["mine"] = METHODS["spec"]
    with pytest.raises(AttributeError):
        METHODS["spec"].name = "mine"


@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
def test_an_entry_says_what_there_is_to_know(method):
    families = re.findall(r'"(\w+)"', documented(Method, "Attributes")["family"])
    assert method.family in families
    assert method.prefers
    assert method.cost.startswith("O(")
    if method.family not in {"automatic", "baseline"}:
        assert re.search(r"(19|20)\d\d$", method.reference)
    assert set(method.expected_failed_checks) <= set(CHECKS)
    assert method.scaling in SCALING_WORDS


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")  # some values are at the edge
@pytest.mark.parametrize(
    ("name", "parameter", "value"),
    [
        (name, parameter, value)
        for name, method in METHODS.items()
        for parameter, values in method.tune.items()
        for value in values
    ],
)
def test_every_value_worth_trying_can_be_tried(name, parameter, value):
    X = scale(load_wine().data[::3])
    scores = quick(name, **{parameter: value}).fit(X).scores_
    assert np.isfinite(scores).all()
    assert len(np.unique(scores)) > 1


# --- look-up ----------------------------------------------------------------------------------


def test_get_finds_a_method():
    assert get("spec") is METHODS["spec"]
    assert get("spec").selector is SPEC


@pytest.mark.parametrize("look_up", [get, make])
def test_an_unknown_name_lists_the_names_there_are(look_up):
    with pytest.raises(ValueError, match="no method 'SPEC'") as caught:
        look_up("SPEC")
    assert all(name in str(caught.value) for name in METHODS)
    assert "\n" not in str(caught.value)


def test_make_passes_parameters_on():
    made = make("pca_score", n_features_to_select=3, n_components=2)
    assert type(made) is PCAScore
    assert (made.n_features_to_select, made.n_components) == (3, 2)
    assert make("random_subset") is not make("random_subset")


def test_make_refuses_parameters_the_method_does_not_have():
    with pytest.raises(TypeError, match="n_clusters"):
        make("max_variance", n_clusters=3)


@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
def test_the_method_of_a_selector_is_its_entry(method):
    assert method_of(method.selector()) is method


def test_a_class_of_your_own_has_no_entry():
    class Mine(MaxVariance):
        pass

    assert method_of(Mine()) is None


# --- documentation ----------------------------------------------------------------------------


def documented(cls, section):
    """The names in one numpydoc section of a class, and the text under each."""
    lines = inspect.getdoc(cls).splitlines()
    start = next(i for i, line in enumerate(lines) if line == section) + 2
    entries, name = {}, None
    for line, following in zip(lines[start:], [*lines[start + 1 :], ""], strict=True):
        if following and set(following) == {"-"}:
            break
        if line and not line.startswith(" "):
            name = line.split(" : ")[0]
            entries[name] = line.partition(" : ")[2]
        elif line.strip():
            entries[name] += " " + line.strip()
    return entries


@pytest.mark.parametrize("cls", [*(method.selector for method in METHODS.values()), GraphSelector])
def test_every_parameter_is_documented_in_order_with_its_default(cls):
    parameters = list(inspect.signature(cls).parameters.values())
    entries = documented(cls, "Parameters")
    assert list(entries) == [parameter.name for parameter in parameters]
    for parameter in parameters:
        default = re.search(r"default=(\S+)", entries[parameter.name])
        assert ast.literal_eval(default[1]) == parameter.default


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*the same score")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("cls", [method.selector for method in METHODS.values()])
def test_every_attribute_is_documented(cls):
    frame = pd.DataFrame(scale(load_wine().data)).rename(columns=str)
    fitted = quick(method_of(cls()).name, n_features_to_select=4).fit(frame)
    attributes = {name for name in vars(fitted) if name.endswith("_") and name[0] != "_"}
    assert set(documented(cls, "Attributes")) == attributes


@pytest.mark.parametrize("cls", [method.selector for method in METHODS.values()])
def test_every_method_has_a_cost_and_an_example(cls):
    text = inspect.getdoc(cls)
    assert "Cost: " in text
    assert f"from tamis import {cls.__name__}" in text
    assert ("References\n---" in text) == bool(method_of(cls()).reference)


def test_the_unit_interval_is_for_methods_whose_pages_advise_it():
    advised = {name for name, method in METHODS.items() if method.scaling == "columns"}
    assert advised >= {"cufs", "jdlufs", "rufs", "inffs"}
    assert METHODS["m3fs"].scaling == "standard"
    # Sparse columns are divided by their largest absolute values: zeros stay, signs too.
    found = scaled(sp.csr_array([[0.0, -4.0], [2.0, 0.0], [1.0, 2.0]]), "columns").toarray()
    np.testing.assert_array_equal(found, [[0, -1], [1, 0], [0.5, 0.5]])


def test_the_random_baseline_is_there():
    assert get("random_subset").selector is RandomSubset
    assert get("random_subset").family == "baseline"
