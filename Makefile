# Two commands do everything: `make book` and `make test`. `make help` lists the rest.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/ready
BROWSER_READY := .venv/browser-ready
MUTANTS_READY := .venv/mutants-ready
BOOK := $(BIN)/jupyter-book build . --quiet
# the full real data sets, where they lie beside the checkout; without them their tests say so
export PU_DATA_DIR ?= $(abspath $(wildcard ../shared/data))
# two workers on two cores: more threads would fight
test: export OMP_NUM_THREADS := 1

.DEFAULT_GOAL := help
.PHONY: help book test rerun serve lint bench pdf browser fuzz mutants lock clean

help:  ## list these targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "%-9s %s\n", $$1, $$2}' Makefile

book: $(READY)  ## build the book into _build/html
	$(BOOK)
	@echo "The book is built: open _build/html/index.html in a browser, or run 'make serve'."

test: $(READY)  ## unit tests, every notebook re-run and compared, the book with warnings as errors
	$(BIN)/pytest -n 2 -rs -p no:nbval --cov --cov-report=term-missing:skip-covered --cov-fail-under=95
	$(BIN)/pytest --nbval --nbval-current-env --nbval-cell-timeout=600 \
	  --nbval-sanitize-with tests/nbval_sanitize.cfg -n 2 --dist loadscope notebooks
	$(BOOK) --all -W -n --keep-going

rerun: $(READY)  ## re-execute the notebooks in place (look at the difference before you commit it)
	$(BIN)/jupyter nbconvert --to notebook --execute --inplace \
	  --ExecutePreprocessor.record_timing=False notebooks/*.ipynb

serve: book  ## show the book at http://127.0.0.1:8000
	$(BIN)/python -m http.server 8000 --bind 127.0.0.1 --directory _build/html

lint: $(READY)  ## ruff: style and common mistakes
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

bench: $(READY)  ## timings, as ratios within one run
	failed=0; for script in tests/bench/*.py; do $(BIN)/python $$script || failed=1; done; exit $$failed

pdf: book $(BROWSER_READY)  ## print the whole book into _build/html, by Chromium (must be installed)
	$(BIN)/python book/pdf.py

browser: pdf  ## look at every page, and at the PDF, in headless Chromium
	$(BIN)/pytest -n 2 -m browser tests/browser

fuzz: $(READY)  ## strange input and killed runs, ten times as much as in the tests
	ROUNDS=10 KILLS=100 OMP_NUM_THREADS=1 $(BIN)/pytest -n 2 tests/models/test_fuzz.py \
	  tests/reproduction/test_runs.py -k "fuzz or ten_kills"

mutants: $(MUTANTS_READY)  ## which small changes of the algebra and the models no test notices (hours)
	OMP_NUM_THREADS=1 $(BIN)/mutmut run
	$(BIN)/mutmut results

lock: $(READY)  ## hashes of the pins, anew, after a change of constraints.txt or pyproject.toml
	$(BIN)/python -m pip install --quiet --constraint constraints.txt uv
	$(BIN)/uv pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes \
	  --no-annotate --no-header --constraint constraints.txt --extra book --extra test --extra cluster \
	  --output-file requirements.lock pyproject.toml

clean:  ## remove the environment and everything built
	rm -rf .venv _build mutants .pytest_cache .hypothesis .ruff_cache .coverage

# Torch comes without hashes, and with it what it alone needs: which build is right differs by machine
$(READY): pyproject.toml constraints.txt requirements.lock
	@$(PYTHON) -c 'import sys; v = sys.version_info[:2]; (3, 11) <= v <= (3, 13) or sys.exit("Python 3.11, 3.12 or 3.13 is needed, this is %d.%d: name one with make PYTHON=python3.11" % v)'
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --upgrade pip  # Python brings an old one
	$(BIN)/python -m pip install --quiet --require-hashes --requirement requirements.lock
	$(BIN)/python -m pip install --quiet --constraint constraints.txt torch
	$(BIN)/python -m pip install --quiet --no-deps --editable .
	@touch $(READY)

$(MUTANTS_READY): $(READY)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[mutants]'
	@touch $(MUTANTS_READY)

$(BROWSER_READY): $(READY)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[browser]'
	@touch $(BROWSER_READY)
