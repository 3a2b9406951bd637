"""Speed and memory against peers, measured in one run; ``make bench`` writes docs/benchmarks.md."""
