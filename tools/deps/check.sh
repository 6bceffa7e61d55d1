#!/bin/sh
# Names every missing or too old tool with the commands that install it, before anything starts.
# usage: check.sh TOOL... (TOOL: go c++ cargo python3 pip); GO_MIN, CARGO_MIN, PYTHON_MIN, PIP_MIN from the environment.
# Exit status: 0 all there, 1 something is missing.
set -u
bad=0

missing() { # tool, what is wrong, Debian command, macOS command
	bad=1
	printf 'redsi: %s %s\n    Debian, Ubuntu:  %s\n    macOS:           %s\n' "$1" "$2" "$3" "$4" >&2
}

older() { # version, minimum: true when version < minimum, part by part as numbers
	awk -v a="$1" -v b="$2" 'BEGIN { n = split(a, x, /[^0-9]+/); m = split(b, y, /[^0-9]+/)
		for (i = 1; i <= m; i++) { if (x[i]+0 < y[i]+0) exit 0; if (x[i]+0 > y[i]+0) exit 1 } exit 1 }'
}

need() { # tool, version found (empty: none), minimum, Debian command, macOS command
	if [ -z "$2" ]; then
		missing "$1" "is needed and was not found" "$4" "$5"
	elif [ -n "$3" ] && older "$2" "$3"; then
		missing "$1" "is version $2, and $3 or newer is needed" "$4" "$5"
	fi
}

for tool in "$@"; do
	case $tool in
	go) here=$(GOTOOLCHAIN=local go env GOVERSION 2>/dev/null | sed 's/^go//')
		need go "$here" "${GO_MIN:-}" \
			'sudo apt install golang-go (Debian 12: sudo apt install -t bookworm-backports golang-go)' 'brew install go'
		# An older Go fetches the one that go.mod names, and says so, unless it has it.
		named=$(sed -n 's/^go //p' "${0%/*}/../../go.mod")
		if [ -n "$here" ] && ! older "$here" "${GO_MIN:-}" && older "$here" "$named" && ! go list -m >/dev/null; then
			missing go "is version $here, which did not get version $named, that go.mod names" \
				"set GOPROXY to a module proxy that can be reached and GOTOOLCHAIN to auto, or install Go $named or newer from https://go.dev/dl" 'brew upgrade go'
		fi ;;
	c++) need "a C++ compiler" "$(cxx=${CXX:-$(GOTOOLCHAIN=local go env CXX 2>/dev/null)}; "${cxx:-g++}" -dumpversion 2>/dev/null)" "" \
		'sudo apt install g++' 'xcode-select --install' ;;
	cargo) need cargo "$(cargo --version 2>/dev/null | sed 's/^cargo \([0-9.]*\).*/\1/')" "${CARGO_MIN:-}" \
		'sudo apt install cargo (Debian 12: sudo apt install cargo-web)' 'brew install rust' ;;
	python3) need python3 "$(python3 -c 'import platform; print(platform.python_version())' 2>/dev/null)" "${PYTHON_MIN:-}" \
		'sudo apt install python3' 'brew install python' ;;
	pip) need pip "$(python3 -c 'import pip; print(pip.__version__)' 2>/dev/null)" "${PIP_MIN:-}" \
		'sudo apt install python3-pip' 'python3 -m ensurepip --upgrade' ;;
	*) missing "$tool" 'is not a tool that this script knows' '-' '-' ;;
	esac
done
exit $bad
