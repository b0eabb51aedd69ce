# `make demo` and `make test` work in a fresh clone: they build .venv first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test benchmarks gate baseline lint clean

$(VENV)/installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet -e '.[dev]'
	touch $@

demo: $(VENV)/installed
	$(BIN)/schedgap run eva-table4

test: $(VENV)/installed
	$(BIN)/python -m pytest -n 2

benchmarks: $(VENV)/installed
	$(BIN)/python -m pytest tests/benchmarks --benchmark-enable

# Is any method worse than in results/ci? See docs/compare.md.
gate: $(VENV)/installed
	rm -rf runs/gate
	$(BIN)/schedgap run ci --out runs/gate
	$(BIN)/schedgap compare results/ci runs/gate

# What is measured now is what the gate asks for from now on: read what the comparison says, then commit results/ci.
baseline: $(VENV)/installed
	rm -rf runs/gate
	$(BIN)/schedgap run ci --out runs/gate --jobs 1
	-$(BIN)/schedgap compare results/ci runs/gate --fail-on none
	mkdir -p results/ci
	cp runs/gate/journal.jsonl runs/gate/plan.json results/ci/

lint: $(VENV)/installed
	$(BIN)/ruff check . && $(BIN)/ruff format --check .
	$(BIN)/lint-imports

clean:
	rm -rf $(VENV) build dist *.egg-info
