# Two commands for a fresh machine: make run, make test. Everything they need is installed into .venv.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt
# uv takes a fraction of pip's time; where it cannot be had or finds less, pip does the work.
INSTALL = $(BIN)/uv pip install --quiet --compile-bytecode --python $(BIN)/python -c constraints.txt -e "$(1)" || $(PIP) -e "$(1)"
OUT ?= reproduction
# Modules are compiled once, not by each of the many processes that tests start.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo run test test-times search faults test-long test-gpu test-lowest check style types examples bench docs manuscript lab-pictures release archives test-archive format clean

$(VENV)/.run: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) uv || true
	$(call INSTALL,.[all])
	touch $@

$(VENV)/.dev: $(VENV)/.run
	$(call INSTALL,.[dev])
	touch $@

$(VENV)/.bench: $(VENV)/.run
	$(call INSTALL,.[bench])
	touch $@

# A made-up league rated and audited, with pictures, and what varying strength (a small step) and noise (a large one)
# do to a table whose strengths are known; everything is in the folder demo.
demo: $(VENV)/.run
	rm -rf demo
	$(BIN)/kinelo sample demo
	$(BIN)/kinelo rate demo/results.csv --out demo/ratings.html
	$(BIN)/kinelo audit demo/results.csv --out demo/audit.html
	sed 's/gamma = 0.05/gamma = 1.0/' studies/small-step.toml > demo/large-step.toml
	@for step in studies/small demo/large; do $(BIN)/kinelo study diagnose $$step-step.toml | grep -A 4 'Scale of'; done
	@echo "Open demo/ratings.html and demo/audit.html in a browser."

run: $(VENV)/.run
	$(BIN)/kinelo reproduce --out $(OUT) $(if $(wildcard $(OUT)),--resume)

# One process more than cores, of which four are used: tests of the browser and of servers wait for a third of their time.
# They come first (tests/conftest.py), so that no file of them is left to the end.
CORES := $(shell nproc 2>/dev/null || getconf _NPROCESSORS_ONLN)
PARALLEL := -n $(shell expr \( $(CORES) \& $(CORES) \< 5 \| 4 \) + 1) --dist loadfile --no-loadscope-reorder

# Tables are small and processes many: threads of Polars that wait for work would take a twentieth of the time.
test: $(VENV)/.dev
	OPENBLAS_NUM_THREADS=1 POLARS_MAX_THREADS=1 $(BIN)/python -m pytest $(PARALLEL)

# The same with the processor time of every test (build/test-times.json), and which files take most.
test-times: $(VENV)/.dev
	mkdir -p build
	KINELO_TEST_TIMES=$(CURDIR)/build/test-times.json PYTHONPATH=verification OPENBLAS_NUM_THREADS=1 POLARS_MAX_THREADS=1 \
	  $(BIN)/python -m pytest $(PARALLEL) -p recording

# Properties on examples that no run has tried before; `make test` tries the same ones every time.
search: $(VENV)/.dev
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest $(PARALLEL) -m "hypothesis and not long" --hypothesis-profile search

# Faults put in on purpose, and which of them no test notices; ONLY=word takes those whose file or name holds it.
# With DRAWN=200 SEED=7 they are drawn by lot from all lines of code; which tests reach a line is recorded before the first.
faults: $(VENV)/.dev
	$(if $(DRAWN),test -e $(or $(KINELO_REACH),build/reach)/coverage || $(BIN)/python verification/drawn.py --record)
	OPENBLAS_NUM_THREADS=1 $(BIN)/python verification/$(if $(DRAWN),drawn.py --drawn $(DRAWN) --seed $(or $(SEED),1),mutants.py) \
	  $(if $(ONLY),--only "$(ONLY)")

# What takes half a minute and more: runs killed at random moments, a worker out of memory, a server that dies.
test-long: $(VENV)/.dev
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -m long

# On a machine with an NVIDIA card: every combination of laws, 10⁷ matches each, and the kinetic equation.
test-gpu: $(VENV)/.dev
	$(BIN)/python tests/micro/device_agreement.py 10000000 3
	$(BIN)/python tests/macro/device_agreement.py 60 3.0

