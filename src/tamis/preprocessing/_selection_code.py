"""A selection as a few lines of pandas."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tamis.preprocessing._selection import Selection


def pandas_code(selection: Selection) -> str:
    """Python that makes `small`, the kept columns as numbers, of `table`, a frame of pandas."""
    if selection.preparation is None:
        return f"small = table[{list(selection.kept)!r}].astype(float)\n"
    form = selection.preparation.to_dict()
    _check(selection, form)
    numbers = [name for name in form["readings"] if form["kinds"][name] != "category"]
    categories = [name for name in form["readings"] if form["kinds"][name] == "category"]
    imputes = form["parameters"]["missing"] == "impute"
    lines = ["import pandas as pd", ""]
    if form["parameters"]["missing"] == "drop-rows":
        lines.append(f"table = table.dropna(subset={list(form['readings'])!r})")
    lines.append("small = pd.DataFrame(index=table.index)")
    for name in selection.kept:
        if form["kinds"][name] == "category":
            usual = form["usual_levels"][categories.index(name)]
            lines += _category(name, form, usual if imputes else None)
        else:
            values = f"table[{name!r}]"
            if form["kinds"][name] == "boolean":
                values = _truth(values, form["readings"][name])
            filled = ""
            if imputes:
                filled = f".fillna({form['imputation']['typical'][numbers.index(name)]!r})"
            lines.append(f"small[{form['groups'][name][0]!r}] = {values}.astype(float){filled}")
    return "\n".join(lines) + "\n"


def _check(selection: Selection, form: dict[str, Any]) -> None:
    """Refuse what takes more than a few lines."""
    kinds = form["kinds"]
    imputation = form["imputation"]
    written = [
        name
        for name in selection.kept
        if kinds[name] == "number"
        and form["readings"][name]["notation"] != {"comma": "none", "symbols": False}
    ]
    if imputation is not None and imputation["low_rank"] is not None:
        what = "gaps are filled by what the other columns tell"
    elif form["parameters"]["scaling"] != "none":
        what = "the columns are scaled"
    elif any(kinds[name] == "date" for name in selection.kept):
        what = "dates become cycles"
    elif written:
        what = f"the numbers of {written[0]!r} are written with commas or signs"
    else:
        return
    raise ValueError(
        f"{what}, which takes more than a few lines of pandas; use to_pipeline() or `tamis apply`."
    )


def _truth(values: str, reading: dict[str, str]) -> str:
    """Words for true and false, and truth values themselves, as 1 and 0."""
    words = {reading["true"]: 1.0, reading["false"]: 0.0, "1": 1.0, "0": 0.0}
    words |= {"true": 1.0, "false": 0.0, "1.0": 1.0, "0.0": 0.0}
    return f"{values}.astype('object').map(lambda value: {words!r}.get(str(value).lower()))"


def _category(name: str, form: dict[str, Any], usual: int | None) -> list[str]:
    """A column of 0 and 1 for each level, and one for the rare levels."""
    reading, outputs = form["readings"][name], form["groups"][name]
    together: list[list[str]] = [[level] for level in reading["levels"]]
    if reading["rare"]:
        together.append(reading["rare"])
    lines = []
    for place, (output, levels) in enumerate(zip(outputs, together, strict=True)):
        is_level = f"table[{name!r}].astype('object').isin({levels!r})"
        if usual == place:
            is_level = f"({is_level} | table[{name!r}].isna())"
        lines.append(f"small[{output!r}] = {is_level}.astype(float)")
    return lines
