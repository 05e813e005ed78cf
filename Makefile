# `make demo` shows the main job on a fresh Debian or Ubuntu machine; `make test` passes the tests.
# Both install what is missing and start an engine if none runs (and stop the one they started).
SHELL := /bin/sh
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test lint types house bench images venv clean

demo: venv
	tools/with-engine tools/demo

test: venv
	tools/packages tests
	tools/with-engine sh -c '$(BIN)/runner images build && tools/run-tests'

bench: venv
	tools/with-engine sh -c '$(BIN)/runner images build && $(BIN)/python -m tests.bench'

images: venv
	tools/with-engine $(BIN)/runner images build

lint: venv
	$(BIN)/ruff check .

types: venv
	$(BIN)/mypy

house: venv
	$(BIN)/python tools/house_rules.py

venv: $(VENV)/.ready

$(VENV)/.ready: constraints.txt pyproject.toml
	tools/packages
	tools/make-venv $(VENV)
	touch $@

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis build dist
