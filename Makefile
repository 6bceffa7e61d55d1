# redsi: from a bare machine to a rebuilt table. `make help` lists the targets, docs/toolchain.md explains the parts.
#
# Native parts lie in REDSI_DEPS (default: redsi in the user's cache folder), one folder per part and version, and are
# shared by all clones. All CGO_* strings are set here, once: Go's build cache keys on them, so a changed string means
# compiling gotch again (about 90 s). They name folders of REDSI_DEPS only, so that clones share that cache too.

include tools/versions.mk

GO       ?= go
TIMEOUT  ?= 30m
# Parts compiled side by side; gotch's one large C++ file, which keeps a single core busy, is compiled beside them.
JOBS     ?= 2
PKGS     ?= ./...
# The paper's pipeline on a generated corpus, with models of a few thousand parameters; its tables that need no models.
TOY := --var scale=toy
FIRST := -t table.dedup_counts -t table.nq_document_collections_splits
# The tests. What takes longest comes first, and more runs at once than there are cores, since much of it waits. Vet has
# been by then. libtorch has one thread where a test does not say how many, and garbage is collected later.
TESTS      := OMP_NUM_THREADS=1 GOGC=400 $(GO) test -vet=off $(if $(DEBUG),,-ldflags=-w) -p 4 -parallel 4 -timeout $(TIMEOUT)
LONGEST    := ./internal/cli ./tools/docs ./kinds ./worker ./tools/chaos ./internal/model/train/fit
# What `make bench` runs; each line replaces its rows in bench/rows.jsonl, and the table in docs/performance.md is written anew.
BENCH      ?= $(GO) run ./bench
# What `make chaos` does. ROUND=n repeats one round; rounds that are in OUT already are not done again.
SEED       ?= 1
ROUNDS     ?= 100
PARALLEL   ?= 2
OUT        ?= bin/chaos.jsonl
# What `make simulate` plays: so many seeds, from one on. ONE=n plays one alone and prints its history.
SEEDS      ?= 10000
FROM       ?= 0
# What `make race` tests: all that is linked without gotch, which would be compiled once more for it.
# Those where things go on at once are enough for each change.
RACE       ?= $$(all=$$($(GO) list -test -f '{{.ImportPath}} {{.Deps}}' ./...) || exit 1; echo "$$all" | grep '\.test ' | \
	grep -v -e sugarme/gotch | sed 's/\.test .*//' | grep -v -e /internal/cli$$ -e /tools/chaos$$)
CONCURRENT := ./activities ./artifacts ./internal/stores/... ./step ./workflows ./worker \
	$(addprefix ./internal/,session/livegraph corpora/fetch model/subword ranking/search/... system/atomicfile) \
	$(addprefix ./internal/host/,capacity command compute cores devserver lease payload scratch secret telemetry) \
	$(addprefix ./internal/pipeline/,lockfile lsp modules)
# Checkers, pinned in a go.mod of their own, gofmt of the Go that compiles, and the programs that deadcode begins at.
CHECKER    := $(GO) tool -modfile=tools/check/go.mod
GOFMT      := "$$($(GO) env GOROOT)/bin/gofmt"
PROGRAMS   := ./cmd/redsi ./cmd/redsi-models ./bench ./tools/...
# How long `make fuzz` tries each target.
FUZZTIME   ?= 1m
# Where redsi is compiled and vetted for, besides here.
CROSS      := linux/arm64 darwin/arm64 darwin/amd64 windows/amd64

# The revision that results record and `redsi doctor` shows, the release, and what redsi-models is built against; never part
# of a key.
RELEASE   := $(shell sed -n 's/^__version__ = "\(.*\)"/\1/p' python/redsi/__init__.py)
REVISION   = github.com/redsi/redsi/internal/host/revision
LDFLAGS    = -ldflags "$(if $(DEBUG),,-s -w )-X $(REVISION).version=$(VERSION) -X $(REVISION).release=$(RELEASE) -X $(REVISION).Libtorch=$(LIBTORCH_VERSION)"

