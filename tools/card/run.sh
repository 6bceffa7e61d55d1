#!/bin/sh
# Runs the packed tests on this machine's card. Results are JSON in $OUT, by default this folder. Exit codes: 0 all
# passed, 1 some failed, 2 there is no card, or no torch with CUDA.
#
#   [PYTHON=python3] [REDSI_CUDA=FOLDER] [OUT=FOLDER] ./run.sh [flags of go test, such as -test.run=TestOperations]
set -eu
cd "$(dirname "$0")"
if [ -z "${REDSI_CUDA:-}" ]; then
	REDSI_CUDA=$("${PYTHON:-python3}" -c 'import importlib.util, os; print(os.path.dirname(os.path.dirname(importlib.util.find_spec("torch").origin)))' 2>/dev/null) || {
		echo 'card: there is no Python with torch here; REDSI_CUDA names a folder that has torch/lib' >&2
		exit 2
	}
fi
if ! [ -e "$REDSI_CUDA/torch/lib/libtorch_cuda.so" ]; then
	echo "card: $REDSI_CUDA/torch/lib has no libtorch_cuda.so: torch @VERSION@ with CUDA is needed" >&2
	exit 2
fi
export REDSI_CUDA
export REDSI_CUDA_GRAPHS="${REDSI_CUDA_GRAPHS:-$PWD}"
export LD_LIBRARY_PATH="$REDSI_CUDA/torch/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
out=$(cd "${OUT:-.}" && pwd)
cd internal/model/cardtest
exec ./cardtest.test -card=real -report "$out/test-cuda.json" -test.v "$@"
