package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/corpora/unpack/goldens"
	"github.com/redsi/redsi/internal/system/testkit"
)

// TestListOfClaims: docs/reproduction-tables.md lists the sentences that can fail, and what holds them.
func TestListOfClaims(t *testing.T) {
	list := testkit.Value(readSentences("../../" + sentencesFile))(t)
	var b strings.Builder
	b.WriteString("\n| the paper says | compared in |\n|---|---|\n")
	for _, l := range list {
		if l.kind == "claim" || l.kind == "number" {
			fmt.Fprintf(&b, "| %s | `%s` |\n", strings.NewReplacer("|", `\|`, "<", `\<`, "--", "–").Replace(l.sentence), strings.Join(l.heldBy, "`, `"))
		}
	}
	compareDoc(t, "claims", b.String()+"\n")
}

// compareDoc compares the part of docs/reproduction-tables.md between two marks.
func compareDoc(t *testing.T, name, want string) {
	t.Helper()
	const path = "../../docs/reproduction-tables.md"
	begin, end := fmt.Sprintf("<!-- %s: go test ./tools/paper -update -->\n", name), fmt.Sprintf("<!-- end of %s -->", name)
	text := goldens.Text(t, path)
	before, rest, ok1 := strings.Cut(string(text), begin)
	have, after, ok2 := strings.Cut(rest, end)
	switch {
	case !ok1 || !ok2:
		t.Fatalf("%s has not the marks %q and %q", path, begin, end)
	case *goldens.Update:
		testkit.Write(t, path, before+begin+want+end+after)
	case have != want:
		t.Errorf("%s is not up to date: run with -update and read the difference\n%s", path, want)
	}
}
