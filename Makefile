# `make` lists the targets. Everything runs on Linux and macOS with Go, make,
# git and a C compiler (for the race detector).

GOLANGCI_VERSION := v2.15.0
GOFUMPT_VERSION  := v0.12.0

GOVULNCHECK_VERSION := v1.9.0
CYCLONEDX_VERSION   := v1.10.0
HELM_VERSION        := v3.19.5

# Each tool is built once, into a folder that carries its version. The folder
# is ignored by git. To build a tool again, remove its folder.
TOOLS    := $(CURDIR)/.tools
GOLANGCI := $(TOOLS)/golangci-lint-$(GOLANGCI_VERSION)/golangci-lint
GOFUMPT  := $(TOOLS)/gofumpt-$(GOFUMPT_VERSION)/gofumpt
CYCLONEDX := $(TOOLS)/cyclonedx-gomod-$(CYCLONEDX_VERSION)/cyclonedx-gomod
HELM     := $(TOOLS)/helm-$(HELM_VERSION)/helm
NPM      := $(TOOLS)/npm
AGENTS   := $(TOOLS)/agents
COMPARE  := $(TOOLS)/compare

GO       ?= go
BENCH    ?= .
PKG      ?= ./...
REV      ?= main
PLATFORMS ?= host
FUZZTIME ?= 60

.DEFAULT_GOAL := help
.NOTPARALLEL:

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: check
check: tidy gofumpt budget lint test race clients browser otel interactive examples fuzz-short ## everything that a change must pass
	@echo "== all checks passed"

.PHONY: fmt
fmt: $(GOFUMPT) ## format all Go files
	@$(GOFUMPT) -l -w .

.PHONY: lint
lint: $(GOLANGCI) ## run the linters
	@echo "== golangci-lint"
	@$(GOLANGCI) run ./...
	@cd otel && $(GOLANGCI) run --config ../.golangci.yml --disable depguard,gomoddirectives ./...
	@cd examples/interactive && $(GOLANGCI) run --config ../../.golangci.yml --disable depguard,gomoddirectives ./...

.PHONY: budget
budget: ## measure the weight of the tree, and fail above the ceilings in .ci/budget
	@echo "== budget"
	@$(GO) run .ci/budget.go

.PHONY: bench
bench: ## run the benchmarks; BENCH=regexp PKG=./middleware narrow it
	$(GO) test -run '^$$' -bench '$(BENCH)' -benchmem $(PKG)

.PHONY: bench-peers
bench-peers: ## measure eino, tiktoken-go and laconic; ARGS='-run clear -samples 25'
	@cd tests/peers && $(GO) test . && $(GO) run . $(ARGS)

.PHONY: compare
compare: ## compare the bill with that of what people use, on recorded conversations; ARGS="-every 4" takes a share
	@if command -v npm >/dev/null; then \
		$(MAKE) --no-print-directory $(COMPARE)/node_modules/.package-lock.json $(if $(LACONIC_DATA),,$(COMPARE)/public/fetched) && \
		cp tests/compare/peers.mjs $(COMPARE) && cd tests/compare && $(GO) test . && $(GO) run . $(ARGS); \
	else \
		echo "there is no npm, so nothing is compared: install Node.js 20 or later"; \
	fi

.PHONY: benchstat
benchstat: ## compare the benchmarks with those of REV (main), for PKG and BENCH
	@.ci/compare bench $(REV) -bench '$(BENCH)' $(PKG)

.PHONY: apidiff
apidiff: ## compare the exported names with those of REV (main)
	@.ci/compare api $(REV)

.PHONY: coverage
coverage: ## measure which lines the tests run, into the folder coverage: profile, page, badge
	@mkdir -p coverage
	@$(GO) test -short -coverpkg=./... -coverprofile=coverage/profile.txt ./... >/dev/null
	@$(GO) tool cover -html=coverage/profile.txt -o coverage/index.html
	@share=$$($(GO) tool cover -func=coverage/profile.txt | awk 'END { print $$NF }'); echo "$$share of the statements"; \
	printf '{"schemaVersion": 1, "label": "coverage", "message": "%s", "color": "brightgreen"}\n' "$$share" >coverage/badge.json

.PHONY: vuln
vuln: ## look for known vulnerabilities; their database is on the internet
	@$(GO) run golang.org/x/vuln/cmd/govulncheck@$(GOVULNCHECK_VERSION) ./...

.PHONY: fuzz
fuzz: ## run each fuzz target for FUZZTIME seconds (60)
	@GO="$(GO)" .ci/fuzz $(FUZZTIME)

