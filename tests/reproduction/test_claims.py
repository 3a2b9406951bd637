"""What a paper says in words is counted, and only 'always' is always."""

from __future__ import annotations

import pytest

from tamis.evaluation.results import Record, Results
from tamis.reproduction.claims import Claim, claims_table, mean_of, not_below, outcomes_over


def results_of(means: dict[str, dict[int, float]], name: str = "iris") -> Results:
    """A record a label, with one measure at each number of features."""
    return Results(
        Record(
            {"set": name, "label": label, "method": "max_variance", "parameters": {}},
            [
                {"n_features": number, "measure": "kmeans_acc", "values": [mean - 0.1, mean + 0.1]}
                for number, mean in line.items()
            ],
        )
        for label, line in means.items()
    )


def first_not_below_second(numbers: tuple[int, ...], margin: float = 0.0) -> Claim:
    return Claim(
        "first not below second",
        outcomes_over(
            not_below(
                mean_of("first", "kmeans_acc", number),
                mean_of("second", "kmeans_acc", number),
                margin=margin,
            )
            for number in numbers
        ),
        ("iris",),
    )


@pytest.mark.parametrize(
    ("second", "share", "verdict"),
    [
        ({1: 0.5, 2: 0.6}, 1.0, "reproduced"),
        ({1: 0.5, 2: 0.71}, 0.5, "lower"),  # within a deviation of the figures, but it is above
        ({1: 0.9, 2: 0.9}, 0.0, "lower"),
    ],
)
def test_a_claim_holds_only_if_every_comparison_does(second, share, verdict):
    results = results_of({"first": {1: 0.5, 2: 0.7}, "second": second})
    cell = first_not_below_second((1, 2)).cell(results, "iris")
    assert cell.ours is not None
    assert cell.ours.mean == share
    assert cell.verdict == verdict


def test_a_margin_lets_a_little_pass():
    results = results_of({"first": {1: 0.5}, "second": {1: 0.52}})
    assert first_not_below_second((1,)).cell(results, "iris").verdict == "lower"
    assert first_not_below_second((1,), margin=0.03).cell(results, "iris").verdict == "reproduced"


def test_rounding_refutes_no_claim():
    results = results_of({"first": {1: 0.3}, "second": {1: 0.1 + 0.2}})
    first, second = (results.estimate("iris", label, "kmeans_acc").mean for label in results.labels)
    assert first < second
    assert first_not_below_second((1,)).cell(results, "iris").verdict == "reproduced"


def test_what_was_not_measured_is_not_counted():
    results = results_of({"first": {1: 0.5, 2: 0.7}, "second": {1: 0.4}})
    claim = first_not_below_second((1, 2, 3))
    assert claim.outcomes(results, "iris") == [True]
    assert claim.cell(results, "wine").verdict == "no data"


def test_the_table_has_cells_for_the_sets_a_claim_speaks_of_alone():
    results = results_of({"first": {1: 0.5}, "second": {1: 0.4}})
    table = claims_table(
        results, [first_not_below_second((1,))], {"iris": "Iris", "wine": "Wine"}, title="Words"
    )
    assert list(table.cells) == [("first not below second", "Iris")]
    assert table.restricted(["wine"]) is None
    assert "±" not in table.text()
