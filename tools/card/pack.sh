#!/bin/sh
# Packs the tests of what a card computes for a machine that has a card and no network: the test's program and the
# files that it reads. There, `./run.sh` needs a Python whose torch is the pinned version with CUDA, and nothing else.
#
#   tools/card/pack.sh PROGRAM GRAPHS ARCHIVE VERSION
set -eu
program=$1 graphs=$2 archive=$3 version=$4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/card/internal/model/cardtest"
cp "$program" "$work/card/internal/model/cardtest/cardtest.test"
cp "$graphs" "$work/card/"
for package in t5 bert decode; do
	mkdir -p "$work/card/internal/model/$package"
	cp -R "internal/model/$package/testdata" "$work/card/internal/model/$package/"
done
sed "s/@VERSION@/$version/" tools/card/run.sh >"$work/card/run.sh"
chmod +x "$work/card/run.sh"
mkdir -p "$(dirname "$archive")"
tar -C "$work" -czf "$archive.new" card
mv "$archive.new" "$archive"
ls -l "$archive"
