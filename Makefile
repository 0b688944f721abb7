# Eastwind's verbs. `make help` lists them.
# Needs Python 3.11 or newer and make; everything else comes from the lock files into .venv and node_modules.

.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory
SHELL := /bin/sh
.DELETE_ON_ERROR:

PYTHON ?= $(shell command -v python3.11 || command -v python3 || echo python3)
BIN := $(CURDIR)/.venv/bin
WEB := services/gateway/web
GENERATED := libs/contracts/generated
PYTEST_ARGS ?=
# Tests wait more than they compute: three at once keep two cores busy.
PYTEST_WORKERS ?= 3
PRODUCTION_TESTS ?= tests/service tests/faults
LOCK_ARGS ?=
# `make images`. BASE_IMAGE is any Linux with that Python and a C library as new as Debian 12's.
BUILDER ?= $(shell command -v docker || command -v buildah || echo docker)
BASE_IMAGE ?= python:3.11-slim-bookworm
IMAGE_PYTHON ?= 3.11
IMAGE_MACHINE ?= $(shell uname -m | sed s/arm64/aarch64/)
IMAGE ?= localhost/eastwind
IMAGE_TAG ?= $(shell sed -n 's/^version = "\(.*\)"/\1/p' pyproject.toml)
# Tools that are built once for all clones of this user.
TOOLS ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/eastwind/tools
HELM_VERSION := v3.22.0
OUR_HELM := $(TOOLS)/helm-$(HELM_VERSION)/helm
HELM ?= $(OUR_HELM)
# `make cluster-test`: the command that takes an archive of `docker save` and loads it into every node; none: they are pulled.
CLUSTER_LOAD_IMAGE ?=
CLUSTER_DEPENDENCIES ?= $(IMAGE)-dependencies:$(IMAGE_TAG)
BENCH ?= $(patsubst tests/load/bench_%.py,%,$(wildcard tests/load/bench_*.py))
BENCH_ARGS ?=
FIRST ?= 1
SEEDS ?= 70
HANDS ?= 144

# Tools that start others by name (npm its node, buf its plugins) find ours first.
export PATH := $(BIN):$(PATH)
export PYTHONDONTWRITEBYTECODE ?= 1

# A stamp carries the hash of what it was made from, so that a second `make setup` has nothing to do, whatever the file times say.
hash = $(shell { echo $(1); cat $(1); } 2>/dev/null | cksum | tr -d ' ')
PROTO_FILES := $(shell find protos -name '*.proto' | LC_ALL=C sort)
WEB_FILES = $(shell find $(WEB) \( -name node_modules -o -name dist -o -name gen -o -name tests \) -prune -o -type f -print | LC_ALL=C sort)
PROTO_HASH := $(call hash,$(PROTO_FILES) protos/buf.gen.yaml requirements-dev.lock)
DEPS_STAMP := .venv/.stamps/dependencies-$(call hash,requirements-dev.lock)
KAFKA_STAMP := .venv/.stamps/kafka-$(call hash,requirements-kafka.lock)
BENCH_STAMP := .venv/.stamps/bench-$(call hash,requirements-bench.lock)
PROJECT_STAMP := .venv/.stamps/project-$(call hash,pyproject.toml)
PYTHON_PROTOS_STAMP := $(GENERATED)/.stamp-$(PROTO_HASH)
WEB_DEPS_STAMP := $(WEB)/node_modules/.stamp-$(call hash,$(WEB)/package-lock.json $(WEB)/package.json)
WEB_PROTOS_STAMP := $(WEB)/src/gen/.stamp-$(PROTO_HASH)
WEB_STAMP := $(WEB)/dist/.stamp-$(call hash,$(WEB_FILES))-$(PROTO_HASH)

.PHONY: help
help: ## show the verbs
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

.PHONY: setup
setup: $(PROJECT_STAMP) $(PYTHON_PROTOS_STAMP) $(WEB_STAMP) ## bring .venv, generated code and the browser client up to date
	@:

