"""What can be taken along: the columns, the selection, the report, and code that repeats it."""

from __future__ import annotations

import shlex
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from tamis import io, registry, report
from tamis.charts import recipe
from tamis.preprocessing import Selection
from tamis.studio._choice import SEED, Chosen
from tamis.studio._session import NotThereError
from tamis.studio._table import DATASET, MEMORY, OpenTable


def command_line(table: OpenTable, chosen: Chosen, output: str = "selected.csv") -> str | None:
    """The command that selects the same columns, or None if there is none."""
    decisions = chosen.decisions
    if not table.is_file or decisions.kinds:
        return None
    words = ["tamis", "select", table.name]
    options = {name: value for name, value in table.options.items() if name != "ids"}
    for name, value in options.items():
        if name == "header":
            words.append("--header" if value else "--no-header")
        else:
            words += [part for one in _listed(value) for part in (f"--{name}", str(one))]
    if decisions.method != registry.DEFAULT_METHOD:
        words += ["--method", decisions.method]
    words += ["-k", str(chosen.number)]
    if decisions.clusters is not None:
        words += ["--clusters", str(decisions.clusters)]
    for name in decisions.keep:
        words += ["--keep", name]
    for name in decisions.drop:
        words += ["--drop", name]
    if decisions.labels is not None:
        words += ["--labels", decisions.labels]
    for name in (*_listed(table.options.get("ids")), *decisions.ids):
        words += ["--id", name]
    if output:
        words += ["-o", output]
    return shlex.join(words)


def _listed(value: Any) -> list[Any]:
    return [] if value is None else list(value) if isinstance(value, list | tuple) else [value]


def python_code(table: OpenTable, chosen: Chosen) -> str:
    """Python that selects the same columns."""
    numbers = chosen.numbers
    method = registry.get(chosen.decisions.method)
    if numbers.preparation is None:
        code = _reading(table, plain=True)
        scaler = _scaler(chosen, method)
        made = recipe.python_code(chosen.model, scaler, code)
        if table.is_file:
            made += "\nnames = table.feature_names[selector.get_support()]"
        return _imports_first(made)
    decisions = chosen.decisions
    listed = list(numbers.preparation.feature_names_in_)
    kinds = f", kinds={dict(decisions.kinds)!r}" if decisions.kinds else ""
    keep = [name for name in decisions.keep if name in numbers.sources]
    fitted = recipe.python_code(chosen.model).split("\n\n", 1)
    call = next(line for line in fitted[1].splitlines() if line.startswith("selector = "))
    model = _without_listing(call.removeprefix("selector = "), chosen)
    scale = ""
    if method.scaling != "none":
        scale = (
            f"X = scaled(X, {method.scaling!r}, preparation.get_feature_names_out())\n"
            "sizes = np.array([len(made) for made in preparation.groups_.values()])\n"
            "X = X / np.sqrt(np.repeat(sizes, sizes))  # together they count as one\n"
        )
    return _imports_first(
        "import numpy as np\n\n"
        f"from tamis import {method.selector.__name__}, GroupedSelector\n"
        "from tamis.preprocessing import Preparation\n"
        "from tamis.preprocessing import scaled\n\n"
        f"{_reading(table, plain=False)}\n"
        f"chosen = {[str(name) for name in listed]!r}\n"
        f"preparation = Preparation(missing='impute'{kinds})\n"
        "X = preparation.fit_transform({name: columns[name] for name in chosen})\n"
        f"{scale}"
        "outputs = list(preparation.get_feature_names_out())\n"
        "groups = {\n"
        "    name: [outputs.index(made) for made in several]\n"
        "    for name, several in preparation.groups_.items()\n"
        "}\n"
        f"kept = {keep!r}\n"
        "selector = GroupedSelector(\n"
        f"    {model},\n"
        "    groups,\n"
        f"    n_features_to_select={chosen.number},\n"
        "    keep=[place for name in kept for place in groups[name]] or None,\n"
        ")\n"
        "selector.fit(X)\n"
        "support = selector.get_support()\n"
        "names = [name for name, places in groups.items() if support[places].any()]\n"
    )


def _imports_first(code: str) -> str:
    """The same code with its imports before all else: the standard library, others, tamis."""
    lines = code.splitlines()
    imports = dict.fromkeys(line for line in lines if line.startswith(("import ", "from ")))
    rest = "\n".join(line for line in lines if line not in imports)
    used = [line for line in imports if line.startswith("import") or _uses(rest, line)]
    parts = (
        [line for line in used if line.startswith("from types")],
        [line for line in used if line.startswith(("import numpy", "from sklearn"))],
        sorted(line for line in used if line.startswith("from tamis")),
    )
    while "\n\n\n" in rest:
        rest = rest.replace("\n\n\n", "\n\n")
    head = "\n\n".join("\n".join(part) for part in parts if part)
    return f"{head}\n\n{rest.strip()}\n"


def _uses(code: str, line: str) -> bool:
    return any(name.strip() in code for name in line.partition(" import ")[2].split(","))


def _without_listing(call: str, chosen: Chosen) -> str:
    """The call of a method without what the groups say: the number, and what is kept."""
    fresh = type(chosen.model)(
        **{
            name: value
            for name, value in chosen.model.get_params(deep=False).items()
            if name not in ("n_features_to_select", "keep", "drop")
        }
    )
    lines = recipe.python_code(fresh).splitlines()
    return next(line for line in lines if line.startswith("selector = ")).removeprefix(
        "selector = "
    )


