PYTHON ?= python3
BIN := .venv/bin

.DEFAULT_GOAL := help
.PHONY: help setup demo test check api bench reproduce soak slice clean

help:  ## Print this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: .venv/.stamp  ## Make .venv with everything Skerry needs, and look for Java and an MQTT broker

demo: setup  ## Run the traffic demo on Spark; DEMO_SECONDS=30 makes it stop by itself
	$(BIN)/skerry demo traffic $(if $(DEMO_SECONDS),--seconds $(DEMO_SECONDS))

test: setup  ## Run the tests
	$(BIN)/pytest -m "not soak" -n 2 --dist loadgroup

check: setup  ## Look at format, lint, types, import layers and doctests
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/pytest --doctest-modules src
	$(MAKE) api

api: setup  ## Write the API reference into build/api, from docstrings
	$(BIN)/python scripts/api_reference.py build/api

bench: setup  ## Measure, as ratios taken side by side in one run
	$(BIN)/skerry bench

reproduce: setup  ## Draw the papers' figures again and say which claims hold
	$(BIN)/skerry reproduce

soak: setup  ## Run the tests that take long: first those that need the machine for themselves
	$(BIN)/pytest -m "soak and whole"
	$(BIN)/pytest -m "soak and not whole" -n 2 --dist loadgroup

slice: setup  ## Run fifteen minutes of those, drawn anew for every commit (SLICE=text draws another)
	$(BIN)/pytest -m soak --slice "$(or $(SLICE),$(shell git rev-parse HEAD))"

clean:  ## Remove .venv, caches and build products; answers and projects stay
	rm -rf .venv build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache src/*.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# The stamp is written last, so that a failed installation is tried again.
.venv/.stamp: pyproject.toml constraints.txt
	@scripts/java-check
	@scripts/broker-check
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || \
		{ echo "error: $(PYTHON) is missing or older than 3.11; name a newer one: make PYTHON=python3.11 setup" >&2; exit 1; }
	@echo "Installing into .venv: a minute or two, once"
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@echo "Compiling kernels for this user: half a minute, once"
	@$(BIN)/skerry doctor --prepare > /dev/null || echo "not prepared; $(BIN)/skerry doctor says why. The first runs compile what they need"
	@touch $@