.PHONY: run
run: setup ## start everything on this machine and print the address to open
	$(BIN)/eastwind run $(RUN_ARGS)

.PHONY: test
test: setup ## run all tests but those of faults, and those that ask for more than Python (PYTEST_ARGS="-k kong" for a part)
	$(BIN)/python -m pytest -n $(PYTEST_WORKERS) --dist loadfile -m "not faults and not load and not cluster and not telemetry and not helm and not image" $(PYTEST_ARGS)
	cd $(WEB) && npm test

.PHONY: faults
faults: setup ## kill, pause and replace real processes under players (PYTEST_ARGS="-k c107" for a part)
	$(BIN)/python -m pytest -m faults --durations=0 $(PYTEST_ARGS)

# Apache Kafka takes longer to start than the embedded broker, so whoever waits for it does, too.
.PHONY: test-production
test-production: setup kafka-setup ## run the service and fault tests on Apache Kafka and Debian's Redis and PostgreSQL (PRODUCTION_TESTS=tests/faults for a part)
	EASTWIND_BACKING=production $(BIN)/python -m pytest -n $(PYTEST_WORKERS) --dist loadfile -o timeout=300 -m "not load and not cluster and not telemetry" $(PRODUCTION_TESTS) $(PYTEST_ARGS)

.PHONY: kafka
kafka: setup kafka-setup ## start Apache Kafka on this machine; Ctrl-C ends it (KAFKA_ARGS="--port 9093")
	$(BIN)/python -m deploy.kafka start $(KAFKA_ARGS)

.PHONY: kafka-setup
kafka-setup: $(KAFKA_STAMP) ## bring Java and the jars of Apache Kafka; asks for Maven
	@$(BIN)/python -m deploy.kafka fetch >/dev/null

.PHONY: helm-test
helm-test: setup $(filter $(OUR_HELM),$(HELM)) ## render the chart with a real helm and check every object (HELM=… for your own)
	HELM=$(HELM) $(BIN)/python -m pytest -n $(PYTEST_WORKERS) --dist loadfile -m helm $(PYTEST_ARGS) tests/helm

.PHONY: chart
chart: $(PROJECT_STAMP) ## write what the chart takes from elsewhere: dashboards, rules, and the tables of its README
	$(BIN)/python -m helm.generated

.PHONY: images
images: setup ## build the image of all services (BASE_IMAGE=… for another base, BUILDER=buildah); see deploy/docker
	$(BIN)/python -m deploy.docker.context --python $(IMAGE_PYTHON) --machine $(IMAGE_MACHINE)
	$(call build_image,$(IMAGE_TAG))

.PHONY: image-test
image-test: setup ## run every service in the image that `make images` built, read-only and without rights
	BUILDER=$(BUILDER) IMAGE=$(IMAGE):$(IMAGE_TAG) $(BIN)/python -m pytest -n 0 -m image $(PYTEST_ARGS) tests/image

# Two images that differ in their version alone, and one of what Eastwind needs around it; all three in one archive.
.PHONY: cluster-images
cluster-images: setup kafka-setup ## build the images of `make cluster-test` and load them (CLUSTER_LOAD_IMAGE=… says how)
	$(BIN)/python -m deploy.docker.context --python $(IMAGE_PYTHON) --machine $(IMAGE_MACHINE)
	$(call build_image,$(IMAGE_TAG)-before)
	$(call build_image,$(IMAGE_TAG)-after)
	$(BIN)/python -m tests.cluster.dependencies
	$(BUILDER) build --build-arg BASE_IMAGE=$(BASE_IMAGE) --tag $(CLUSTER_DEPENDENCIES) --file tests/cluster/Dockerfile .build/cluster/dependencies
	$(if $(CLUSTER_LOAD_IMAGE),$(BUILDER) save --output .build/cluster/images.tar $(IMAGE):$(IMAGE_TAG)-before $(IMAGE):$(IMAGE_TAG)-after $(CLUSTER_DEPENDENCIES))
	$(if $(CLUSTER_LOAD_IMAGE),$(CLUSTER_LOAD_IMAGE) .build/cluster/images.tar)