.PHONY: services
services: ## test with a PostgreSQL and a Redis of its own; PKG=./store/... narrows it
	@.ci/services $(GO) test $(PKG)

.PHONY: fleet
fleet: ## test processes that share a database, which crashes, hangs and loses its connections
	@.ci/services $(GO) test -count=1 ./tests/fleet -restart

.PHONY: soak
soak: ## run the long tests, up to two hours
	@if find tests -name '*_test.go' 2>/dev/null | grep -q .; then \
		LACONIC_SOAK=1 $(GO) test -timeout 60m ./... && \
		LACONIC_SOAK=10 .ci/services $(GO) test -run Soak -timeout 60m ./tests/fleet -restart; \
	else \
		echo "no tests in tests, nothing to soak"; \
	fi

# The steps of check, in its order.

.PHONY: tidy
tidy:
	@echo "== go mod tidy"
	@$(GO) mod tidy -diff
	@cd tests/clients && $(GO) mod tidy -diff
	@cd tests/clients/frameworks && $(GO) mod tidy -diff
	@cd tests/clients/genkit && $(GO) mod tidy -diff
	@cd tests/browser && $(GO) mod tidy -diff
	@cd tests/compare && $(GO) mod tidy -diff
	@cd tests/peers && $(GO) mod tidy -diff
	@cd otel && $(GO) mod tidy -diff
	@cd examples/interactive && $(GO) mod tidy -diff

.PHONY: gofumpt
gofumpt: $(GOFUMPT)
	@echo "== gofumpt"
	@files=$$($(GOFUMPT) -l .) || exit 1; \
	if [ -n "$$files" ]; then \
		echo "$$files"; \
		echo "not formatted; run: make fmt"; \
		exit 1; \
	fi

# The linter has run go vet. LACONIC_ALL asks for all cases but those of a soak; a
# plain go test takes fewer. All are checked without the race detector,
# with which code is about ten times slower: there, -short leaves out recordings
# and other long tests of one goroutine, and checks a property with 20 random
# cases instead of 100. A binary with the detector would sleep for a second at
# its end.

# go test does not notice a variable that TestMain reads, and would take results of fewer cases from its cache: with
# -fullpath they have a place of their own.
.PHONY: test
test:
	@echo "== test"
	@LACONIC_ALL=1 $(GO) test -vet=off -fullpath ./...

.PHONY: race
race:
	@echo "== test with the race detector"
	@GORACE=atexit_sleep_ms=10 LACONIC_ALL=1 $(GO) test -vet=off -race -short -shuffle=on ./...

.PHONY: clients
clients: ## test with the clients of providers and with frameworks, of Go and of npm
	@echo "== clients"
	@cd tests/clients && $(GO) test -vet=off ./...
	@cd tests/clients/frameworks && $(GO) test -vet=off ./...
	@cd tests/clients/genkit && $(GO) test -vet=off ./...
	@if command -v npm >/dev/null; then \
		$(MAKE) --no-print-directory $(NPM)/node_modules/.package-lock.json && $(GO) test -vet=off -count=1 ./tests/npm; \
	else \
		echo "there is no npm, so its clients are not tested: install Node.js 20 or later"; \
	fi

.PHONY: agents
agents: ## run coding agents directly and through the gateway; ARGS="-agents codex,pi -calls 20" narrows it
	@echo "== coding agents"
	@if command -v npm >/dev/null; then \
		$(MAKE) --no-print-directory $(AGENTS)/node_modules/.package-lock.json && \
		LACONIC_AGENTS=1 $(GO) test -vet=off -count=1 -v -timeout 90m ./tests/agents $(ARGS); \
	else \
		echo "there is no npm, so no coding agent is run: install Node.js 20 or later"; \
	fi

.PHONY: otel
otel: ## test the module for OpenTelemetry
	@echo "== otel"
	@cd otel && $(GO) test -race ./...

.PHONY: interactive
interactive: ## test the terminal view in a pseudo terminal
	@echo "== interactive"
	@cd examples/interactive && $(GO) test -race ./...

.PHONY: browser
browser: ## test the page in Chromium; without one, the tests are skipped
	@echo "== browser"
	@cd tests/browser && $(GO) test -vet=off -count=1 ./... # what the command writes is no input that the cache knows

.PHONY: container
container: ## do the steps of the Dockerfile without Docker, and try the result
	@.ci/container

.PHONY: image
image: ## build the image with Docker or buildah, and try it without rights on a read-only root; ARGS are for the build
	@.ci/image $(ARGS)

