# Every target sets up what it needs first; none has to be run before another.
.DEFAULT_GOAL := help
.NOTPARALLEL:

IMPL ?= reference
ARGS ?=
PY := .venv/bin/python
SUITE := .venv/bin/processor-conformance

# Whose conformance: each is a program that the suite drives over the wire, ours as well.
ifeq ($(IMPL),reference)
COMMAND := $(PY) -m processor_contract.adapter
else ifeq ($(IMPL),mastra)
COMMAND := conformance/adapters/mastra/run
FRAMEWORK := mastra
else
COMMAND := $(IMPL)
endif
export COMMAND PYTHON

# What is not the reference's core: what speaks to the world (models, stores, the adapter).
BESIDE := */adapter/*,*/models/*,*/storage*.py,*/sqlite_storage.py
LEAST := 96

.PHONY: help conformance test check lint types tests spec demo mutants coverage record record-http bench clean suite dev mastra

help: ## say what there is
	@echo 'make TARGET [IMPL=reference|mastra|"any command"] [ARGS="more arguments"] [PYTHON=python3.12]'
	@sed -n 's/^\([a-z-]*\):[^#]*## /  \1\t/p' Makefile | expand -t 16

conformance: suite $(FRAMEWORK) ## play the suite against IMPL (ARGS: see processor-conformance run --help)
	@$(SUITE) run --impl "$$COMMAND" $(ARGS)

test: lint types coverage tests ## lint, types and the project's own tests (ARGS: see pytest --help)

check: test spec conformance ## everything a change has to pass: test, the rules' coverage, conformance

lint: dev
	@$(PY) -m ruff check

types: dev
	@$(PY) -m mypy

tests: dev $(if $(shell command -v npm),mastra)
	@$(PY) -m pytest $(ARGS)

spec: suite ## the matrix of rules, scenarios and mutants; fails on a hole
	@$(SUITE) coverage

demo: suite ## three processors and a tool, as a timeline (MODEL=openai/NAME BASE_URL=http://...: a real model)
	@$(PY) examples/demo.py $(if $(MODEL),--model '$(MODEL)') $(if $(BASE_URL),--base-url '$(BASE_URL)')

mutants: dev ## break the reference in every known way and see each noticed
	@PYTHONPATH=tests $(PY) -m mutants $(ARGS)

coverage: dev ## how much of the reference's core the suite reaches through the protocol alone
	@$(PY) -m coverage run -m processor_conformance run --impl python:processor_contract.adapter:connect
	@$(PY) -m coverage report --include='reference/*' --omit="$(BESIDE)" --fail-under=$(LEAST)

record: suite $(FRAMEWORK) ## record IMPL's traces anew
	@$(SUITE) record --impl "$$COMMAND" $(ARGS)

record-http: dev ## record fixtures/cassettes anew, from a real model (compiles its server, once; ARGS=--serve: only starts it)
	@$(PY) tools/record_http.py $(ARGS)

bench: suite mastra ## the reference's speed beside the framework's
	@$(PY) bench/run.py $(ARGS)

suite dev mastra:
	@sh tools/setup $@

clean: ## remove what was installed and what the tools left
	@rm -rf .venv .venv-llama .pytest_cache .mypy_cache .ruff_cache .coverage .coverage.* dist conformance/adapters/*/node_modules \
		conformance/adapters/*/*/node_modules
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