.PHONY: cluster-test
cluster-test: setup cluster-images $(filter $(OUR_HELM),$(HELM)) ## install the chart in the cluster of KUBECONFIG and disturb it under play; see tests/cluster
	HELM=$(HELM) IMAGE=$(IMAGE) CLUSTER_TAG_BEFORE=$(IMAGE_TAG)-before CLUSTER_TAG_AFTER=$(IMAGE_TAG)-after \
		CLUSTER_DEPENDENCIES=$(CLUSTER_DEPENDENCIES) $(BIN)/python -m pytest -n 0 -m cluster --durations=0 $(PYTEST_ARGS) tests/cluster

.PHONY: simulate
simulate: setup ## simulate many hands on virtual time under seeded faults (SEEDS=100 HANDS=144 FIRST=1 for other ones)
	$(BIN)/python -m tests.simulation --seed $(FIRST) --seeds $(SEEDS) --hands $(HANDS)

.PHONY: lint
lint: setup ## check style, formatting, import rules, contracts and the browser client
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-cache
	$(BIN)/buf lint protos
	cd $(WEB) && npm run --silent lint

.PHONY: types
types: setup ## check types with mypy --strict and tsc
	$(BIN)/mypy
	cd $(WEB) && npm run --silent typecheck

.PHONY: telemetry-docs
telemetry-docs: $(PROJECT_STAMP) ## write the page of metrics, the SLO rules and the dashboards from their sources
	$(BIN)/python -m libs.chassis.telemetry_contract.page deploy/docs/metrics.md
	$(BIN)/python -m deploy.prometheus.objectives deploy/prometheus/rules/slo.yaml
	$(BIN)/python -m deploy.grafana.boards deploy/grafana/dashboards
	$(BIN)/python -m helm.generated

.PHONY: telemetry-pictures
telemetry-pictures: setup ## draw the dashboards in deploy/docs/dashboards from a Prometheus that scrapes a stack under play
	EASTWIND_PICTURES=deploy/docs/dashboards $(BIN)/python -m pytest -n 0 -m telemetry tests/telemetry/test_prometheus.py

.PHONY: telemetry-test
telemetry-test: setup ## test alerts with promtool, and every query against a Prometheus that scrapes a stack under play
	$(BIN)/python -m pytest -n 0 -m telemetry $(PYTEST_ARGS) tests/telemetry

.PHONY: protos
protos: $(PYTHON_PROTOS_STAMP) $(WEB_PROTOS_STAMP) ## generate Python and TypeScript from protos/
	@:

.PHONY: web
web: $(WEB_STAMP) ## build the browser client into services/gateway/web/dist
	@:

.PHONY: bench
bench: $(PROJECT_STAMP) $(PYTHON_PROTOS_STAMP) $(BENCH_STAMP) ## measure against other people's libraries (BENCH=shapes for a part)
	@missed=0; for name in $(BENCH); do $(BIN)/python -m tests.load.bench_$$name $(BENCH_ARGS) || missed=1; done; exit $$missed

.PHONY: lock
lock: $(PROJECT_STAMP) ## resolve dependencies again and write the lock files (LOCK_ARGS=--upgrade for newer ones)
	$(call compile,requirements.lock)
	$(call compile,requirements-dev.lock,--extra local --extra dev --constraints requirements.lock)
	$(call compile,requirements-kafka.lock,--extra kafka --constraints requirements-dev.lock)
	$(call compile,requirements-bench.lock,--extra local --extra dev --extra bench --constraints requirements-dev.lock)

.PHONY: clean
clean: ## remove what was generated or built; .venv and .eastwind stay
	rm -rf $(GENERATED) $(WEB)/src/gen $(WEB)/dist .build .mypy_cache .ruff_cache .pytest_cache .hypothesis