OS       := $(shell uname -s | tr A-Z a-z)
ARCH     := $(subst x86_64,amd64,$(subst aarch64,arm64,$(shell uname -m)))
PLATFORM := $(OS)-$(ARCH)

ifeq ($(OS),darwin)
  CACHE  := $(HOME)/Library/Caches
  CXXGCC :=
  NEWDTAGS :=
  TAGS   :=
else
  CACHE  := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)
  # gotch asks for -g -O3, after all flags that are given here. -gtoggle takes the 50 MB of debugging symbols back, the
  # specs the optimization of what only calls libtorch.
  CXXGCC  = -gtoggle -specs=$(GOTCH)/quick.specs
  # RUNPATH, not RPATH: LD_LIBRARY_PATH can then put another libtorch in front, 2.11 or 2.12.
  NEWDTAGS := -Wl,--enable-new-dtags
  # The packages net and os/user without C, also in redsi-models and in tests. Else all that imports them, such as Temporal's
  # SDK, would be compiled twice: for redsi without cgo, and for the others with it.
  TAGS   := netgo,osusergo
endif
REDSI_DEPS ?= $(CACHE)/redsi
override REDSI_DEPS := $(abspath $(subst $() ,?,$(strip $(REDSI_DEPS))))

LIBTORCH   := $(REDSI_DEPS)/libtorch/$(LIBTORCH_VERSION)-$(PLATFORM)
GOTCH      := $(REDSI_DEPS)/gotch/$(GOTCH_VERSION)-$(GOTCH_SHIM)-$(PLATFORM)
TOKENIZERS := $(REDSI_DEPS)/tokenizers/$(TOKENIZERS_VERSION)-$(PLATFORM)
# The program is ours, so its folder's name has a sum of its sources but tests: no clone uses another's.
SERVER_SUM := $(shell find tools/temporal-server -name '*.go' ! -name '*_test.go' -o -name go.mod | LC_ALL=C sort | xargs cat | cksum | cut -d " " -f 1)
server = $(REDSI_DEPS)/temporal-server/$(TEMPORAL_SERVER_VERSION)-$(SERVER_SUM)-$(1)
TEMPORAL_SERVER := $(call server,$(PLATFORM))
MINIO      := $(REDSI_DEPS)/minio/$(MINIO_VERSION)-$(PLATFORM)
VERSITYGW  := $(REDSI_DEPS)/versitygw/$(VERSITYGW_VERSION)-$(PLATFORM)
SEAWEEDFS  := $(REDSI_DEPS)/seaweedfs/$(SEAWEEDFS_VERSION)-$(PLATFORM)
UV         := $(REDSI_DEPS)/uv/$(UV_VERSION)-$(PLATFORM)
# bin/redsi-models looks for CUDA here by where its libtorch lies. The second holds what a test asks for kernels.
CUDA       := $(REDSI_DEPS)/cuda/$(LIBTORCH_VERSION)-$(PLATFORM)
KERNELS    := $(REDSI_DEPS)/cuda-kernels/$(LIBTORCH_VERSION)-$(PLATFORM)
# What records and replays on a card, compiled of a source of ours, whose sum is in the folder's name. bin/redsi-models
# looks for the one of its own source.
GRAPHS_SUM := $(if $(filter linux,$(OS)),$(shell cat internal/model/tensor/cudagraph/library/graph.cc internal/model/tensor/cudagraph/table.h | sha256sum | cut -c 1-12))
GRAPHS     := $(REDSI_DEPS)/cuda-graphs/$(LIBTORCH_VERSION)-$(GRAPHS_SUM)-$(PLATFORM)
# What redsi-models is built with, what redsi runs with, and what tests start besides: MinIO.
TORCH_PARTS := libtorch=$(LIBTORCH) gotch=$(GOTCH)
MODEL_PARTS := $(TORCH_PARTS) tokenizers=$(TOKENIZERS)
RUN_PARTS   := $(MODEL_PARTS) temporal-server=$(TEMPORAL_SERVER)
TEST_PARTS  := minio=$(MINIO)
STORE_PARTS := $(TEST_PARTS) versitygw=$(VERSITYGW) $(if $(filter linux,$(OS)),seaweedfs=$(SEAWEEDFS))
UV_PART     := uv=$(UV)
KERNEL_PART := $(if $(filter linux,$(OS)),cuda-kernels=$(KERNELS))
GRAPHS_PART := $(if $(filter linux,$(OS)),cuda-graphs=$(GRAPHS))
CUDA_PARTS  := libtorch=$(LIBTORCH) cuda=$(CUDA) $(GRAPHS_PART)

