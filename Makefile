# `make demo` shows ArcLink at work, `make test` runs every check, `make help` lists all targets.
# You need make and Python 3.11 or later. With another interpreter: make PYTHON=python3.12 demo

PYTHON ?= python3
SHELL := /bin/sh
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.SUFFIXES:

# Tests and benchmarks start hundreds of processes: without bytecode on disk each would compile all
# imported modules again.
unexport PYTHONDONTWRITEBYTECODE

VENV := .venv
BIN := $(VENV)/bin
RUN := $(VENV)/.installed
CHECKS := $(VENV)/.installed-test
WITH_ENGINES := $(VENV)/.installed-engines
WITH_BROWSER := $(VENV)/.installed-browser

# Folder of Hadoop, Pig, Cassandra and their running clusters, not in git. With another folder:
# make ENGINES=/var/tmp/engines engines
ENGINES ?= $(CURDIR)/.engines
export ENGINES

CODE := arclink pig tests benchmarks
# Extra options for the test runner: make test PYTEST_OPTIONS="-k revisit -x"
PYTEST_OPTIONS ?=
# Number of parallel tests. Each worker imports everything again: two workers need 20 % more CPU time than one.
WORKERS ?= 2

# Only wheels, so that no package is compiled; surt is published only as source. It is built with the
# setuptools of requirements/build.txt, because pip would fetch another one without checking its hash.
INSTALL = $(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes \
          --no-build-isolation --only-binary :all: --no-binary surt
INSTALL_PROJECT = $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --config-settings editable_mode=compat --editable .

# One lock for all platforms and every Python from 3.11 on, with the hashes of all published files of a version.
COMPILE = .venv-lock/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
          --custom-compile-command 'make lock' $(LOCK_OPTIONS)
LOCK_OPTIONS ?=
# Extras that `make demo` and `make test` install, so that everything works out of the box.
LOCKED_EXTRAS := --extra analysis --extra cassandra --extra rdf

# pywb, the Wayback Machine of `make test-wayback`: it needs older packages than ArcLink. Some are published
# only as source.
PYWB := $(ENGINES)/pywb
# The package wacz, whose validator `make test-browser` uses.
WACZ := $(ENGINES)/wacz

SECTION = @printf '\n== %s\n'

# Generated data of the benchmarks, and the environment of the peers; existing files are used again.
BENCH ?= build/bench
# make bench BENCH_OPTIONS="--only growth --captures 3000 30000 300000 --write"; all of them: benchmarks/README.md
BENCH_OPTIONS ?=

DEMO := demo
# The page with most links in the demo archive with this seed; `arclink demo-archive` prints it, too.
DEMO_URI := http://www.kalvik2010.example/ceremony/opening.html

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  printf '%s\n' 'ArcLink needs Python 3.11 or later, and this is what `$(PYTHON)` is:' "$$($(PYTHON) --version 2>&1)" \
	    'Name another one: make PYTHON=/path/to/python3.12 demo' >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { \
	  printf '%s\n' 'Python could not make an environment; on Debian and Ubuntu: apt install python3-venv' >&2; rm -rf $(VENV); exit 1; }

# Python files that are compiled, like LOOPS in setup.py; compile them again after a change.
LOOPS := arclink/extract/plain_links.py arclink/extract/text_blocks.py arclink/filter/shuffle.py arclink/graph/block_links.py arclink/store/blocks/inlink_numbers.py

# If a stamp is older than its sources, packages are installed again; this is quick if nothing changed.
$(RUN): requirements/build.txt requirements/run.txt setup.cfg setup.py pyproject.toml $(wildcard arclink/native/*.pyx arclink/native/*.pxd) $(LOOPS) | $(VENV)/bin/python
	$(SECTION) 'environment in $(VENV), from the locked requirements: one to four minutes'
	@echo 'Installing the tools that compile …'
	@$(INSTALL) -r requirements/build.txt
	@echo "Installing $$(grep -c '^[a-z].*==' requirements/run.txt) packages (NumPy, Flask, pandas …) …"
	@$(INSTALL) -r requirements/run.txt
	@echo 'Compiling and installing ArcLink …'
	@$(INSTALL_PROJECT)
	@touch $@

$(CHECKS): requirements/test.txt $(RUN)
	$(SECTION) 'tools for the tests, from the locked requirements: about a minute'
	@$(INSTALL) -r requirements/test.txt
	@touch $@

# pyspark is published only as source, too, and gssapi for Linux; the script has the headers that gssapi is compiled with.
$(WITH_ENGINES): requirements/engines.txt $(CHECKS)
	$(SECTION) 'Spark, and tools for the tests of engines, from the locked requirements'
	engines/kerberos.sh with $(INSTALL) --no-binary pyspark --no-binary gssapi -r requirements/engines.txt
	@touch $@

$(WITH_BROWSER): requirements/browser.txt $(CHECKS)
	$(SECTION) 'what drives a browser, from the locked requirements'
	$(INSTALL) -r requirements/browser.txt
	@touch $@

.PHONY: help demo docs check test test-browser engines test-engines test-faults test-wayback test-proxy test-long oracles fuzz fuzz-growth bench wheels test-wheels format lock clean

help:  ## Show what make can do
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1|\2/p' Makefile | awk -F'|' '{ printf "%-18s %s\n", $$1, $$2 }'

demo: $(RUN)  ## Build the graph of a small generated archive and show the links to a page
	@rm -rf $(DEMO)/archive $(DEMO)/links.db*
	$(SECTION) 'a small archive of an invented world: $(DEMO)/archive'
	$(BIN)/arclink demo-archive --into $(DEMO)/archive --captures 300 --hosts 12 --seed 1
	$(SECTION) 'its link graph: $(DEMO)/links.db'
	$(BIN)/arclink build $(DEMO)/archive --store $(DEMO)/links.db
	$(SECTION) 'the links of a page: to which pages, from which pages, when, and with which words?'
	$(BIN)/arclink links $(DEMO_URI) --store $(DEMO)/links.db
	$(SECTION) 'what next?'
	@printf '%-19s %s\n' \
	  'Who linked to it:' '$(BIN)/arclink links $(DEMO_URI) --store $(DEMO)/links.db --direction in' \
	  'As of a day:' '$(BIN)/arclink links $(DEMO_URI) --store $(DEMO)/links.db --at 20100213' \
	  'Its captures:' '$(BIN)/arclink explain $(DEMO_URI) --store $(DEMO)/links.db' \
	  'In a browser:' '$(BIN)/arclink serve --store $(DEMO)/links.db    (then open the address it prints)' \
	  'Your own files:' '$(BIN)/arclink build FOLDER-WITH-WARC-FILES --store links.db' \
	  'All commands:' 'docs/reference/commands.md, README.md, and $(BIN)/arclink --help'

check: $(CHECKS)  ## Run the quick checks, in less than a minute: lint, types, unit tests (tests/unit_tests.py)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy $(CODE)
	ARCLINK_EXAMPLES=4 .ci/in-memory $(BIN)/python -m pytest -q -n $(WORKERS) --unit -m 'not engine and not long and not costly' $(PYTEST_OPTIONS) tests

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
	.ci/in-memory $(BIN)/python -m pytest -n $(WORKERS) -m 'not engine and not long' $(PYTEST_OPTIONS)

# One process: a browser takes a core for itself. All of them: make test-browser BROWSER_TESTS=engine.
BROWSER_TESTS ?= engine and not long
test-browser: $(WITH_BROWSER) $(PYWB)/.installed $(WACZ)/.installed  ## Run the tests of the page for people in real browsers (headless Chromium, Firefox)
	$(SECTION) 'Chromium, axe-core and ReplayWeb.page in $(ENGINES)/chromium'
	PYTHON=$(BIN)/python engines/chromium.sh install
	$(SECTION) 'Firefox: of the system, or in $(ENGINES)/firefox'
	engines/firefox.sh install
	$(SECTION) 'pytest: the page in a browser'
	$(BIN)/python -m pytest -m '$(BROWSER_TESTS)' --durations=5 $(PYTEST_OPTIONS) tests/browser

$(PYWB)/.installed: requirements/pywb.txt
	$(SECTION) 'pywb in $(PYWB), from its locked requirements'
	@$(PYTHON) -m venv $(PYWB)
	$(PYWB)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $<
	@touch $@

$(WACZ)/.installed: requirements/wacz.txt
	$(SECTION) 'the validator of WACZ files in $(WACZ), from its locked requirements'
	@$(PYTHON) -m venv $(WACZ)
	$(WACZ)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $<
	@touch $@

test-wayback: $(CHECKS) $(PYWB)/.installed  ## Run the tests that fetch from a real Wayback Machine (pywb, on this machine)
	$(SECTION) 'pytest: a real Wayback Machine'
	$(BIN)/python -m pytest -m engine tests/wayback $(PYTEST_OPTIONS)

test-proxy: $(CHECKS)  ## Run the tests of the service with a real nginx as proxy, which has to be installed
	$(SECTION) 'pytest: a real nginx'
	$(BIN)/python -m pytest -m engine tests/service/test_proxy.py $(PYTEST_OPTIONS)

oracles: $(CHECKS)  ## Compare all available real pages with the second extractor (minutes)
	ARCLINK_ALL_PAGES=1 $(BIN)/python -m pytest -n $(WORKERS) $(PYTEST_OPTIONS) tests/extract/test_oracles.py

# Seconds per target: make fuzz SECONDS=600. Findings are in .fuzz, and become tests.
SECONDS ?= 60
FUZZ_TARGETS := cdx_row warc_record html_links feed_links uri_resolution wat

fuzz: $(CHECKS)  ## Run the parsers on generated input, each for a minute; longer: make fuzz SECONDS=600
	$(INSTALL) -r requirements/fuzz.txt
	@for target in $(FUZZ_TARGETS); do \
	  printf "\n== %s, %s seconds\n" "$$target" "$(SECONDS)"; mkdir -p ".fuzz/$$target"; \
	  $(BIN)/python -m tests.fuzz $$target -max_total_time=$(SECONDS) -timeout=30 -artifact_prefix=".fuzz/$$target-" ".fuzz/$$target" || exit 1; \
	done

fuzz-growth: $(CHECKS)  ## Search for input whose cost grows faster than its size, for a minute; longer: make fuzz-growth SECONDS=600
	$(BIN)/python -m tests.fuzz.growth $(SECONDS)

$(BENCH)/venv/.installed: requirements/build.txt requirements/benchmarks.txt | $(VENV)/bin/python
	$(SECTION) 'environment of the peers in $(BENCH)/venv, from the locked requirements'
	@mkdir -p $(BENCH)
	@$(PYTHON) -m venv $(BENCH)/venv
	$(subst $(BIN),$(BENCH)/venv/bin,$(INSTALL)) -r requirements/build.txt
	$(subst $(BIN),$(BENCH)/venv/bin,$(INSTALL)) -r requirements/benchmarks.txt
	@touch $@

bench: $(RUN) $(BENCH)/venv/.installed  ## Measure ArcLink and its peers; about ten minutes on an idle machine
	$(BIN)/python -m benchmarks.run --folder $(BENCH) $(BENCH_OPTIONS)

# Some of them: make engines ONLY="hadoop cassandra".
ONLY ?= $(filter-out lib chromium firefox,$(patsubst engines/%.sh,%,$(wildcard engines/*.sh)))
# Seconds after which the installation of one engine is given up.
ENGINE_SECONDS ?= 1800
INSTALL_ENGINE = $(if $(shell command -v timeout),timeout --kill-after=10 $(ENGINE_SECONDS))

engines: $(RUN)  ## Install Hadoop, Pig, Spark, Cassandra and S3, to try a cluster on this machine; one of them: ONLY=hadoop (docs/how-to/engines.md)
	$(SECTION) 'engines in $(ENGINES)'
	@missing=; \
	for name in $(ONLY); do \
	  if [ "$$name" = spark ] && ! $(INSTALL_ENGINE) $(MAKE) $(WITH_ENGINES); then missing="$$missing $$name"; \
	  elif ! $(INSTALL_ENGINE) engines/$$name.sh install; then missing="$$missing $$name"; fi; \
	done; \
	if [ -n "$$missing" ]; then echo "engines: not installed:$$missing. The others are; again: make engines ONLY=\"$${missing# }\"" >&2; exit 1; fi

# Tests of one file run in one worker, so each worker starts an engine once; two workers use two cores.
TEST_ENGINES = ARCLINK_EXAMPLES=10 $(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --durations=15 $(PYTEST_OPTIONS)

test-engines: engines $(PYWB)/.installed  ## Run the tests that need a server: Hadoop, Pig, Spark, Cassandra, S3, EMR (moto), pywb; they start and stop it
	$(SECTION) 'pytest: engines'
	$(TEST_ENGINES) -m 'engine and not slow' tests/engines tests/wayback

test-faults: engines  ## Run the slow tests of engines: killed tasks and nodes, damaged stores, Pig on Hadoop, some fuzzing
	$(SECTION) 'pytest: engines, what takes longest'
	$(TEST_ENGINES) -m 'engine and slow' tests/engines
	$(MAKE) fuzz SECONDS=30

# Not part of CI. For a shorter run: make test-long SOAK=300.
SOAK ?= 3600

test-long: $(CHECKS)  ## Run the long tests: loss of power, failing disks, little memory, an hour of build and service together, 400 kills of streams
	$(SECTION) 'pytest: what takes long'
	ARCLINK_EXAMPLES=200 $(BIN)/python -m pytest -n $(WORKERS) $(PYTEST_OPTIONS) tests/store/test_contract.py tests/subsets/test_view.py
	ARCLINK_SOAK=$(SOAK) $(BIN)/python -m pytest -m long --durations=0 $(PYTEST_OPTIONS) tests/durability tests/captures tests/subsets tests/test_deployments.py

# The interpreters that a release has wheels for.
PYTHONS ?= python3.11 python3.12 python3.13
TOOLS := .venv-wheels

$(TOOLS)/.installed: requirements/wheels.txt
	$(SECTION) 'tools for wheels in $(TOOLS), from the locked requirements'
	@$(PYTHON) -m venv $(TOOLS)
	$(TOOLS)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes --only-binary :all: -r $<
	@touch $@

wheels: $(TOOLS)/.installed  ## Build an sdist and a manylinux wheel for each of $(PYTHONS) into dist/, and check them
	$(SECTION) 'sdist and wheels in dist/'
	.ci/wheels $(TOOLS) $(PYTHONS)

test-wheels:  ## Install each wheel of dist/ in an empty environment, and run the demo and the quick tests there
	$(SECTION) 'the wheels, away from this clone'
	.ci/try-wheels $(PYTHONS)

docs: $(CHECKS)  ## Write the reference tables of docs/ from the declarations in the code
	$(BIN)/python -m tests.reference.tables

format: $(CHECKS)  ## Format the code and apply automatic fixes
	$(BIN)/ruff check --fix-only .
	$(BIN)/ruff format .

lock:  ## Write requirements/*.txt from setup.cfg and pyproject.toml; newest versions: make lock LOCK_OPTIONS=--upgrade
	$(PYTHON) -m venv .venv-lock
	.venv-lock/bin/python -m pip install --quiet --disable-pip-version-check --upgrade uv
	.venv-lock/bin/python -c "import tomllib; print(*tomllib.load(open('pyproject.toml', 'rb'))['build-system']['requires'], sep='\n')" \
	  | $(COMPILE) - --output-file requirements/build.txt
	$(COMPILE) setup.cfg $(LOCKED_EXTRAS) --output-file requirements/run.txt
	$(COMPILE) setup.cfg $(LOCKED_EXTRAS) --extra agents --extra test --constraint requirements/run.txt --output-file requirements/test.txt
	$(COMPILE) setup.cfg $(LOCKED_EXTRAS) --extra agents --extra test --extra emr --extra kerberos --extra s3 --extra spark --extra engines --constraint requirements/test.txt --output-file requirements/engines.txt
	$(COMPILE) setup.cfg $(LOCKED_EXTRAS) --extra agents --extra test --extra browser --constraint requirements/test.txt --output-file requirements/browser.txt
	$(COMPILE) setup.cfg $(LOCKED_EXTRAS) --extra fuzz --constraint requirements/run.txt --output-file requirements/fuzz.txt
	$(COMPILE) requirements/benchmarks.in --constraint requirements/test.txt --output-file requirements/benchmarks.txt
	$(COMPILE) requirements/pywb.in --output-file requirements/pywb.txt
	$(COMPILE) requirements/wacz.in --output-file requirements/wacz.txt
	$(COMPILE) requirements/wheels.in --output-file requirements/wheels.txt

clean:  ## Remove generated files: environments, demo, caches
	rm -rf $(VENV) .engines .venv-lock $(TOOLS) $(DEMO) .fuzz build dist arclink.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
	rm -f arclink/native/*.so
	find arclink jobs service pig tests benchmarks -name __pycache__ -prune -exec rm -rf {} +
