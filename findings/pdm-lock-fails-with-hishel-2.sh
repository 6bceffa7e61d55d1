#!/bin/sh
# pdm 2.29.4 asks for hishel>=1.4.0, so that installing it today brings hishel 2.0.0, which has no SyncSqliteStorage any
# more. `pdm lock` of any project with a dependency then ends with an AttributeError and writes no lock. With hishel 1.4.0
# beside it, which pdm[locked] asks for, the same command writes a pylock.toml of lock-version 1.0 (PEP 751). Seen on
# 2026-11-29 with Python 3.11. redsi's page on environments says which to install.
#
# Installs the packages into a temporary folder, locks one project with each of the two, and fails if that has changed.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export PDM_CHECK_UPDATE=false PDM_USE_VENV=false PDM_CACHE_DIR="$work/cache" PDM_LOG_DIR="$work/log" HOME="$work"
python3 -m venv venv
venv/bin/pip install -q pdm==2.29.4
venv/bin/pip list --format=freeze 2>/dev/null | grep '^hishel==' >seen
mkdir study
cat > study/pyproject.toml <<'TOML'
[project]
name = "study"
version = "0"
requires-python = ">=3.11"
dependencies = ["iniconfig==2.1.0"]

[tool.pdm]
lock.format = "pylock"
TOML
for version in 2.0.0 1.4.0; do
	venv/bin/pip install -q "hishel==$version"
	rm -f study/pylock.toml
	if venv/bin/pdm lock -p study >output 2>&1; then end="written"; else end="failed"; fi
	echo "hishel $version | $end | $(grep -o "\[AttributeError\].*" output || true) | $(grep -s '^lock-version' study/pylock.toml || echo 'no lock')" >>seen
done
cat > expected <<'TEXT'
hishel==2.0.0
hishel 2.0.0 | failed | [AttributeError]: module 'hishel' has no attribute 'SyncSqliteStorage' | no lock
hishel 1.4.0 | written |  | lock-version = "1.0"
TEXT
diff expected seen || { cat output; exit 1; }
cat seen
