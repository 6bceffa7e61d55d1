package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the list of claims into docs/reproduction.md")

// TestListOfClaims: docs/reproduction.md lists the sentences that can fail, and what holds
// them.
func TestListOfClaims(t *testing.T) {
	const doc, begin, end = "../../docs/reproduction.md", "<!-- claims: go test ./tools/paper -update writes them -->\n", "<!-- end of claims -->\n"
	list, err := readSentences("../../" + sentencesFile)
	if err != nil {
		t.Fatal(err)
	}
	var want strings.Builder
	want.WriteString("\n| the paper says | compared in |\n|---|---|\n")
	for _, l := range list {
		if l.kind == "claim" || l.kind == "number" {
			fmt.Fprintf(&want, "| %s | `%s` |\n", strings.NewReplacer("|", `\|`, "<", `\<`, "--", "–").Replace(l.sentence), strings.Join(l.heldBy, "`, `"))
		}
	}
	want.WriteString("\n")
	b, err := os.ReadFile(doc)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(b), begin)
	have, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatalf("%s has no place for the claims, between %q and %q", doc, begin, end)
	}
	if have == want.String() {
		return
	}
	if !*update {
		t.Fatalf("%s lists other claims than %s: go test ./tools/paper -update", doc, sentencesFile)
	}
	if err := os.WriteFile(doc, []byte(before+begin+want.String()+end+after), 0o644); err != nil {
		t.Fatal(err)
	}
}
