# `make demo` and `make test` work in a fresh clone: they build .venv first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test coverage benchmarks gate baseline lint docs clean

# Tests of a file stay together: what they compile or compute once, one worker does once.
PYTEST := $(BIN)/python -m pytest -n 2 --dist loadfile

# What Python has compiled is kept, whatever a machine says: reading all sources takes each process seconds.
unexport PYTHONDONTWRITEBYTECODE

# Modules are compiled when they are first imported, not all of them now: half of the time until the first table.
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet --no-compile --constraint constraints.txt

$(VENV)/usable: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(PIP) -e .
	touch $@

$(VENV)/installed: $(VENV)/usable
	$(PIP) -e '.[dev]'
	touch $@

demo: $(VENV)/usable
	$(BIN)/schedgap run eva-table4
	@$(BIN)/schedgap report runs/eva-table4 --html runs/eva-table4.html --force > /dev/null
	@echo "Open runs/eva-table4.html in a browser: gaps, times and packings of these runs. README.md says how to add a method."

test: $(VENV)/installed
	$(PYTEST) $(TESTS)

coverage: $(VENV)/installed
	$(PYTEST) --cov --cov-report=term:skip-covered

benchmarks: $(VENV)/installed
	$(BIN)/python -m pytest tests/benchmarks --benchmark-enable

GATES := ci ci-fairness ci-harvest ci-placement ci-reconfiguration ci-sharing ci-waiting

# Is any method worse than in results/? See docs/compare.md.
gate: $(VENV)/installed
	rm -rf runs/gate
	for suite in $(GATES); do \
	    $(BIN)/schedgap run $$suite --out runs/gate/$$suite && \
	    $(BIN)/schedgap compare results/$$suite runs/gate/$$suite || exit $$?; \
	done

# What is measured now is what the gate asks for from now on: read what the comparisons say, then commit results/.
baseline: $(VENV)/installed
	rm -rf runs/gate
	for suite in $(GATES); do \
	    $(BIN)/schedgap run $$suite --out runs/gate/$$suite --jobs 1 || exit $$?; \
	    $(BIN)/schedgap compare results/$$suite runs/gate/$$suite --fail-on none; \
	    mkdir -p results/$$suite && cp runs/gate/$$suite/journal.jsonl runs/gate/$$suite/plan.json results/$$suite/; \
	done

# All that CI asks of the sources.
lint: $(VENV)/installed
	.ci/lint $(BIN)

# The pages of docs/ and the API as a site in build/site; a warning is an error.
docs: $(VENV)/installed
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

clean:
	rm -rf $(VENV) build dist *.egg-info
