package view

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/redsi/redsi/artifacts"
)

// TestCollectedOpen: a copy that holds what has arrived is not called a run.
func TestCollectedOpen(t *testing.T) {
	for _, id := range []string{"20260101T000000Z-00000000", "push-0123456789ab", "archive-0123456789abcdef"} {
		var b bytes.Buffer
		hint := func(verb string, args ...string) string { return verb + " " + strings.Join(args, " ") }
		Collected(&b, artifacts.Garbage{Open: []artifacts.OpenRun{{RunID: id, Since: time.Now()}}}, artifacts.GCOptions{}, hint)
		if text := b.String(); !strings.HasPrefix(text, "the run or copy "+id+" is at work, or ") || !strings.Contains(text, "release it with `gc --forget-run "+id+"`") {
			t.Errorf("%s: %s", id, text)
		}
	}
}
