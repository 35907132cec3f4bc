# What one types to build, run and test Holdfast. "make" alone lists the targets.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

VERSION := $(shell git describe --always --dirty 2>/dev/null || echo unknown)
STORE ?= ./data
IMAGE ?= holdfast:$(VERSION)
FUZZTIME ?= 10s
BENCH ?= .

# Packages tested at the same time, and the longest that one package may take.
TEST_PACKAGES ?= 2
TEST_TIMEOUT ?= 40m

# The image for tests on PostgreSQL. Set it to choose one; empty: see the target test-image.
HOLDFAST_TEST_POSTGRES_IMAGE ?=

.PHONY: help
help: ## List the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/\1\t\2/' | while IFS=$$'\t' read -r target text; do printf '  make %-12s %s\n' "$$target" "$$text"; done

.PHONY: build
build: ## Build the static binary bin/metastore
	CGO_ENABLED=0 go build -trimpath -ldflags '-s -w -X main.version=$(VERSION)' -o bin/metastore ./cmd/metastore

.PHONY: run
run: build ## Build and start the server on ./data (STORE=... for another store)
	@bin/metastore serve --store '$(STORE)'

# Where a Docker Engine runs that neither has nor can pull the public image, a stand-in is built once.
.PHONY: test-image
test-image: ## Make the PostgreSQL image that the tests use, if it is needed
	@if [[ -n "$(HOLDFAST_TEST_POSTGRES_IMAGE)$${HOLDFAST_TEST_POSTGRES:-}" ]]; then exit 0; fi; \
	if ! timeout 10 docker info >/dev/null 2>&1; then exit 0; fi; \
	if docker image inspect postgres:16 >/dev/null 2>&1; then exit 0; fi; \
	if docker image inspect holdfast-postgres:stand-in >/dev/null 2>&1 || ! timeout 300 docker pull --quiet postgres:16 >/dev/null 2>&1; then \
		integration/postgres-image/build.sh >/dev/null || echo "test-image: no image; the tests look for an installed PostgreSQL"; \
	fi

.PHONY: test
test: test-image ## Run every test with the race detector; does its own set-up
	CGO_ENABLED=1 $(TEST_ENVIRONMENT) go test -race -timeout $(TEST_TIMEOUT) -p $(TEST_PACKAGES) ./...

.PHONY: test-long
test-long: test-image ## Run the tests in their long variants (hours)
	CGO_ENABLED=1 $(TEST_ENVIRONMENT) HOLDFAST_LONG=1 go test -race -timeout 6h -p $(TEST_PACKAGES) ./...

# An empty variable would be taken for an image without a name.
TEST_ENVIRONMENT = $(if $(HOLDFAST_TEST_POSTGRES_IMAGE),HOLDFAST_TEST_POSTGRES_IMAGE=$(HOLDFAST_TEST_POSTGRES_IMAGE))

.PHONY: bench
bench: test-image ## Run the benchmarks (BENCH=regexp for some of them)
	$(TEST_ENVIRONMENT) go test -run '^$$' -bench '$(BENCH)' -benchmem -timeout 2h -p 1 ./...

.PHONY: fuzz
fuzz: ## Run each fuzz target for a short time (FUZZTIME=10s)
	@grep -rlE --include='*_test.go' '^func Fuzz' . | xargs -r -n 1 dirname | sort -u | while read -r package; do \
		grep -hoE '^func Fuzz[A-Za-z0-9_]+' "$$package"/*_test.go | sed 's/^func //' | sort | while read -r target; do \
			echo "fuzz $$package $$target"; \
			go test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) "$$package" </dev/null; \
		done; \
	done

.PHONY: generate
generate: ## Generate the Go code of proto/ again
	go generate ./...

.PHONY: lint
lint: ## Check the format, and run go vet and staticcheck
	@unformatted=$$(gofmt -l .); if [[ -n $$unformatted ]]; then echo "not formatted with gofmt:"; echo "$$unformatted"; exit 1; fi
	go vet ./...
	go tool staticcheck ./...

# The CA certificates of the build host go into the image: nothing is downloaded.
.PHONY: image
image: build ## Build a minimal container image (IMAGE=holdfast:VERSION)
	@certificates=; for file in /etc/ssl/certs/ca-certificates.crt /etc/pki/tls/certs/ca-bundle.crt /etc/ssl/cert.pem; do \
		if [[ -s $$file ]]; then certificates=$$file; break; fi; \
	done; \
	if [[ -z $$certificates ]]; then echo "no CA certificates found: install the package ca-certificates" >&2; exit 1; fi; \
	context=$$(mktemp -d); trap 'rm -rf "$$context"' EXIT; \
	mkdir -p "$$context/data"; cp Dockerfile bin/metastore LICENSE "$$context/"; cp -L "$$certificates" "$$context/ca-certificates.crt"; \
	chmod 0644 "$$context/ca-certificates.crt"; \
	docker build --quiet --tag $(IMAGE) "$$context"; \
	echo "built $(IMAGE)"

.PHONY: clean
clean: ## Delete what was built (not ./data)
	rm -rf bin coverage.out
