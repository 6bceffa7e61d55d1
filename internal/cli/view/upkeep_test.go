package view

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/redsi/redsi/artifacts"
)

// TestCollectedOpen: a copy that holds what has arrived is not taken for a run.
func TestCollectedOpen(t *testing.T) {
	for id, want := range map[string]string{
		"20260101T000000Z-00000000": "run 20260101T000000Z-00000000 has no record",
		"push-0123456789ab":         "redsi push (push-0123456789ab) is at work, or was killed",
		"archive-0123456789abcdef":  "redsi import (archive-0123456789abcdef) is at work, or was killed",
	} {
		var b bytes.Buffer
		hint := func(verb string, args ...string) string { return verb + " " + strings.Join(args, " ") }
		Collected(&b, artifacts.Garbage{Open: []artifacts.OpenRun{{RunID: id, Since: time.Now()}}}, artifacts.GCOptions{}, hint)
		if text := b.String(); !strings.HasPrefix(text, want) || !strings.Contains(text, "release it with `gc --forget-run "+id+"`") {
			t.Errorf("%s: %s", id, text)
		}
	}
}