export REDSI_DEPS
export REDSI_TEMPORAL_SERVER := $(TEMPORAL_SERVER)/temporal-server
export REDSI_MINIO    := $(MINIO)/minio
export REDSI_UV       := $(UV)/uv
export REDSI_CUDA_KERNELS := $(KERNELS)
export REDSI_CUDA_GRAPHS  := $(GRAPHS)
export CGO_ENABLED    := 1
# Where nothing but the Go that is installed may run (local, as Debian and the golang images have it), an older one than
# go.mod names could do nothing: it fetches that one, unless it has it. Go is asked outside of the module, in which it
# would fetch it to answer.
export GOTOOLCHAIN    := $(patsubst local,auto,$(shell $(GO) -C / env GOTOOLCHAIN 2>/dev/null))
# Without it a package's key in Go's build cache has the clone's folder, and every clone would compile redsi anew. What
# `go env -w` has set is kept: a variable of the environment takes its place.
# No debugger's information, which takes Go's compiler up to half of its time; where a panic was is known without it.
# `make DEBUG=1 build` has it.
BUILD_FLAGS           := -trimpath $(TAGS:%=-tags=%) $(if $(DEBUG),,-gcflags=all=-dwarf=false)
export GOFLAGS        := $(strip $(filter-out $(BUILD_FLAGS),$(shell $(GO) -C / env GOFLAGS 2>/dev/null)) $(BUILD_FLAGS))
export CGO_CFLAGS     := -O2 -w -g0
export CGO_CXXFLAGS   := -include $(GOTCH)/gotch-libtorch211.h -I$(LIBTORCH)/include -I$(LIBTORCH)/include/torch/csrc/api/include -O2 -w $(CXXGCC)
export CGO_LDFLAGS    := -L$(GOTCH)/stubs -L$(LIBTORCH)/lib -L$(TOKENIZERS) -Wl,-rpath,$(LIBTORCH)/lib $(NEWDTAGS)
ENV_KEYS := GOTOOLCHAIN REDSI_DEPS REDSI_TEMPORAL_SERVER REDSI_MINIO REDSI_UV REDSI_CUDA_KERNELS REDSI_CUDA_GRAPHS GOFLAGS CGO_ENABLED CGO_CFLAGS CGO_CXXFLAGS CGO_LDFLAGS

# Tools are named before anything starts, only those that what is still missing needs.
CHECK := GO_MIN=$(GO_MIN) CARGO_MIN=$(CARGO_MIN) PYTHON_MIN=$(PYTHON_MIN) PIP_MIN=$(PIP_MIN) sh tools/deps/check.sh
NEED_TOKENIZERS := go $(if $(wildcard $(TOKENIZERS)/done),,cargo)
NEED_TORCH      := go c++ $(if $(wildcard $(LIBTORCH)/done),,python3 pip)
NEED            := $(sort $(NEED_TOKENIZERS) $(NEED_TORCH))
# What else is downloaded: the parts of CUDA.
need_pip        = $(if $(call missing,$(1)),python3 pip)
folder          = $(lastword $(subst =, ,$(1)))
missing         = $(strip $(foreach part,$(1),$(if $(wildcard $(call folder,$(part))/done),,$(part))))
# Nothing is started, not even the installer, when all is there.
install         = @$(if $(call missing,$(1)),echo 'redsi: compiling the installer'; $(GO) run ./tools/deps -platform $(PLATFORM) -torch $(LIBTORCH_VERSION) -jobs $(JOBS) $(2) $(1))
# Runs a long command and says how far it is.
SHOW            := $(GO) run ./tools/deps show

