package cli

import (
	"regexp"
	"strings"
	"testing"
)

// TestMap: the head of pipelines.hcl names its sections in their order, each with its
// tables and figures.
func TestMap(t *testing.T) {
	head, rest, _ := strings.Cut(string(paperSource(t)), "\n\n")
	var want []string
	for _, m := range regexp.MustCompile(`(?m)^# --- ([^-(]*[^-( ]).* -+$|^(?:table|figure) "(\w+)"`).FindAllStringSubmatch(rest, -1) {
		want = append(want, m[1]+m[2])
	}
	for _, name := range want {
		at := regexp.MustCompile(`\b` + name + `\b`).FindStringIndex(head)
		if at == nil {
			t.Fatalf("the map at the head of pipelines.hcl does not name %q, or not in this place", name)
		}
		head = head[at[1]:]
	}
}
