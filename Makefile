# `make demo` and `make test` need nothing but Python >= 3.11: they create .venv and install.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# One worker per core and one thread per worker: more only wait for each other.
PYTEST := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n auto --dist worksteal

.PHONY: demo check test scanpy browser coverage lint docs bench dist clean

demo: $(VENV)/.demo
	mkdir -p demo
	$(BIN)/tamis select dataset:digits --report demo/report.html
	$(BIN)/python examples/digits.py
	@echo 'Why these pixels: open demo/report.html'
	@echo 'To look and decide in a page: $(BIN)/tamis studio dataset:digits'

# For the inner loop: what is quick, of the library and its tests.
check: $(VENV)/.test
	$(PYTEST) -m 'not slow' tests src

# Everything: the slow tests, the pages and the site as well.
test: $(VENV)/.test,docs browser scanpy
	$(PYTEST)

# Beside scanpy, in an environment of its own: it needs an older pandas than the other tests have.
scanpy:
	@$(MAKE) --no-print-directory VENV=$(VENV)-scanpy $(VENV)-scanpy/.scanpy
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(VENV)-scanpy/bin/python -m pytest \
		tests/genes/test_scanpy*.py tests/test_docs.py -k 'scanpy or recipes/genes'

# Chromium for the tests of the report: installed where root can, else those tests skip.
browser:
	@tests/browser/install

# Every test, and which lines and branches none of them runs.
coverage: $(VENV)/.dev browser
	$(PYTEST) --cov --cov-report=term --cov-report=xml

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# The site, in docs/_build/html: open index.html. Offline once the tools are installed.
docs: $(VENV)/.docs
	$(BIN)/python -m sphinx -W --keep-going -j auto docs docs/_build/html

# Set TAMIS_DATA to the folder of benchmark sets; cases whose set is missing are left out. WORD=udfs
# measures the cases with that word only, WORD=threads the number of threads.
bench: $(VENV)/.bench
	$(BIN)/python -m benchmarks $(WORD)

# The wheel and the source distribution, each tested in an environment of its own.
dist: $(VENV)/.dev
	rm -rf dist
	$(BIN)/python -m build
	for file in dist/*; do $(BIN)/python tools/check_distribution.py $$file || exit 1; done

# One stamp per set of extras: an installation is repeated only when pyproject.toml changes.
$(VENV)/.%: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("tamis needs Python >= 3.11; set PYTHON=python3.11 or newer")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[$*]'
	touch $@

clean:
	rm -rf $(VENV) $(VENV)-scanpy build dist demo coverage.xml .coverage docs/_build docs/api docs/gallery