.DEFAULT_GOAL := help
.PHONY: help deps deps-run deps-models deps-tokenizers deps-embedded deps-servers deps-stores deps-torch deps-graphs cuda tools build bin/redsi bin/redsi-models quickstart first-tables beside toy-paper test ci cross chaos simulate evening fuzz race check check-code check-whole fmt bench try-docs docs dist \
	doctor env clean python-test ports

help: ## list the targets
	@echo 'usage: make TARGET [REDSI_DEPS=folder for native parts, now $(REDSI_DEPS)]'
	@awk -F ':.*## ' '/^[a-z][a-z\/-]*:.*## / { printf "  %-16s %s\n", $$1, $$2 }' Makefile | sort

quickstart: beside build ## from a bare machine to the first tables, three small models, a search, a report, and what is expected of them
	bin/redsi run $(TOY) $(FIRST) -t table.smallest_models
	@echo; bin/redsi search $(TOY) --log-level warn --model 'step.train.dsi["title/nci_norm/tiny/atomic/42"]' -k 3 \
		'what is kevoza castle known for'
	@echo; bin/redsi report $(TOY)
	@echo; bin/redsi check $(TOY) $(FIRST) -t table.smallest_models

# Tables that need no models are there long before what computes models is: they are rebuilt and shown while its parts are
# installed. Those have the processors that the tables leave.
beside: tools
	$(call install,$(MODEL_PARTS),-first '$(FIRST_TABLES)')
FIRST_TABLES := $(MAKE) --no-print-directory first-tables

first-tables: bin/redsi deps-embedded ## two tables of the generated corpus that need no models, for which Go is enough
	bin/redsi run $(TOY) $(FIRST)

toy-paper: build ## every table and figure of the paper on the generated corpus, and the report
	bin/redsi run $(TOY)
	bin/redsi plan $(TOY) --detailed-exitcode
	@echo; bin/redsi report $(TOY)
	@echo; bin/redsi check $(TOY) --strict

build: deps-run bin/redsi bin/redsi-models ## both programs, and what they run with

bin/redsi: tools ## redsi itself, for which Go is enough: it plans everything, and runs what needs no models
	@CGO_ENABLED=0 $(SHOW) bin/redsi $(GO) build -v $(LDFLAGS) -o bin/redsi ./cmd/redsi

# LIBTORCH_VERSION=$(LIBTORCH_LATER) makes the wheel's other program of the same sources.
PROGRAM := bin/redsi-models$(if $(filter $(LIBTORCH_LATER),$(LIBTORCH_VERSION)),-$(LIBTORCH_LATER))
bin/redsi-models: deps-models ## the program that computes models, which redsi starts
	@$(SHOW) $(PROGRAM) $(GO) build -v $(LDFLAGS) -o $(PROGRAM) ./cmd/redsi-models

test: deps check-code bin/redsi-models ## install what is missing, then gofmt, vet, staticcheck and all tests
	REDSI_MODELS=$(CURDIR)/bin/redsi-models $(TESTS) $(if $(filter ./...,$(PKGS)),$(LONGEST)) $(PKGS)
	cd tools/temporal-server && $(TESTS) ./...
	cd tools/dist && $(TESTS) ./...

ci: test check-whole cross python-test ## what .ci/run does: make test, all checks, other platforms, Python, and what is concurrent under the race detector
	$(MAKE) --no-print-directory race RACE="$(CONCURRENT)"

