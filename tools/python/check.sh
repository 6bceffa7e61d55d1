#!/bin/sh
# Installs python/redsi from this tree and tests it on the store that Go wrote, first with
# what it needs alone, then with pandas, NumPy, ir_measures and a notebook's kernel, which runs
# the program redsi of this tree; and checks its types. An install leaves nothing in the tree.
# Checks the workflows of examples/ci and the manifest of examples/kubernetes by their schemas.
# Needs python3 with venv, a package index, bin/redsi (or REDSI), and the embedded server.
# PYTHON names another interpreter.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
package=$(cd "$here/../../python" && pwd)
export REDSI="${REDSI:-$here/../../bin/redsi}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

needs() { grep -E "^($1)==" "$here/requirements.txt"; }
tree() { find "$package" ! -path '*/__pycache__*' | sort; }

"${PYTHON:-python3}" -m venv "$work/venv"
pip="$work/venv/bin/pip --quiet --disable-pip-version-check"
python="$work/venv/bin/python"

needs 'pyarrow|zstandard' > "$work/least.txt"
$pip install -r "$work/least.txt"
tree > "$work/before"
$pip install --no-deps "$package"
tree | diff "$work/before" - || { echo "an install leaves these in the tree"; exit 1; }
cd "$work"
echo "without pandas"
"$python" -m unittest discover -s "$package/tests"
"$python" -m redsi version

$pip install -r "$here/requirements.txt"
"$work/venv/bin/check-jsonschema" --builtin-schema vendor.github-workflows "$here/../../examples/ci/github.yml"
"$work/venv/bin/check-jsonschema" --builtin-schema vendor.gitlab-ci "$here/../../examples/ci/gitlab-ci.yml"
for version in 1.28 1.37; do
	"$work/venv/bin/kubernetes-validate" --quiet --strict -k "$version" "$here/../../examples/kubernetes/redsi.yaml"
done
"$python" "$here/containers.py" "$here/../../examples/kubernetes/redsi.yaml"
echo "with pandas, NumPy, ir_measures and a kernel"
"$python" -m unittest discover -s "$package/tests"
"$work/venv/bin/mypy" --strict --ignore-missing-imports --cache-dir "$work/mypy" "$package/redsi"
