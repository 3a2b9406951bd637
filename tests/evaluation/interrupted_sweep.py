"""A sweep for test_sweep.py to kill: `python interrupted_sweep.py results.jsonl n_jobs`."""

import sys

from tamis.evaluation import Candidate, Protocol, evaluate

SETS = ("iris", "wine")
CANDIDATES = tuple(
    Candidate(f"{name} {k}", name, {"n_neighbors": k})
    for name in ("laplacian_score", "mcfs", "spec")
    for k in (3, 4, 5, 6, 7)
)
PROTOCOL = Protocol(n_features=(1, 2, 3), n_repeats=3, classifiers=("1nn",))

if __name__ == "__main__":
    evaluate(SETS, CANDIDATES, PROTOCOL, path=sys.argv[1], n_jobs=int(sys.argv[2]))
