# Two commands for a fresh machine: make run, make test. Everything they need is installed into .venv.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt
OUT ?= reproduction

.PHONY: run test test-gpu check bench format clean

$(VENV)/.run: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) -e ".[lab]"
	touch $@

$(VENV)/.dev: $(VENV)/.run
	$(PIP) -e ".[dev]"
	touch $@

$(VENV)/.bench: $(VENV)/.run
	$(PIP) -e ".[bench]"
	touch $@

run: $(VENV)/.run
	$(BIN)/kinelo reproduce --out $(OUT) $(if $(wildcard $(OUT)),--resume)

test: $(VENV)/.dev
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist loadgroup

# On a machine with an NVIDIA card: every combination of laws, 10⁷ matches each, and the kinetic equation.
test-gpu: $(VENV)/.dev
	$(BIN)/python tests/micro/device_agreement.py 10000000 3 1
	$(BIN)/python tests/macro/device_agreement.py 60 3.0 1

check: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright --pythonpath $(BIN)/python
	$(BIN)/lint-imports
	$(BIN)/python -m pytest --doctest-modules src -o testpaths=src -p no:cacheprovider

bench: $(VENV)/.bench
	$(BIN)/python -m pytest benchmarks -p no:xdist $(if $(AREA),-k $(AREA))

format: $(VENV)/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf $(VENV) $(OUT) .pytest_cache .ruff_cache .hypothesis build dist