# Its tests are taken away by the overlay: some need cgo or Unix, and go vet has no flag for that.
cross: tools ## compile and vet redsi, without its tests, for the platforms that it is not tested on
	@mkdir -p bin; find . -name '*_test.go' | sed 's|.*|"&": ""|' | paste -sd, - | sed 's|.*|{"Replace": {&}}|' > bin/cross.json
	@for to in $(CROSS); do echo "redsi for $$to"; export CGO_ENABLED=0 GOOS=$${to%/*} GOARCH=$${to#*/}; \
		ours=$$($(GO) list -deps -f '{{with .Module}}{{if .Main}}{{$$.ImportPath}}{{end}}{{end}}' ./cmd/redsi) || exit 1; \
		$(GO) vet -overlay bin/cross.json $$ours || exit 1; done

chaos: build deps-servers ## kill, stop and starve redsi, its servers and disks at random moments: SEED= ROUNDS= PARALLEL= OUT=
	$(GO) build -o bin/chaos ./tools/chaos
	for u in "unshare -m" "unshare -rm"; do $$u true 2>/dev/null && own="$$u env REDSI_CHAOS_MOUNTS=1" && break; done; \
	$$own bin/chaos -redsi bin/redsi -seed $(SEED) -rounds $(ROUNDS) -parallel $(PARALLEL) $(if $(ROUND),-round $(ROUND),-out $(OUT))

simulate: ## play schedules of runs, workers and faults in virtual time: SEEDS= FROM= ONE=
	$(GO) test -vet=off -timeout $(TIMEOUT) ./internal/simulate -run TestSchedules $(if $(ONE),-v -args -seed $(ONE),-args -seeds $(SEEDS) -first $(FROM))

evening: build ## scale sample at a tenth of its records, against a server on this machine, into bin/evening: SHARE= UPDATES=
	REDSI_MODELS=$(CURDIR)/bin/redsi-models $(GO) test -vet=off -timeout 0 ./internal/cli -run '^TestEvening$$' -v -count=1 \
		-share $(or $(SHARE),0.1) -updates $(or $(UPDATES),20) -out $(CURDIR)/bin/evening

.PHONY: mutate
mutate: tools ## put each fault of a table into the engine, and say which schedule of internal/simulate finds it: ONLY=name
	$(GO) test ./internal/simulate -run '^TestMutations$$/each/$(ONLY)' -mutations -parallel 2 -timeout 0 -v

# By default Go tries for a minute to shorten each input that is new: where coverage varies, or no shorter input is
# valid, that is all that FUZZTIME has.
fuzz: tools ## every fuzz target for FUZZTIME= each, one after the other
	@grep -rHo --include='*_test.go' '^func Fuzz[A-Za-z0-9]*' . | sed 's|/[^/]*_test.go:func | |' | sort -u | while read dir name; do \
		echo "== $$dir $$name"; $(GO) test $$dir -run '^$$' -fuzz "^$$name\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x || exit 1; done

race: deps-run deps-servers ## tests that link no libtorch under the race detector, but for whole command lines; RACE=packages
	@packages="$(RACE)" && test -n "$$packages" || { echo 'redsi: the packages to test are not known' >&2; exit 1; }; \
		$(GO) test -race -short -vet=off -timeout $(TIMEOUT) $$packages

.PHONY: test-stores
test-stores: deps-stores ## the tests of stores on every server that docs name: MinIO, versitygw and, on Linux, SeaweedFS
	REDSI_VERSITYGW=$(VERSITYGW)/versitygw REDSI_SEAWEEDFS=$(if $(filter linux,$(OS)),$(SEAWEEDFS)/weed) \
		$(GO) test -vet=off -count=1 -timeout $(TIMEOUT) -run 'TestBucket|TestOtherServers' ./internal/stores

