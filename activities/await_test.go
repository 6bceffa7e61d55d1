package activities

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.temporal.io/api/workflow/v1"

	"github.com/redsi/redsi/internal/host/payload"
	"github.com/redsi/redsi/step"
)

// TestProgressOf reads what a beat says, with and without a key, as it is read
// when it is shown and when it is passed on.
func TestProgressOf(t *testing.T) {
	file := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(file, []byte(strings.Repeat("ab", 32)), 0o600); err != nil {
		t.Fatal(err)
	}
	key, err := payload.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	said := step.Progress{Done: 3, Total: 7, Note: "working"}
	for _, c := range []struct {
		name           string
		beat           any
		sealed, opened payload.Codec
		want           *step.Progress
	}{
		{"plain", beat{&said, 2}, payload.Codec{}, payload.Codec{}, &said},
		{"nothing but failures", beat{nil, 2}, payload.Codec{}, payload.Codec{}, nil},
		{"of an earlier version", said, payload.Codec{}, payload.Codec{}, &said},
		{"encrypted", said, key, key, &said},
		{"passed on", &said, key, key, &said},
		{"before the key", said, payload.Codec{}, key, &said},
		{"without the key", said, key, payload.Codec{}, nil},
		{"nothing said", nil, key, key, nil},
		{"of another version", "working", key, key, nil},
	} {
		details, err := c.sealed.DataConverter().ToPayloads(c.beat)
		if err != nil {
			t.Fatal(err)
		}
		got := ProgressOf(c.opened, &workflow.PendingActivityInfo{HeartbeatDetails: details})
		if (got == nil) != (c.want == nil) || got != nil && *got != *c.want {
			t.Errorf("%s: got %+v, want %+v", c.name, got, c.want)
		}
	}
	if got := ProgressOf(key, &workflow.PendingActivityInfo{}); got != nil {
		t.Errorf("no beat: got %+v", got)
	}
}
