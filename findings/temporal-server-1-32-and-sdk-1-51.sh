#!/bin/sh
# One Go module cannot have Temporal's server 1.32.2 and Temporal's SDK 1.51.0, both the newest on 2026-11-29: the SDK asks
# for go.temporal.io/api v1.64.3, whose OperatorServiceClient has a method more (DescribeNamespaceRestore, from 1.64.2 on)
# than the server's own client has, so the server does not compile. With SDK 1.50.0 and the api that the server asks for,
# it does. A program that has both, an embedded server for example, stays at SDK 1.50, or the two are programs apart.
#
# Makes a module with the server and each of the two SDKs in a temporary folder, compiles the server's client, and fails if
# that has changed. Needs Go 1.26.10 or newer, which an older one fetches.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export GOTOOLCHAIN=auto GOWORK=off GOFLAGS=-mod=mod
for sdk in v1.51.0 v1.50.0; do
	rm -rf both && mkdir both
	(
		cd both
		printf 'module example.org/both\n\ngo 1.26.10\n' > go.mod
		cat > main.go <<'GO'
package main

import (
	_ "go.temporal.io/sdk/client"
	_ "go.temporal.io/server/client/operator"
)

func main() {}
GO
		go get go.temporal.io/server@v1.32.2 "go.temporal.io/sdk@$sdk" 2>downloads || { cat downloads >&2; exit 1; }
		if go build -o both . 2>output; then end=compiles; else end="does not compile"; fi
		echo "sdk $sdk, api $(go list -m -f '{{.Version}}' go.temporal.io/api): the server $end $(grep -o 'missing method [A-Za-z]*' output | sort -u)"
	)
done > seen
cat > expected <<'TEXT'
sdk v1.51.0, api v1.64.3: the server does not compile missing method DescribeNamespaceRestore
sdk v1.50.0, api v1.63.5: the server compiles 
TEXT
diff expected seen
cat seen
