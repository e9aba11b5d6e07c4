# Everything starts here: `make demo` to see ArcLink at work, `make test` for every check, `make help` for the rest.
# Needed: make and Python 3.11 or later. Another interpreter: make PYTHON=python3.12 demo

PYTHON ?= python3
SHELL := /bin/sh
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.SUFFIXES:

# Tests and benchmarks start hundreds of processes; without bytecode on disk each would compile all it imports anew.
unexport PYTHONDONTWRITEBYTECODE

VENV := .venv
BIN := $(VENV)/bin
RUN := $(VENV)/.installed
CHECKS := $(VENV)/.installed-test
WITH_ENGINES := $(VENV)/.installed-engines
WITH_BROWSER := $(VENV)/.installed-browser

# Where Hadoop, Pig, Cassandra and their running clusters are kept: outside git. Another place: make ENGINES=/var/tmp/engines engines
ENGINES ?= $(CURDIR)/.engines
export ENGINES

CODE := arclink jobs service pig tests benchmarks
# Extra options for the test runner: make test PYTEST_OPTIONS="-k revisit -x"
PYTEST_OPTIONS ?=
# Tests at a time. Each worker imports everything once more: two take a fifth more CPU time in all than one.
WORKERS ?= 2

# Wheels only, so that of others nothing is compiled; surt is published as source only. It is built with the setuptools of
# requirements-build.txt, because the one that pip would fetch for the build is checked against no hash.
INSTALL = $(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes \
          --no-build-isolation --only-binary :all: --no-binary surt
INSTALL_PROJECT = $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .

# One lock for every platform and every Python from 3.11 on, with the hashes of all files that are published for a version.
COMPILE = .venv-lock/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
          --custom-compile-command 'make lock' $(LOCK_OPTIONS)
LOCK_OPTIONS ?=
# Extras that `make demo` and `make test` install, so that everything works out of the box.
LOCKED_EXTRAS := --extra analysis --extra cassandra --extra rdf

# pywb, the Wayback Machine that `make test-wayback` talks to: its packages are older than ours. Some are published as source only.
PYWB := $(ENGINES)/pywb

SECTION = @printf '\n== %s\n'

# What the benchmarks generate, and the environment of those ArcLink is measured against; used again when it is there.
BENCH ?= build/bench
# make bench BENCH_OPTIONS="--only growth --captures 3000 30000 300000 --write"; all of them: benchmarks/README.md
BENCH_OPTIONS ?=

DEMO := demo
# The most talked about page of the demo archive with this seed; `arclink demo-archive` prints it too.
DEMO_URI := http://www.kalvik2010.example/ceremony/opening.html

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  printf '%s\n' 'ArcLink needs Python 3.11 or later, and this is what `$(PYTHON)` is:' "$$($(PYTHON) --version 2>&1)" \
	    'Name another one: make PYTHON=/path/to/python3.12 demo' >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { \
	  printf '%s\n' 'Python could not make an environment; on Debian and Ubuntu: apt install python3-venv' >&2; rm -rf $(VENV); exit 1; }

# Python that is compiled as it is, like LOOPS in setup.py; after a change it has to be compiled again.
LOOPS := arclink/extract/plain_links.py arclink/filter/shuffle.py arclink/graph/block_links.py arclink/store/blocks/inlink_numbers.py

# A stamp is older than what was installed from: then it is installed again, which is quick when nothing changed.
$(RUN): requirements-build.txt requirements.txt setup.cfg setup.py pyproject.toml $(wildcard arclink/native/*.pyx arclink/native/*.pxd) $(LOOPS) | $(VENV)/bin/python
	$(SECTION) 'environment in $(VENV), from the locked requirements'
	$(INSTALL) -r requirements-build.txt
	$(INSTALL) -r requirements.txt
	$(INSTALL_PROJECT)
	@touch $@

$(CHECKS): requirements-test.txt $(RUN)
	$(SECTION) 'tools for the tests, from the locked requirements'
	$(INSTALL) -r requirements-test.txt
	@touch $@

# pyspark is published as source only, too.
$(WITH_ENGINES): requirements-engines.txt $(CHECKS)
	$(SECTION) 'Spark, and tools for the tests of engines, from the locked requirements'
	$(INSTALL) --no-binary pyspark -r requirements-engines.txt
	@touch $@

$(WITH_BROWSER): requirements-browser.txt $(CHECKS)
	$(SECTION) 'what drives a browser, from the locked requirements'
	$(INSTALL) -r requirements-browser.txt
	@touch $@

.PHONY: help demo docs check test test-browser engines test-engines test-faults test-wayback test-proxy test-long oracles fuzz fuzz-growth bench format lock clean

help:  ## Show what make can do
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1|\2/p' Makefile | awk -F'|' '{ printf "%-18s %s\n", $$1, $$2 }'

demo: $(RUN)  ## Build the graph of a small made-up archive and ask it who linked to a page
	@rm -rf $(DEMO)/archive $(DEMO)/links.db*
	$(SECTION) 'a small archive of an invented world: $(DEMO)/archive'
	$(BIN)/arclink demo-archive $(DEMO)/archive --captures 300 --hosts 12 --seed 1
	$(SECTION) 'its link graph: $(DEMO)/links.db'
	$(BIN)/arclink build $(DEMO)/archive --store $(DEMO)/links.db
	$(SECTION) 'which links does a page have, who linked to it, when, and with which words?'
	$(BIN)/arclink links $(DEMO_URI) --store $(DEMO)/links.db
	$(SECTION) 'what next?'
	@printf '%-19s %s\n' \
	  'Who linked to it:' '$(BIN)/arclink links $(DEMO_URI) --store $(DEMO)/links.db --direction in' \
	  'As of a day:' '$(BIN)/arclink links $(DEMO_URI) --store $(DEMO)/links.db --at 20100213' \
	  'What became of it:' '$(BIN)/arclink explain $(DEMO_URI) --store $(DEMO)/links.db' \
	  'In a browser:' '$(BIN)/arclink serve --store $(DEMO)/links.db    (then open the address it prints)' \
	  'Your own files:' '$(BIN)/arclink build FOLDER-WITH-WARC-FILES --store links.db' \
	  'All the rest:' 'docs/commands.md, README.md, and $(BIN)/arclink --help'

# Tests of values alone: they build no archive and start no process.
CHECK_TESTS := tests/uris tests/rows tests/graph tests/access tests/federation/test_merging.py tests/federation/test_reading.py \
               tests/store/blocks tests/test_timestamps.py tests/test_layers.py

check: $(CHECKS)  ## Run the quick half of the checks, in less than a minute: lint, types, tests of values
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy $(CODE)
	ARCLINK_EXAMPLES=20 $(BIN)/python -m pytest -q -n $(WORKERS) -m 'not engine and not long' $(PYTEST_OPTIONS) $(CHECK_TESTS)

test: $(CHECKS)  ## Run every check and test that needs no server
	$(SECTION) 'ruff: rules'
	$(BIN)/ruff check .
	$(SECTION) 'ruff: layout'
	$(BIN)/ruff format --check .
	$(SECTION) 'mypy --strict: types'
	$(BIN)/mypy $(CODE)
	$(SECTION) 'codespell: spelling'
	$(BIN)/codespell
	$(SECTION) 'pytest: tests, doctests, README'
	$(BIN)/python -m pytest -n $(WORKERS) -m 'not engine and not long' $(PYTEST_OPTIONS)

# One process: a browser takes a core for itself.
test-browser: $(WITH_BROWSER)  ## Run the tests of the page for people in a real browser (headless Chromium)
	$(SECTION) 'Chromium and axe-core in $(ENGINES)/chromium'
	PYTHON=$(BIN)/python engines/chromium.sh install
	$(SECTION) 'pytest: the page in a browser'
	$(BIN)/python -m pytest -m engine --durations=5 $(PYTEST_OPTIONS) tests/browser

$(PYWB)/.installed: tests/wayback/requirements-pywb.txt
	$(SECTION) 'pywb in $(PYWB), from its locked requirements'
	@$(PYTHON) -m venv $(PYWB)
	$(PYWB)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $<
	@touch $@

test-wayback: $(CHECKS) $(PYWB)/.installed  ## Run the tests that fetch from a real Wayback Machine (pywb, on this machine)
	$(SECTION) 'pytest: a real Wayback Machine'
	$(BIN)/python -m pytest -m engine tests/wayback $(PYTEST_OPTIONS)

test-proxy: $(CHECKS)  ## Run the tests of the service behind a real nginx, which has to be installed
	$(SECTION) 'pytest: a real nginx'
	$(BIN)/python -m pytest -m engine tests/service/test_proxy.py $(PYTEST_OPTIONS)

oracles: $(CHECKS)  ## Compare every real page at hand with what the second extractor finds (minutes)
	ARCLINK_ALL_PAGES=1 $(BIN)/python -m pytest -n $(WORKERS) $(PYTEST_OPTIONS) tests/extract/test_oracles.py

# Each target for so many seconds: make fuzz SECONDS=600. What was found is in .fuzz, and becomes a test.
SECONDS ?= 60
FUZZ_TARGETS := cdx_row warc_record html_links feed_links uri_resolution wat

fuzz: $(CHECKS)  ## Feed parsers with what breaks parsers, each for a minute; longer: make fuzz SECONDS=600
	$(INSTALL) -r requirements-fuzz.txt
	@for target in $(FUZZ_TARGETS); do \
	  printf "\n== %s, %s seconds\n" "$$target" "$(SECONDS)"; mkdir -p ".fuzz/$$target"; \
	  $(BIN)/python -m tests.fuzz $$target -max_total_time=$(SECONDS) -timeout=30 -artifact_prefix=".fuzz/$$target-" ".fuzz/$$target" || exit 1; \
	done

fuzz-growth: $(CHECKS)  ## Search for input whose cost grows faster than its size, for a minute; longer: make fuzz-growth SECONDS=600
	$(BIN)/python -m tests.fuzz.growth $(SECONDS)

$(BENCH)/venv/.installed: requirements-build.txt benchmarks/requirements.txt | $(VENV)/bin/python
	$(SECTION) 'environment of the peers in $(BENCH)/venv, from the locked requirements'
	@mkdir -p $(BENCH)
	@$(PYTHON) -m venv $(BENCH)/venv
	$(subst $(BIN),$(BENCH)/venv/bin,$(INSTALL)) -r requirements-build.txt
	$(subst $(BIN),$(BENCH)/venv/bin,$(INSTALL)) -r benchmarks/requirements.txt
	@touch $@

bench: $(RUN) $(BENCH)/venv/.installed  ## Measure ArcLink beside its peers; some ten minutes on an idle machine
	$(BIN)/python -m benchmarks.run --folder $(BENCH) $(BENCH_OPTIONS)

engines: $(WITH_ENGINES)  ## Install Hadoop, Pig, Spark and Cassandra, to try a cluster on this machine (docs/engines.md)
	$(SECTION) 'engines in $(ENGINES)'
	@for script in engines/*.sh; do case $$script in engines/lib.sh | engines/chromium.sh) ;; *) $$script install || exit 1 ;; esac; done

# Tests of one file follow each other in one worker: each worker starts an engine once, and two keep two cores at work.
TEST_ENGINES = ARCLINK_EXAMPLES=10 $(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --durations=15 $(PYTEST_OPTIONS)

test-engines: engines $(PYWB)/.installed  ## Run the tests that need a server: Hadoop, Pig, Spark, Cassandra, EMR (moto), pywb; they start and stop it
	$(SECTION) 'pytest: engines'
	$(TEST_ENGINES) -m 'engine and not slow' tests/engines tests/wayback

test-faults: engines  ## Run those of them that take longest: tasks and nodes that are killed, damaged stores, Pig on Hadoop, some fuzzing
	$(SECTION) 'pytest: engines, what takes longest'
	$(TEST_ENGINES) -m 'engine and slow' tests/engines
	$(MAKE) fuzz SECONDS=30

# Outside of CI. A shorter soak: make test-long SOAK=300.
SOAK ?= 3600

test-long: $(CHECKS)  ## Run what takes long: loss of power, failing disks, little memory, an hour of build and service together
	$(SECTION) 'pytest: what takes long'
	ARCLINK_SOAK=$(SOAK) $(BIN)/python -m pytest -m long --durations=0 $(PYTEST_OPTIONS) tests/durability

docs: $(CHECKS)  ## Write the reference tables of docs/ anew, from the declarations in the code
	$(BIN)/python -m tests.reference.tables

format: $(CHECKS)  ## Lay out the code and put right what can be put right without thinking
	$(BIN)/ruff check --fix-only .
	$(BIN)/ruff format .

lock:  ## Write requirements*.txt anew from setup.cfg and pyproject.toml; newest versions: make lock LOCK_OPTIONS=--upgrade
	$(PYTHON) -m venv .venv-lock
	.venv-lock/bin/python -m pip install --quiet --disable-pip-version-check --upgrade uv
	.venv-lock/bin/python -c "import tomllib; print(*tomllib.load(open('pyproject.toml', 'rb'))['build-system']['requires'], sep='\n')" \
	  | $(COMPILE) - --output-file requirements-build.txt
	$(COMPILE) setup.cfg $(LOCKED_EXTRAS) --output-file requirements.txt
	$(COMPILE) setup.cfg $(LOCKED_EXTRAS) --extra test --constraint requirements.txt --output-file requirements-test.txt
	$(COMPILE) setup.cfg $(LOCKED_EXTRAS) --extra test --extra emr --extra s3 --extra spark --extra engines --constraint requirements-test.txt --output-file requirements-engines.txt
	$(COMPILE) setup.cfg $(LOCKED_EXTRAS) --extra test --extra browser --constraint requirements-test.txt --output-file requirements-browser.txt
	$(COMPILE) setup.cfg $(LOCKED_EXTRAS) --extra fuzz --constraint requirements.txt --output-file requirements-fuzz.txt
	$(COMPILE) benchmarks/requirements.in --constraint requirements-test.txt --output-file benchmarks/requirements.txt
	$(COMPILE) tests/wayback/requirements-pywb.in --output-file tests/wayback/requirements-pywb.txt

clean:  ## Remove what make made: environments, demo, caches
	rm -rf $(VENV) .engines .venv-lock $(DEMO) .fuzz build arclink.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
	rm -f arclink/native/*.so
	find arclink jobs service pig tests benchmarks -name __pycache__ -prune -exec rm -rf {} +