# The tests of models with the libtorch of LIBTORCH_VERSION, or with that in WITH, the lib of another torch, by the same program;
# but not those of what is for cards, which are used with one version alone.
.PHONY: test-torch
test-torch: deps-models ## the tests of models on another torch: LIBTORCH_VERSION=, and WITH= the folder torch/lib of one that the same program runs on
	LD_LIBRARY_PATH=$(WITH) $(TESTS) -count=1 $$($(GO) list ./internal/model/... | grep -v -e /cudagraph$$ -e /tensor/kernels$$)

.PHONY: test-slurm bench-slurm
test-slurm: bin/redsi deps-run ## redsi in jobs of a real Slurm on this machine, as root; skipped where there is none
	CGO_ENABLED=0 $(GO) test -c -vet=off -o bin/slurm.test ./internal/host/slurm
	tools/slurm/test.sh bin/redsi $(TEMPORAL_SERVER)/temporal-server bin/slurm.test
	tools/slurm/session.sh bin/redsi $(TEMPORAL_SERVER)/temporal-server

bench-slurm: bin/redsi deps-run ## redsi run --slurm beside Snakemake's executor for Slurm, as root on a machine with Slurm; six minutes
	tools/slurm/compare.sh bin/redsi $(TEMPORAL_SERVER)/temporal-server

# With -trimpath all clones share what Go's cache keeps of cgo, in which the folder of the clone that compiled it stands:
# vet's cgocall reads the file there and fails if that clone is gone.
check: check-code check-whole ## gofmt, vet, staticcheck, workflowcheck, deadcode, go.mod tidy, known vulnerabilities

check-code: deps-models
	@unformatted=$$($(GOFMT) -l .) || exit 1; test -z "$$unformatted" || { echo "not gofmt'd (run make fmt):"; echo "$$unformatted"; exit 1; }
	$(GO) vet -cgocall=false $(PKGS)
	$(GO) -C tools/temporal-server vet ./...
	$(GO) -C tools/dist vet ./...
	$(CHECKER) staticcheck $(PKGS)

# What reads the whole program each time, or asks others.
check-whole: deps-models
	$(CHECKER) workflowcheck -config tools/check/workflowcheck.yaml ./workflows
	@dead=$$($(CHECKER) deadcode $(PROGRAMS)) || exit 1; \
		test -z "$$dead" || { echo "what no program uses:"; echo "$$dead"; exit 1; }
	@for dir in . examples/own-kind tools/dist tools/temporal-server; do $(GO) -C $$dir mod tidy -diff || { echo "run go mod tidy in $$dir"; exit 1; }; done
	@sh tools/check/vulnerabilities.sh "$(CHECKER)" $(PKGS)

.PHONY: vulnerabilities
vulnerabilities: deps-models ## known vulnerabilities of what redsi calls; unlike `make check`, fails if their database cannot be reached
	@REQUIRED=1 sh tools/check/vulnerabilities.sh "$(CHECKER)" $(PKGS)

.PHONY: test-cuda bench-cuda card-pack
# The same tests run in `make test` on a card of software.
test-cuda: deps-torch deps-graphs ## the tests of what a card computes, on this machine's card; what was compared: bin/test-cuda.json
	$(GO) test -c -o bin/cardtest.test ./internal/model/cardtest
	cd internal/model/cardtest && ../../../bin/cardtest.test -card=real -report ../../../bin/test-cuda.json

bench-cuda: build deps ## training, evaluation and embedding on this machine's card beside transformers, into bench/rows.jsonl
	$(GO) run ./bench -only cuda/...

card-pack: deps-torch deps-graphs ## the tests of test-cuda for a machine without a network: dist/card.tar.gz
	$(GO) test -c -ldflags '-s -w' -o bin/cardtest.test ./internal/model/cardtest
	tools/card/pack.sh bin/cardtest.test $(GRAPHS)/libredsi_graphs.so dist/card.tar.gz $(LIBTORCH_VERSION)

fmt: ## gofmt all Go files
	$(GOFMT) -w .

bench: build deps ## measure, each peer beside it in one run, into bench/rows.jsonl and docs/performance.md; fails below a floor
	$(BENCH)

