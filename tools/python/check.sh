#!/bin/sh
# Installs python/redsi from this tree and tests it on the store that Go wrote, first with
# what it needs alone, then with pandas, NumPy and ir_measures; and checks its types. Checks
# the workflows of examples/ci by their schemas.
# Needs python3 with venv, and a package index. PYTHON names another interpreter.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
package=$(cd "$here/../../python" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

needs() { grep -E "^($1)==" "$here/requirements.txt"; }

"${PYTHON:-python3}" -m venv "$work/venv"
pip="$work/venv/bin/pip --quiet --disable-pip-version-check"
cp -r "$package" "$work/package" # a build leaves files beside its sources

needs 'pyarrow|zstandard' > "$work/least.txt"
$pip install -r "$work/least.txt"
$pip wheel --no-deps --wheel-dir "$work/wheel" "$work/package"
$pip install --no-deps "$work"/wheel/redsi-*.whl
cd "$work"
echo "without pandas"
"$work/venv/bin/python" -m unittest discover -s "$package/tests"

$pip install -r "$here/requirements.txt"
"$work/venv/bin/check-jsonschema" --builtin-schema vendor.github-workflows "$here/../../examples/ci/github.yml"
"$work/venv/bin/check-jsonschema" --builtin-schema vendor.gitlab-ci "$here/../../examples/ci/gitlab-ci.yml"
echo "with pandas, NumPy and ir_measures"
"$work/venv/bin/python" -m unittest discover -s "$package/tests"
"$work/venv/bin/mypy" --strict --ignore-missing-imports --cache-dir "$work/mypy" "$package/redsi"