build_image = $(BUILDER) build --build-arg BASE_IMAGE=$(BASE_IMAGE) --build-arg VERSION=$(1) \
		--build-arg REVISION=$$(git rev-parse HEAD 2>/dev/null || echo unknown) \
		--tag $(IMAGE):$(1) --file deploy/docker/Dockerfile .build/image

compile = $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate --no-header \
	--no-emit-index-url --no-emit-find-links $(LOCK_ARGS) $(2) --output-file $(1) pyproject.toml

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Eastwind needs Python 3.11 or newer; say which one with: make setup PYTHON=python3.12")'
	$(PYTHON) -m venv .venv

# The existing .venv is brought up to the lock in place. uv, taken from the same lock by hash, makes that quick. Compiled
# once here, packages need not be compiled by each process that starts.
$(DEPS_STAMP): | $(BIN)/python
	@mkdir -p $(@D)
	@awk '/^[^ ]/ { wanted = /^uv==/ } wanted' requirements-dev.lock > .venv/.stamps/uv.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r .venv/.stamps/uv.txt
	$(BIN)/uv pip install --quiet --python $(BIN)/python --compile-bytecode --require-hashes -r requirements-dev.lock
	@rm -f .venv/.stamps/dependencies-* && touch $@

$(KAFKA_STAMP): $(DEPS_STAMP)
	$(BIN)/uv pip install --quiet --python $(BIN)/python --require-hashes -r requirements-kafka.lock
	@rm -f .venv/.stamps/kafka-* && touch $@

$(BENCH_STAMP): $(DEPS_STAMP)
	$(BIN)/uv pip install --quiet --python $(BIN)/python --require-hashes -r requirements-bench.lock
	@rm -f .venv/.stamps/bench-* && touch $@

$(PROJECT_STAMP): $(DEPS_STAMP)
	$(BIN)/uv pip install --quiet --python $(BIN)/python --no-build-isolation --no-deps --offline -e .
	@rm -f .venv/.stamps/project-* && touch $@

# The version says which Kubernetes it renders for when it is not told: a plain build of the module says 1.20.
$(OUR_HELM):
	@command -v go >/dev/null || { echo "helm-test builds helm with Go 1.24 or newer, and there is none; or say HELM=/path/to/helm"; exit 1; }
	@mkdir -p $(@D)
	CGO_ENABLED=0 GOBIN=$(@D) go install -trimpath -ldflags "-s -w \
		-X helm.sh/helm/v3/pkg/chartutil.k8sVersionMajor=1 -X helm.sh/helm/v3/pkg/chartutil.k8sVersionMinor=34 \
		-X helm.sh/helm/v3/internal/version.version=$(HELM_VERSION)" helm.sh/helm/v3/cmd/helm@$(HELM_VERSION)

# Made aside and moved into place, so that nobody imports half of it.
$(PYTHON_PROTOS_STAMP): $(DEPS_STAMP)
	@rm -rf .build/protos && mkdir -p .build/protos
	$(BIN)/python -m grpc_tools.protoc -I protos --python_out=.build/protos --grpc_python_out=.build/protos \
		--mypy_out=quiet:.build/protos --mypy_grpc_out=quiet,only_async:.build/protos $(PROTO_FILES)
	@rm -rf $(GENERATED) && mv .build/protos $(GENERATED) && touch $@

$(WEB_DEPS_STAMP): $(DEPS_STAMP)
	cd $(WEB) && npm ci --no-audit --no-fund --no-update-notifier
	@touch $@

$(WEB_PROTOS_STAMP): $(WEB_DEPS_STAMP)
	$(BIN)/buf generate --template protos/buf.gen.yaml protos
	@touch $@

$(WEB_STAMP): $(WEB_PROTOS_STAMP)
	cd $(WEB) && npm run --silent typecheck && npm run --silent build
	@touch $@
