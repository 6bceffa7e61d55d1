package kinds_test

import (
	"strings"
	"testing"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/kinds"
	"github.com/redsi/redsi/step"
)

// What each key needs is asked for when the pipeline is read.
func TestDedupNeeds(t *testing.T) {
	spec := kinds.Registry().Lookup("dedup")
	some := step.In(artifacts.Artifact{Type: "files"})
	for _, c := range []struct {
		key, fallback, representative string
		given                         []string
		want                          string // "" if nothing is missing
	}{
		{key: "url"},
		{key: "h1", fallback: "title"},
		{key: "title", want: "tokenizer: is needed by key title"},
		{key: "nci_h1", want: "tokenizer: is needed by key nci_h1"},
		{key: "title", given: []string{"tokenizer"}},
		{key: "page_id", want: "pages: is needed by key page_id"},
		{key: "page_id", given: []string{"pages"}},
		{key: "page_id", fallback: "title", given: []string{"pages"}, want: "tokenizer: is needed by fallback title"},
		{key: "page_id", fallback: "title", given: []string{"pages", "tokenizer"}},
		{key: "corpus_text", want: "texts: is needed"},
		{key: "url", representative: "longest_text", want: "texts: is needed"},
		{key: "url", representative: "longest_text", given: []string{"texts"}},
	} {
		tree := map[string]any{"train": []any{some}, "key": c.key}
		for _, name := range c.given {
			tree[name] = some
		}
		if c.fallback != "" {
			tree["fallback"] = c.fallback
		}
		if c.representative != "" {
			tree["representative"] = c.representative
		}
		switch _, err := spec.Complete(tree); {
		case c.want == "" && err != nil:
			t.Errorf("%+v: %v", c, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%+v: got %v", c, err)
		}
	}
}
