.DEFAULT_GOAL := help
.PHONY: help build test check cover torture soak bench fidelity fuzz deps withpg

help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-9s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## the turnstone command, in bin/
	CGO_ENABLED=0 go build -trimpath -ldflags="-s -w" -o bin/ ./cmd/...

test: withpg ## all tests, on all stores (about five minutes on two cores; installs PostgreSQL where it may)
	bin/withpg scripts/test

check: ## vet, staticcheck, dead code, formatting, go.mod, architecture, builds for all systems
	scripts/check

cover: withpg ## how much of every library package the tests go through, at least 85 %
	bin/withpg scripts/cover

torture: export TURNSTONE_TORTURE := 1
torture: withpg ## the long forms of the crash and fault tests (at most 10 minutes)
	bin/withpg -bound 10m scripts/long Torture 570s

soak: export TURNSTONE_SOAK := 1
soak: withpg ## load without an end: stop it with ^C
	bin/withpg scripts/long Soak 0

bench: deps ## benchmarks, as a table and in bench/results.json; a part of them: make bench ONLY=append
	go run ./bench $(if $(ONLY),-only '$(ONLY)')

# Where the evaluator and its data are: no part of this repository.
fidelity: export FIDELITY ?= $(dir $(CURDIR))shared
fidelity: ## what summaries keep and what prompts cost on public conversations, in the folder that FIDELITY names
	scripts/fidelity

fuzz: ## every fuzz target, FUZZTIME=30s each
	scripts/fuzz

deps:
	@scripts/deps

# Built, not go run: that hands neither signals nor exit codes on.
withpg: deps
	@go build -o bin/ ./internal/pgtest/withpg
