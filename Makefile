# Two commands: `make verify` and `make test`. Both make .venv once, from pinned versions.
PYTHON ?= python3
VENV   ?= .venv
EXTRAS ?= test,simulate,figures,data
BIN    := $(VENV)/bin

.PHONY: verify test lint docs bench clean

verify: $(VENV)/.ready
	$(BIN)/theoryverify check lca --preset quick --report report --html report

test: $(VENV)/.ready
	$(BIN)/pytest -n auto --dist worksteal

lint: $(VENV)/.ready
	$(BIN)/pip install -q -c constraints.txt ruff mypy
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

docs: $(VENV)/.ready  # the site, in site/; with the standing that the last `make verify` found
	$(BIN)/pip install -q -c constraints.txt -e ".[docs]"
	$(BIN)/mkdocs build --quiet --strict

bench: $(VENV)/.ready
	for file in benchmarks/bench_*.py; do $(BIN)/python $$file || exit 1; done

$(VENV)/.ready: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Python 3.11 or later is needed; this is `$(PYTHON) --version`. Set PYTHON=..."; exit 2; }
	@$(PYTHON) -m venv $(VENV) || \
	  { echo "could not make a virtual environment; on Debian or Ubuntu: apt install python3-venv"; exit 2; }
	$(BIN)/pip install -q -c constraints.txt -e ".[$(EXTRAS)]"
	touch $@

clean:
	rm -rf $(VENV) site report build dist *.egg-info
