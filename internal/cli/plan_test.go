package cli

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/runs"
	"github.com/redsi/redsi/internal/session"
	"github.com/redsi/redsi/internal/stores/dir"
	"github.com/redsi/redsi/internal/stores/storetest"
	"github.com/redsi/redsi/internal/system/fault"
	"github.com/redsi/redsi/internal/system/testkit"
	"github.com/redsi/redsi/kinds"
	"github.com/redsi/redsi/step"
)

// TestOutcomesAreThoseOfPlan: an editor shows results of others as plan does, and counts
// none that the pipeline does not believe.
func TestOutcomesAreThoseOfPlan(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", "")
	t.Setenv("REDSI_SIGNING_KEY", "")
	root := t.TempDir()
	file := filepath.Join(root, "pipelines.hcl")
	testkit.Write(t, file, "step \"command\" \"a\" {\n  argv    = [\"sh\", \"-c\", \"echo a > out/a\"]\n  outputs = [\"a\"]\n}\n")
	app := func(state string) *app { // with the store that a state folder has
		a := newApp(&session.Session{Registry: kinds.Registry(), Log: slog.New(slog.DiscardHandler), File: file,
			StateDir: filepath.Join(root, state), StoreURL: filepath.Join(root, state, "store")}, io.Discard, io.Discard)
		a.cmd = newRoot(newApp(&session.Session{Registry: &step.Registry{}}, nil, nil))
		return a
	}
	a := app("theirs")
	v, err := a.Preview(t.Context(), session.Everything)
	testkit.None(t, err)
	d := storetest.Put(t, v.Store.Own, []byte("a"))
	r := artifacts.Result{Key: v.Items[0].Key, Preimage: v.Items[0].Preimage, Outputs: map[string]artifacts.Artifact{"stdout": {Type: "file", Digest: d, Size: 1}}}
	if _, _, err := artifacts.Publish(t.Context(), v.Store, r); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		state, from, untrusted, shared, want string
	}{
		{"mine", "", "", "", "RUN"},
		{"theirs", "", "", "", "HIT"},
		{"theirs", "", "", "run", "RUN"},
		{"mine", "theirs/store", "use", "", "HIT"},
		{"mine", "theirs/store", "", "", "RUN"},
	} {
		a := app(c.state)
		a.Others.Untrusted = c.untrusted
		if c.from != "" {
			a.Others.From = []string{c.from}
		}
		p, _, err := a.Evaluate(t.Context())
		testkit.None(t, err)
		p.Results.Shared = c.shared
		got, err := a.outcomes(t.Context(), root, file, p)
		testkit.None(t, err, c, got)
		testkit.Is(t, got["step.command.a"].Word, c.want, c, got)
	}
	testkit.Some(t, testkit.Err(os.Stat(filepath.Join(root, "mine", "store"))), "a store was made")
}

// Where the results of a pipeline are under keys of another format, `redsi plan` says so.
func TestPlanOfOtherKeyFormat(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, "pipelines.hcl")
	testkit.Write(t, file, "step \"command\" \"x\" {\n  argv = [\"sh\"]\n  outputs = [\"o\"]\n}\n")
	state := filepath.Join(folder, ".redsi")
	store, err := dir.Open(filepath.Join(state, "store"))
	testkit.None(t, err)
	key := artifacts.Sum([]byte("a key of another format"))
	body := fmt.Appendf(nil, `{"format":%q,"key":%q,"preimage":{"format":"redsi-key/9"},"outputs":{},"finished":"2026-01-01T00:00:00Z","origin":{},"took_s":1`, artifacts.ResultFormat, key)
	testkit.None(t, store.Records.Create(t.Context(), artifacts.ResultName(key), fmt.Appendf(body, `,"seal":%q}`, artifacts.Sum(body))))
	rec := runs.Record{RunID: "20260101T000000Z-00000000", Pipeline: filepath.Base(file),
		Steps: []runs.Step{{Address: "step.command.x", Key: key, Outcome: runs.Ran}}}
	testkit.None(t, runs.Write(t.Context(), store, rec))
	var out, errw bytes.Buffer
	if code := execute(t.Context(), kinds.Registry(), []string{"plan", "-f", file, "--state", state}, &out, &errw, Paper{}); code != fault.CodeOK {
		t.Fatalf("exit %d: %s", code, &errw)
	}
	for _, want := range []string{"keys moved", "redsi-key/9", step.KeyFormat} {
		if !strings.Contains(errw.String(), want) {
			t.Errorf("it does not say %q: %s%s", want, &out, &errw)
		}
	}
}