.PHONY: helm
helm: $(HELM) ## lint the chart, render it, and compare it with the manifest
	@$(HELM) lint --strict --quiet --set secret=0123456789abcdef deploy/helm
	@$(HELM) template laconic deploy/helm --set secret=0123456789abcdef >$(TOOLS)/chart.yaml
	@LACONIC_CHART=$(TOOLS)/chart.yaml $(GO) test -vet=off -count=1 -run TestChartIsTheManifest ./tests

.PHONY: snapshot
snapshot: $(CYCLONEDX) ## build a release of this commit into dist, for this platform; PLATFORMS= for all
	@LACONIC_RELEASE=1 $(GO) test -vet=off -count=1 -run TestModule ./tests/programs
	@GO="$(GO)" CYCLONEDX=$(CYCLONEDX) .ci/release snapshot $(PLATFORMS)

.PHONY: bits32
bits32: ## test the core, the editors, the stores and wire on a 32-bit platform
	@CGO_ENABLED=0 GOARCH=386 $(GO) test -vet=off -short ./message ./tokens/... ./models ./store/... ./middleware/... ./wire

.PHONY: binaries
binaries: $(CYCLONEDX) # of a tag, for all platforms, into dist
	@GO="$(GO)" CYCLONEDX=$(CYCLONEDX) .ci/release $(VERSION)

.PHONY: release
release: ## set the versions of all modules and tag them: make release VERSION=v0.1.0 (docs/internals/release.md)
	@.ci/tag $(VERSION)

.PHONY: pictures
pictures: ## make the pictures of the documents, of the example's run, in Chromium
	@mkdir -p docs/pictures && cd tests/browser && LACONIC_PICTURES=$(CURDIR)/docs/pictures $(GO) test -vet=off -count=1 -run TestPictures .

.PHONY: examples
examples: # the command of the README
	@echo "== examples"
	@$(GO) run ./examples/react-agent
	@cd tests/clients && $(GO) run ./examples/openai-sdk && $(GO) run ./examples/anthropic-sdk

.PHONY: fuzz-short
fuzz-short:
	@echo "== fuzz"
	@GO="$(GO)" .ci/fuzz 5 15

$(NPM)/node_modules/.package-lock.json: tests/npm/package.json tests/npm/package-lock.json
	@echo "== install the clients of npm (once, a minute)"
	@mkdir -p $(NPM) && cp tests/npm/package.json tests/npm/package-lock.json $(NPM)
	@cd $(NPM) && npm ci --no-audit --no-fund --ignore-scripts --loglevel=error

$(AGENTS)/node_modules/.package-lock.json: tests/agents/package.json
	@echo "== install the coding agents (once, some minutes)"
	@mkdir -p $(AGENTS) && cp tests/agents/package.json $(AGENTS)
	@cd $(AGENTS) && npm install --no-audit --no-fund --loglevel=error

$(COMPARE)/node_modules/.package-lock.json: tests/compare/package.json tests/compare/package-lock.json
	@echo "== install what people use (once, some minutes)"
	@mkdir -p $(COMPARE) && cp tests/compare/package.json tests/compare/package-lock.json $(COMPARE)
	@cd $(COMPARE) && npm ci --omit=optional --no-audit --no-fund --ignore-scripts --loglevel=error

# A line has the hash that git has for the file, its name and its address.
$(COMPARE)/public/fetched: tests/compare/public.txt
	@echo "== fetch public conversations (once, 35 MB)"
	@mkdir -p $(@D) && while read -r hash name url; do \
		curl -fsSL --retry 3 -o "$(@D)/$$name" "$$url" && test "$$(git hash-object "$(@D)/$$name")" = "$$hash" || \
		{ echo "$$url is not there or has changed"; exit 1; }; done <$<
	@touch $@

$(GOLANGCI):
	@echo "== build golangci-lint $(GOLANGCI_VERSION) (once, a few minutes)"
	@GOBIN=$(@D) $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_VERSION)

$(GOFUMPT):
	@echo "== build gofumpt $(GOFUMPT_VERSION) (once)"
	@GOBIN=$(@D) $(GO) install mvdan.cc/gofumpt@$(GOFUMPT_VERSION)

$(HELM):
	@echo "== build helm $(HELM_VERSION) (once, some minutes)"
	@GOBIN=$(@D) $(GO) install helm.sh/helm/v3/cmd/helm@$(HELM_VERSION)

$(CYCLONEDX):
	@echo "== build cyclonedx-gomod $(CYCLONEDX_VERSION) (once)"
	@GOBIN=$(@D) $(GO) install github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@$(CYCLONEDX_VERSION)