# The lowest versions that pyproject.toml declares, in an environment of their own: every module is imported, the examples of
# docstrings run (but for those that rate and the simulator of any league, whose kernels take minutes to compile), and one test
# of each package. Compiled code is stored separately, since each version of Numba writes over the others'.
LOWEST := .venv-lowest
test-lowest: $(VENV)/.dev
	$(BIN)/uv venv --quiet --allow-existing --python $(BIN)/python $(LOWEST)
	$(BIN)/python .ci/lowest.py > $(LOWEST)/requirements.txt
	$(BIN)/uv pip install --quiet --python $(LOWEST) -r $(LOWEST)/requirements.txt -e .
	NUMBA_CACHE_DIR=$(CURDIR)/$(LOWEST)/numba OPENBLAS_NUM_THREADS=1 $(LOWEST)/bin/python -m pytest -p no:cacheprovider \
	  --doctest-modules src --ignore=src/kinelo/raters --ignore=src/kinelo/advice --ignore=src/kinelo/forecasts \
	  --ignore=src/kinelo/book --ignore=src/kinelo/decisions --ignore=src/kinelo/model/results.py --ignore=src/kinelo/micro/matches.py \
	  $$(cat .ci/lowest_tests.txt)

check: style types examples

style: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

types: $(VENV)/.dev
	$(BIN)/pyright --pythonpath $(BIN)/python
	$(BIN)/python .ci/public_types.py

examples: $(VENV)/.dev
	$(BIN)/python -m pytest --doctest-modules src -o testpaths=src -p no:cacheprovider

bench: $(VENV)/.bench
	$(BIN)/python -m pytest benchmarks -p no:xdist $(if $(AREA),-k $(AREA))

docs: $(VENV)/.dev
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict

# The paper "Where Elo ratings settle" (manuscript/kinelo.pdf): computes what is missing or stale, with AGAIN=1 everything.
manuscript: $(VENV)/.dev
	OPENBLAS_NUM_THREADS=1 $(BIN)/python manuscript/make.py $(if $(AGAIN),--again)

# The pictures of the lab in docs/images, from a running lab; needs Chromium.
lab-pictures: $(VENV)/.dev
	$(BIN)/python site_tools/lab_pictures.py

# A release: every address of the project is filled in, its files install, and the source archive passes its own tests.
release: $(VENV)/.dev
	$(BIN)/python .ci/addresses.py
	$(MAKE) archives test-archive

# Wheel and source archive, each tried plain and with everything in an environment of its own.
archives: $(VENV)/.dev
	rm -rf dist build/release
	$(BIN)/python -m build --outdir dist .
	for file in dist/*.whl dist/*.tar.gz; do for extra in "" "[all]"; do \
	  echo "$$file$$extra"; \
	  rm -rf build/release && $(PYTHON) -m venv --without-pip build/release && \
	  $(BIN)/uv pip install --quiet --python build/release/bin/python -c constraints.txt "kinelo$$extra @ file://$(CURDIR)/$$file" && \
	  build/release/bin/python .ci/try_release.py $$extra || exit 1; \
	done; done
	rm -rf build/release

# The source archive in an empty folder, where nothing of this one is found, runs its tests (or those named by TESTS).
test-archive: archives
	folder=$$(mktemp -d) && trap 'rm -rf "$$folder"' EXIT && tar xzf dist/*.tar.gz -C "$$folder" --strip-components=1 && \
	  $(MAKE) -C "$$folder" VENV=.venv $(if $(TESTS),.venv/.dev,test) && \
	  { test -z "$(TESTS)" || { cd "$$folder" && .venv/bin/python -m pytest $(TESTS); }; }

format: $(VENV)/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf $(VENV) $(LOWEST) $(OUT) demo .pytest_cache .ruff_cache .hypothesis build dist site
	find src tests -name __pycache__ -prune -exec rm -rf {} +