def _reading(table: OpenTable, *, plain: bool) -> str:
    """Python that reads the table: as `X` where it is plain numbers, else as `columns`."""
    if table.name.startswith(DATASET):
        name = table.name.removeprefix(DATASET)
        code = f"from tamis import datasets\n\ndata = datasets.load({name!r})\nX = data.X\n"
        names = "data.feature_names or [f'x{j}' for j in range(X.shape[1])]"
        code += (
            "import numpy as np\n\nfrom types import SimpleNamespace\n\n"
            f"table = SimpleNamespace(feature_names=np.array({names}))"
        )
        return code if plain else f"{code}\ncolumns = dict(zip(table.feature_names, X.T))"
    if table.name == MEMORY:
        what = "X" if plain else "columns"
        return f"# {what}: the table that you opened" + ("" if plain else ", column by column")
    function = "read" if plain else "read_columns"
    given = {k: v for k, v in table.options.items() if not (plain and k == "na")}
    options = "".join(f", {name}={value!r}" for name, value in given.items())
    code = f"from tamis import io\n\ntable = io.{function}({table.name!r}{options})"
    return f"{code}\nX = table.X" if plain else f"{code}\ncolumns = table.columns"


def _scaler(chosen: Chosen, method: registry.Method) -> Any:
    from scipy.sparse import issparse

    from tamis.preprocessing import scaler_for

    return scaler_for(method.scaling, issparse(chosen.X))


def selection_of(table: OpenTable, chosen: Chosen) -> Selection:
    """What is kept, to be cut from other tables."""
    numbers = chosen.numbers
    kinds = numbers.preparation.kinds_ if numbers.preparation is not None else {}
    kept = set(chosen.kept())
    text = [name for name, kind in kinds.items() if kind in ("text", "identifier", "date")]
    aside = (*table.aside, *chosen.decisions.ids)
    labels = chosen.decisions.labels
    beside = {*aside, *text, *([] if labels is None else [labels])} - kept
    return Selection(
        kept=[name for name in numbers.sources if name in kept],
        columns={name: kinds.get(name, "number") for name in numbers.sources},
        passthrough=[name for name in table.columns if name in beside] if beside else [],
        preparation=numbers.preparation,
        method=chosen.decisions.method,
        parameters={
            name: value if value is None or isinstance(value, int | float | str) else str(value)
            for name, value in chosen.model.get_params(deep=False).items()
            if name not in ("affinity", "verbose", "n_features_to_select")
        },
    )


def _selected(table: OpenTable, chosen: Chosen, path: Path) -> bytes:
    """The kept columns, as they are, with what belongs to the rows before them."""
    cut = selection_of(table, chosen)
    names = [*cut.passthrough, *cut.kept]
    if table.raw is not None:
        io.write_columns(table.raw, names, path)
    elif table.table is not None:
        where = {name: place for place, name in enumerate(table.names)}
        io.write_table(table.table, [where[name] for name in cut.kept], path)
    else:
        held = {name: np.asarray(table.columns[name]) for name in names}
        source = path.with_name("memory")
        raw = io.RawTable(path=source, format="csv", notes=(), hints=(), aside=(), typed=held)
        io.write_columns(raw, names, path)
    return path.read_bytes()


def _file(name: str) -> Callable[[OpenTable, Chosen, Path], bytes]:
    def make(table: OpenTable, chosen: Chosen, folder: Path) -> bytes:
        with tempfile.TemporaryDirectory(dir=folder) as own:
            return _selected(table, chosen, Path(own) / name)

    return make


def _json(table: OpenTable, chosen: Chosen, folder: Path) -> bytes:
    return selection_of(table, chosen).to_json().encode()


def _python(table: OpenTable, chosen: Chosen, folder: Path) -> bytes:
    return python_code(table, chosen).encode()


def _command(table: OpenTable, chosen: Chosen, folder: Path) -> bytes:
    command = command_line(table, chosen)
    if command is None:
        raise NotThereError(
            "no command line repeats this: the table is in memory, or columns were said to hold "
            "something else; take the Python or the selection along."
        )
    return f"{command}\n".encode()


def _report(table: OpenTable, chosen: Chosen, folder: Path) -> bytes:
    numbers = chosen.numbers
    labels = table.labels
    if chosen.decisions.labels is not None:
        labels = table.column(chosen.decisions.labels)
    if labels is not None:
        labels = np.asarray(labels)[numbers.rows]
        if len(labels) != chosen.X.shape[0]:
            labels = None
    page = report.selection(
        chosen.model,
        chosen.X,
        feature_names=numbers.outputs,
        labels=labels,
        image_shape=table.image_shape if numbers.preparation is None else None,
        command=command_line(table, chosen),
        preparation=list(chosen.said),
        prepared_by=numbers.preparation,
        title=table.name,
        random_state=SEED,
    )
    return page.html.encode()


FILES: dict[str, tuple[Callable[[OpenTable, Chosen, Path], bytes], str]] = {
    "selected.csv": (_file("selected.csv"), "text/csv"),
    "selected.parquet": (_file("selected.parquet"), "application/vnd.apache.parquet"),
    "selection.json": (_json, "application/json"),
    "report.html": (_report, "text/html"),
    "command.txt": (_command, "text/plain"),
    "select.py": (_python, "text/x-python"),
}