try-docs: build ## every command of README, docs and --help, in order, in a copy of the tree, and what they print
	$(GO) run ./tools/docs -long

ports: build ## run examples/ports beside their originals, and count what runs again: ORIGINALS=folder of OWNER/NAME
	examples/ports/try.py $(ORIGINALS)

python-test: bin/redsi deps-embedded ## install python/redsi from the tree, test it, and run the notebook (needs python3 and a package index)
	tools/python/check.sh

docs: bin/redsi ## generate docs/kinds
	bin/redsi kinds --markdown docs/kinds

# The commit, behind which tag.
VERSION = $(shell git describe --always --dirty 2>/dev/null)
# tools/dist/parts.go says what is in the archive and in the wheels.
PACK    = bin/dist -commit $(VERSION) -version "$(RELEASE)" -time $$(git log -1 --format=%ct) -out dist -platform
MODELS  = -libtorch $(LIBTORCH) -libtorch-version $(LIBTORCH_VERSION) -graphs $(GRAPHS)/libredsi_graphs.so
# What `make wheel` makes wheels for. redsi is compiled for each; redsi-models, which has C++, for this one.
PLATFORMS ?= linux-amd64 linux-arm64 darwin-arm64
MODELS_HERE := $(filter linux-%,$(filter $(PLATFORM),$(PLATFORMS)))

.PHONY: bin/dist wheel wheel-test $(PLATFORMS:%=wheel-%) wheel-models
bin/dist:
	@mkdir -p dist
	@$(GO) -C tools/dist build -o $(CURDIR)/bin/dist .

dist: tools build deps-graphs bin/dist ## an archive that runs where there is no compiler: programs, libraries, pipeline, licences, bill of materials
	$(PACK) $(PLATFORM) -server $(TEMPORAL_SERVER)/temporal-server $(MODELS)
	@echo 'redsi: the archive has no CUDA libraries. For a card, where it is unpacked: pip install --target cuda torch==$(LIBTORCH_VERSION)'

wheel: tools $(PLATFORMS:%=wheel-%) $(if $(MODELS_HERE),wheel-models) ## what pip installs, into dist: redsi for PLATFORMS=, and redsi-models for this one

$(PLATFORMS:%=wheel-%): wheel-%: tools bin/dist
	@$(SHOW) 'bin/redsi for $*' env GOOS=$(word 1,$(subst -, ,$*)) GOARCH=$(word 2,$(subst -, ,$*)) CGO_ENABLED=0 \
		$(GO) build -v $(if $(filter darwin-%,$*),-tags=) $(LDFLAGS) -o bin/redsi-$* ./cmd/redsi
	$(if $(wildcard $(call server,$*)/done),,@$(GO) run ./tools/deps -platform $* temporal-server=$(call server,$*))
	$(PACK) $* -make redsi -redsi bin/redsi-$* -server $(call server,$*)/temporal-server

wheel-models: tools bin/redsi-models deps-graphs bin/dist
	$(MAKE) --no-print-directory LIBTORCH_VERSION=$(LIBTORCH_LATER) bin/redsi-models
	$(PACK) $(PLATFORM) -make redsi-models $(MODELS) -later bin/redsi-models-$(LIBTORCH_LATER)

wheel-test: ## install the wheels of dist into a fresh environment and use them there: MODELS=1 also redsi[models], 3 GB to download
	tools/python/installed.sh dist

doctor: ## what is missing on this machine, and how to install it
	@$(CHECK) go c++ cargo python3 pip && echo 'all tools are there'
	@$(foreach part,$(RUN_PARTS) $(TEST_PARTS) $(UV_PART) $(KERNEL_PART) $(GRAPHS_PART),test -e $(call folder,$(part))/done && echo 'ready    $(call folder,$(part))' || echo 'missing  $(call folder,$(part)) (make deps)';)
	@$(if $(filter linux,$(OS)),test -e $(CUDA)/done && echo 'ready    $(CUDA)' || echo 'missing  $(CUDA) (for a card: make cuda)')
	@if test -x bin/redsi; then bin/redsi doctor; fi

