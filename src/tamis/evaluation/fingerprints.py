"""What a run depends on, in a few letters: contents of values, and the code of classes."""

from __future__ import annotations

import functools
import hashlib
import inspect
import json
import pickle
import sys
from collections.abc import Mapping
from types import CodeType, FunctionType, MethodType
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from tamis.utils.sparse import canonical_csr, is_sparse

__all__ = ["class_description", "description", "digest", "is_plain", "json_value"]

# Packages whose versions are told elsewhere: what a class inherits from them is not looked into.
_STEADY = frozenset({*sys.stdlib_module_names, "numpy", "scipy", "sklearn", "tamis"})


def digest(*parts: Any) -> str:
    """Sixteen letters for parts whose ``repr`` tells all of them."""
    return hashlib.blake2b(repr(parts).encode(), digest_size=8).hexdigest()


def is_plain(value: Any) -> bool:
    """Whether ``repr`` tells all of a value: numbers, text, None, and lists and tuples of these."""
    if isinstance(value, tuple | list):
        return all(map(is_plain, value))
    return value is None or isinstance(value, bool | int | float | str | np.number | np.bool_)


def json_value(value: Any) -> Any:
    """A value as JSON has it: itself, or its type and its contents in a few letters."""
    try:
        json.dumps(value)
    except (TypeError, ValueError):
        return f"{type(value).__name__} {digest(description(value))}"
    return value


def description(value: Any) -> Any:
    """A value as something whose ``repr`` tells all of it, in this process and in the next.

    Arrays, sparse matrices and frames are told by the SHA-256 of what they hold, functions and
    classes by their source, objects by their class and attributes.
    """
    return _describe(value, frozenset())


def class_description(cls: type) -> Any:
    """A class by its name and its source, and those of its bases outside tamis and its libraries.

    Functions that it calls elsewhere are not looked into.
    """
    return _class(cls, frozenset())


def _describe(value: Any, above: frozenset[int]) -> Any:
    if is_plain(value):
        return value
    if id(value) in above:
        return "itself"
    above |= {id(value)}
    if isinstance(value, list | tuple):
        return [_describe(one, above) for one in value]
    if isinstance(value, Mapping):
        pairs = [(_describe(k, above), _describe(v, above)) for k, v in value.items()]
        return sorted(pairs, key=repr)
    if isinstance(value, set | frozenset):
        return sorted((_describe(one, above) for one in value), key=repr)
    if isinstance(value, np.ndarray):
        return _array(value, above)
    if is_sparse(value):
        return _sparse(value)
    if nw.dependencies.is_into_dataframe(value):
        frame = nw.from_native(value, eager_only=True)
        return [(name, _describe(frame[name].to_numpy(), above)) for name in frame.columns]
    if nw.dependencies.is_into_series(value):
        return _describe(nw.from_native(value, series_only=True).to_numpy(), above)
    return _object(value, above)


def _array(value: NDArray[Any], above: frozenset[int]) -> Any:
    if value.dtype.hasobject:
        return ("array", value.shape, _describe(value.tolist(), above))
    contents = hashlib.sha256(value.tobytes()).hexdigest()
    return ("array", value.shape, value.dtype.str, contents)


def _sparse(value: Any) -> Any:
    table = canonical_csr(value)
    contents = hashlib.sha256()
    for part in (table.indptr.astype(np.int64), table.indices.astype(np.int64), table.data):
        contents.update(part.tobytes())
    return ("sparse", table.shape, table.dtype.str, contents.hexdigest())


def _object(value: Any, above: frozenset[int]) -> Any:
    if isinstance(value, type):
        return _class(value, above)
    if isinstance(value, FunctionType):
        return _function(value, above)
    if isinstance(value, MethodType):
        return [_function(value.__func__, above), _describe(value.__self__, above)]
    if isinstance(value, functools.partial):
        return [_describe(part, above) for part in (value.func, value.args, value.keywords)]
    if isinstance(value, np.random.RandomState):
        return _describe(value.get_state(legacy=False), above)
    if isinstance(value, np.random.Generator):
        return _describe(value.bit_generator.state, above)
    if hasattr(value, "get_params"):
        return [_class(type(value), above), _describe(value.get_params(deep=False), above)]
    if hasattr(value, "__dict__"):
        return [_class(type(value), above), _describe(vars(value), above)]
    try:
        return [_name(type(value)), hashlib.sha256(pickle.dumps(value)).hexdigest()]
    except Exception:  # whatever an object raises that cannot be stored
        return repr(value)


def _class(cls: type, above: frozenset[int]) -> Any:
    above |= {id(cls)}
    described = []
    for one in cls.__mro__:
        if one is not cls and one.__module__.partition(".")[0] in _STEADY:
            continue
        # Two classes of one name in one file have each its own methods, but one source to inspect.
        methods = [
            _function(method, above)
            for _, member in sorted(vars(one).items())
            if isinstance(method := _bare(member), FunctionType)
        ]
        described.append((_name(one), _source(one), methods))
    return described


def _bare(member: Any) -> Any:
    """The function inside a property, a class method or a static one."""
    if isinstance(member, property):
        return member.fget
    return getattr(member, "__func__", member)


def _function(function: Any, above: frozenset[int]) -> Any:
    bare: Any = inspect.unwrap(function)
    if not isinstance(bare, FunctionType):
        return _name(bare)
    above |= {id(bare)}
    names = bare.__code__.co_freevars
    enclosed = [
        (name, _cell(cell, above))
        for name, cell in zip(names, bare.__closure__ or (), strict=True)
        if name != "__class__"
    ]
    defaults = [_describe(part, above) for part in (bare.__defaults__, bare.__kwdefaults__)]
    return (_name(bare), _source(bare) or _code(bare.__code__), enclosed, defaults)


def _cell(cell: Any, above: frozenset[int]) -> Any:
    try:
        return _describe(cell.cell_contents, above)
    except ValueError:  # not filled yet
        return "empty"


def _source(thing: Any) -> str:
    try:
        return inspect.getsource(thing)
    except (OSError, TypeError):  # typed at a prompt, or made by a program
        return ""


def _code(code: CodeType) -> Any:
    """What a function does, where there is no source of it."""
    constants = [_code(one) if isinstance(one, CodeType) else repr(one) for one in code.co_consts]
    return (code.co_code.hex(), code.co_names, code.co_varnames, constants)


def _name(thing: Any) -> str:
    module = getattr(thing, "__module__", "")
    return f"{module}.{getattr(thing, '__qualname__', type(thing).__name__)}"
