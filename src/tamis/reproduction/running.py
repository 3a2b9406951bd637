"""Running an experiment: the available sets are swept, and what comes of it is written."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from types import MappingProxyType

from tamis import datasets
from tamis.evaluation.candidates import Candidate
from tamis.evaluation.preparation import differences
from tamis.evaluation.protocol import Protocol
from tamis.evaluation.results import Results
from tamis.evaluation.runs import selection_tasks
from tamis.evaluation.sweep import Task, sweep
from tamis.reproduction.document import Document
from tamis.reproduction.experiment import Experiment, Outcome
from tamis.reproduction.figures import require_matplotlib
from tamis.reproduction.named_sets import at_hand, wanted
from tamis.utils.files import write_atomically
from tamis.utils.messages import did_you_mean

__all__ = ["find", "names", "run"]

# Modules by experiment. They are imported when asked for: an experiment brings its methods along.
_MODULES: Mapping[str, str] = MappingProxyType(
    {
        "udfs": "tamis.reproduction.papers.udfs",
        "jelsr": "tamis.reproduction.papers.jelsr",
        "jdlufs": "tamis.reproduction.papers.jdlufs",
        "track": "tamis.reproduction.papers.track",
        "m3fs": "tamis.reproduction.papers.m3fs",
        "leaderboard": "tamis.reproduction.leaderboard",
        "fseval": "tamis.reproduction.papers.fseval",
        "auto": "tamis.reproduction.auto",
    }
)


def names() -> tuple[str, ...]:
    """The experiments there are."""
    return tuple(_MODULES)


def find(name: str) -> Experiment:
    """The experiment of that name; an error lists the names there are.

    >>> find("udfs").sets
    ('umist', 'feret', 'yaleb', 'humanid', 'isolet', 'usps')
    """
    if name not in _MODULES:
        hint = did_you_mean(name, _MODULES)
        raise ValueError(
            f"There is no experiment {name!r}{hint}; the experiments are {', '.join(_MODULES)}."
        )
    experiment: Experiment = import_module(_MODULES[name]).EXPERIMENT
    return experiment


def run(
    name: str | Experiment,
    *,
    output: Path,
    quick: bool = False,
    sets: Sequence[str] | None = None,
    n_jobs: int = 1,
    seed: int = 0,
    fresh: bool = False,
    progress: bool = True,
    candidates: Sequence[Candidate] = (),
) -> Outcome:
    """Run an experiment on the available sets, or finish it.

    Raw results are appended to ``output/NAME/results.jsonl`` as they come (the quick version has
    ``output/NAME-quick``): a run that was stopped goes on where it was. Tables and figures are made
    anew of them every time.

    Parameters
    ----------
    name : str or Experiment
        One of :func:`names`, or an experiment of your own.
    output : Path
        The folder for the results of all experiments.
    quick : bool, default=False
        Fewer sets, repeats and numbers of features.
    sets : sequence of str or None, default=None
        Only these sets of the experiment; some experiments take other sets too, even files of your
        own by their names.
    n_jobs : int, default=1
        Processes; -1 takes all cores. The results are the same for any number.
    seed : int, default=0
        Every random choice starts from it.
    fresh : bool, default=False
        Whether to discard raw results of an earlier run.
    progress : bool, default=True
        Whether to show progress, on a terminal.
    candidates : sequence of Candidate
        Who joins beside the experiment's own; the leaderboard lets them.

    Returns
    -------
    Outcome
        Tables with a verdict for every cell, and the files written: ``NAME.md`` (and
        ``NAME_by_set.md`` where there are tables by set), ``NAME.json``, figures and raw results.
    """
    experiment = find(name) if isinstance(name, str) else name
    if candidates and not experiment.takes_candidates:
        raise ValueError(
            f"{experiment.name} is a paper's own comparison, and nobody else joins it; the "
            "leaderboard takes other methods."
        )
    require_matplotlib()  # before hours of work, not after
    protocol = replace(experiment.quick_protocol if quick else experiment.protocol, seed=seed)
    sets = wanted(experiment, quick, sets)
    available = at_hand(sets)

    folder = Path(output) / (f"{experiment.name}-quick" if quick else experiment.name)
    raw = folder / "results.jsonl"
    results = sweep(
        [*experiment.tasks(available, protocol), *_tasks_of(candidates, available, protocol)],
        raw,
        header={"experiment": experiment.name, **protocol.as_dict()},
        n_jobs=n_jobs,
        progress=progress,
        time_limit=experiment.time_limit,
        limited_part=experiment.limited_part,
        fresh=fresh,
    )
    failed, finished = (_labels(results, error) for error in (True, False))
    tables = [
        table.with_failures(failed, finished).restricted(sets)
        for table in experiment.tables(results)
    ]
    document = Document(
        experiment=experiment,
        quick=quick,
        protocol=protocol,
        tables=tuple(table for table in tables if table is not None),
        figures=tuple(experiment.figures(results, folder)),
        available=tuple(available),
        absent={dataset: _advice(dataset) for dataset in sets if dataset not in available},
        differing=differences(available),
        failures=tuple(
            (dict(record.key), record.error)
            for record in results.records
            if record.error and not record.too_long
        ),
        too_long=tuple(
            (dict(record.key), record.error) for record in results.records if record.too_long
        ),
        made_with=tuple(results.made_with),
    )
    markdown, data = document.markdown(), document.data()
    printed = json.dumps(data, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    files = {
        folder / f"{experiment.name}.md": markdown,
        folder / f"{experiment.name}.json": printed,
    }
    second = document.second_markdown()
    if second is not None:
        files[folder / f"{document.second_name}.md"] = second
    for path, contents in files.items():
        write_atomically(path, contents)
    return Outcome(
        name=experiment.name,
        text=document.text(),
        markdown=markdown,
        data=data,
        files=(*files, *document.figures, raw),
        verdicts=document.verdicts,
        tables=document.tables,
    )


def _tasks_of(
    candidates: Sequence[Candidate], sets: Sequence[str], protocol: Protocol
) -> list[Task]:
    """The runs of candidates that join; the baselines are the experiment's."""
    labels = {candidate.label for candidate in candidates}
    if not labels:
        return []
    return [
        task for task in selection_tasks(sets, candidates, protocol) if task.key["label"] in labels
    ]


def _labels(results: Results, error: bool) -> dict[str, set[str]]:
    """Labels by set: of runs that failed, or of those that did not."""
    found: dict[str, set[str]] = {}
    for record in results.records:
        if (record.error is not None) == error and "set" in record.key:
            found.setdefault(record.key["set"], set()).add(str(record.key.get("label")))
    return found


def _advice(dataset: str) -> str:
    """How to get a set that is not available."""
    entry = datasets.entry(dataset)
    if entry.recipe is not None:
        return f"made of {entry.recipe.base}: {_advice(entry.recipe.base)}"
    stem = entry.files[0] if entry.files else entry.name
    fetched = f", or let tamis.datasets.load({entry.name!r}) fetch it" if entry.download else ""
    return (
        f"{entry.n_samples} × {entry.n_features}, {entry.n_classes} classes; put {stem}.npz "
        f"(or .mat, .csv) into the folder that TAMIS_DATA names{fetched}. Source: {entry.source}"
    )