env: ## print the environment of every go command here, KEY=VALUE
	@$(foreach key,$(ENV_KEYS),printf '%s\n' '$(key)=$($(key))';)

clean: ## remove what was built here; the parts in REDSI_DEPS stay
	rm -rf bin dist

deps: tools ## all parts
	$(call install,$(RUN_PARTS) $(TEST_PARTS) $(UV_PART) $(KERNEL_PART) $(GRAPHS_PART))
deps-run: tools ## the parts that redsi and redsi-models are built and run with
	$(call install,$(RUN_PARTS))
deps-models: tools ## the parts that redsi-models is built with
	$(call install,$(MODEL_PARTS))
deps-tokenizers: tools ## libtokenizers.a
	$(call install,tokenizers=$(TOKENIZERS))
deps-embedded: tools ## the embedded Temporal server
	$(call install,temporal-server=$(TEMPORAL_SERVER))
deps-servers: tools ## what tests start besides: MinIO
	$(call install,$(TEST_PARTS))
deps-stores: tools ## what test-stores starts: MinIO, versitygw and, on Linux, SeaweedFS
	$(call install,$(STORE_PARTS))
deps-torch: tools ## libtorch and what gotch needs to compile against it
	$(call install,$(TORCH_PARTS))
deps-graphs: tools ## on Linux, the library that records and replays what a card is asked for
	$(if $(GRAPHS_PART),$(call install,libtorch=$(LIBTORCH) $(GRAPHS_PART)))
cuda: tools ## what redsi-models needs to compute on NVIDIA's cards: 2.5 GB to download, for Linux
	$(if $(filter linux,$(OS)),,@echo 'redsi: there is no CUDA for $(PLATFORM): models compute on the processors' >&2; exit 1)
	$(call install,$(CUDA_PARTS))
	@echo 'redsi: CUDA libraries are in $(CUDA); bin/redsi-models takes them where there is a driver, from 580 on (redsi doctor)'

deps-tokenizers: NEED := $(NEED_TOKENIZERS)
bin/redsi first-tables deps-embedded deps-servers cross fuzz docs $(PLATFORMS:%=wheel-%): NEED := go
python-test: NEED := go python3 pip
deps-torch: NEED := $(NEED_TORCH)
cuda: NEED := $(if $(filter linux,$(OS)),go $(call need_pip,$(CUDA_PARTS)) $(if $(call missing,$(GRAPHS_PART)),c++))
deps-stores: NEED := go $(call need_pip,$(filter seaweedfs=%,$(STORE_PARTS)))
deps test bench: NEED := $(sort $(NEED) $(call need_pip,$(UV_PART) $(KERNEL_PART) $(GRAPHS_PART)))
deps-graphs: NEED := $(sort $(NEED_TORCH) $(call need_pip,$(GRAPHS_PART)))
test-cuda card-pack: NEED := $(sort $(NEED) $(call need_pip,$(GRAPHS_PART)))
# cargo says which crates are inside.
dist wheel-models: NEED := $(sort cargo $(NEED) $(call need_pip,$(GRAPHS_PART)))
wheel: NEED := $(if $(MODELS_HERE),$(sort cargo $(NEED) $(call need_pip,$(GRAPHS_PART))),go)
deps-run deps-models build bin/redsi-models quickstart toy-paper chaos evening race check check-code check-whole: NEED := $(NEED)

tools:
	@case '$(PLATFORM)' in linux-amd64|linux-arm64|darwin-arm64) ;; \
	*) echo 'redsi: $(PLATFORM) is not supported; linux-amd64, linux-arm64 and darwin-arm64 are' >&2; exit 1 ;; esac
	@case '$(REDSI_DEPS)' in *\?*) echo 'redsi: REDSI_DEPS must be a path without spaces' >&2; exit 1 ;; esac
	@$(CHECK) $(NEED)
