#!/bin/sh
# Installs the wheels of a folder (dist) into a fresh environment and uses redsi as somebody who has neither the clone nor a
# compiler: PATH=/usr/bin:/bin and an empty home. Says how long each part took, and fails if pip, init and run
# together take more than a minute. Needs python3 with venv, and a package index.
# With MODELS=1 also redsi[models] and three small models: 3 GB to download, 7 GB of disk while it runs.
set -eu
wheels=$(cd "${1:-dist}" && pwd)
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
mkdir "$work/home"
cd "$work"
wheel=$(ls -t "$wheels"/redsi-*"$(uname -m)"*.whl | head -n 1)

# What pip itself is told of indexes and proxies stays.
clean() { env -i PATH=/usr/bin:/bin HOME="$work/home" TMPDIR="$work" PYTHONDONTWRITEBYTECODE=1 $(env | grep -E '^(PIP_|[A-Za-z]+_[Pp][Rr][Oo][Xx][Yy]=|SSL_CERT_)' || true) "$@"; }
now() { date +%s; }
step() {
	began=$(now)
	name=$1
	shift
	"$@" > out.txt 2>&1 || { cat out.txt; echo "installed: $name failed" >&2; exit 1; }
	echo "$(($(now) - began)) s  $name"
}
# has PATTERN: what the last step printed has it.
has() { grep -q -e "$1" out.txt || { cat out.txt; echo "installed: this has no $1" >&2; exit 1; }; }
bin=$work/venv/bin
first=$(now)
step 'python -m venv' clean "${PYTHON:-python3}" -m venv venv
step "pip install $(basename "$wheel")" clean "$bin/pip" --disable-pip-version-check install --no-cache-dir "$wheel"
step 'redsi --version' clean "$bin/redsi" --version
step 'python -m redsi --version' clean "$bin/python" -m redsi --version
step 'redsi init study' clean "$bin/redsi" init study
cd study
chmod -R a-w "$bin" "$work"/venv/lib # nothing is written beside the program
step 'redsi run' clean "$bin/redsi" run
has 'table.errors'
chmod -R u+w "$bin" "$work"/venv/lib
cd "$work"
whole=$(($(now) - first))
echo "$whole s  all of it"
test "$whole" -le 60 || { echo 'installed: that is more than a minute' >&2; exit 1; }

step 'redsi doctor' clean "$bin/redsi" doctor --state state
has "pip install redsi_models-"
# Without a home as well.
mkdir homeless && cd homeless
step 'redsi run without HOME' env -i PATH=/usr/bin:/bin sh -c "'$bin/redsi' init . && '$bin/redsi' run"
cd "$work"
step 'redsi init --paper redsi' clean "$bin/redsi" init --paper redsi paper
cd paper
step 'the two dedup tables at scale=toy' clean "$bin/redsi" run --var scale=toy -t table.dedup_counts -t table.nq_document_collections_splits
cd "$work"
if uv=$(command -v uv); then
	step 'uv tool run' env -u VIRTUAL_ENV UV_CACHE_DIR="$work/uv" "$uv" tool run --from "$wheel" redsi --version
fi
test -n "${MODELS:-}" || exit 0
step "pip install 'redsi[models]'" clean "$bin/pip" --disable-pip-version-check install --no-cache-dir --find-links "$wheels" 'redsi[models]'
step 'redsi doctor' clean "$bin/redsi" doctor --state state
has 'ok  *models'
cd paper
step 'three small models' clean "$bin/redsi" run --var scale=toy -t table.smallest_models
has 'table.smallest_models'
