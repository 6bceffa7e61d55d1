package cli

import (
	"regexp"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/pipeline/syntax"
)

// TestMap: the head of pipelines.hcl names the sections of each file in their order, each
// with its tables and figures.
func TestMap(t *testing.T) {
	t.Parallel()
	files := paperSources(t)
	head, rest, _ := strings.Cut(string(files[syntax.DefaultFile]), "\n\n")
	files[syntax.DefaultFile] = []byte(rest)
	for name, src := range files {
		_, part, ok := strings.Cut(head, "\n# "+name)
		if !ok {
			t.Fatalf("the map at the head of pipelines.hcl does not name %s", name)
		}
		mapped(t, part, name, string(src))
	}
}

func mapped(t *testing.T, head, file, rest string) {
	want := []string{}
	for _, m := range regexp.MustCompile(`(?m)^# --- ([^-(]*[^-( ]).* -+$|^(?:table|figure) "(\w+)"`).FindAllStringSubmatch(rest, -1) {
		want = append(want, m[1]+m[2])
	}
	for _, name := range want {
		at := regexp.MustCompile(`\b` + name + `\b`).FindStringIndex(head)
		if at == nil {
			t.Fatalf("the map at the head of pipelines.hcl does not name %q of %s, or not in this place", name, file)
		}
		head = head[at[1]:]
	}
}
