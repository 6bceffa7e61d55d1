package report

import (
	"testing"

	"github.com/redsi/redsi/internal/system/testkit"
)

func TestUnplaced(t *testing.T) {
	for text, want := range map[string]string{
		`"/data/nq/dev-00.jsonl.gz"`:                         `"…/dev-00.jsonl.gz"`,
		`["/data/a.gz","/data/b.gz"]`:                        `["…/a.gz","…/b.gz"]`,
		"file:///tmp/x/store":                                "…/store",
		"redsi run --store file:///tmp/store -f /work/p.hcl": "redsi run --store …/store -f …/p.hcl",
		"https://example.org/a/b?c=/d":                       "https://example.org/a/b?c=/d",
		"s3://bucket/prefix":                                 "s3://bucket/prefix",
		"title/nci_norm/tiny":                                "title/nci_norm/tiny",
		"1 / 2 / 3":                                          "1 / 2 / 3",
	} {
		testkit.Is(t, Unplaced(text), want, text)
	}
}
