package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redsi/redsi/activities"
	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/paper/alike"
	"github.com/redsi/redsi/internal/paper/expect"
	"github.com/redsi/redsi/internal/session"
	"github.com/redsi/redsi/internal/session/drive"
	"github.com/redsi/redsi/internal/sharing/rebuild"
	"github.com/redsi/redsi/internal/stores/hashed"
	"github.com/redsi/redsi/internal/stores/mem"
	"github.com/redsi/redsi/internal/stores/open"
	"github.com/redsi/redsi/internal/stores/storetest"
	"github.com/redsi/redsi/internal/system/errtest"
	"github.com/redsi/redsi/internal/system/filetest"
	"github.com/redsi/redsi/kinds"
	"github.com/redsi/redsi/step"
)

// TestAwait: a change is told once nothing changes any more; a file that comes or goes is a change, and
// one that changed during the run is told at once.
func TestAwait(t *testing.T) {
	at := func(n int64) hashed.Stamp { return hashed.Stamp{Size: n} }
	old := stamps{"a": at(1), "b": at(1)}
	for name, c := range map[string]struct {
		looks []stamps
		want  []string
	}{
		"edited":         {[]stamps{old, {"a": at(2), "b": at(1)}, {"a": at(3), "b": at(1)}, {"a": at(3), "b": at(1)}}, []string{"a"}},
		"two":            {[]stamps{{"a": at(2), "b": at(1)}, {"a": at(2), "b": {}}, {"a": at(2), "b": {}}}, []string{"a", "b"}},
		"new":            {[]stamps{{"a": at(1), "b": at(1), "c": at(1)}, {"a": at(1), "b": at(1), "c": at(1)}}, []string{"c"}},
		"and back again": {[]stamps{{"a": at(2), "b": at(1)}, old, old}, nil},
	} {
		ctx, stop := context.WithCancel(t.Context())
		ticks := make(chan time.Time, len(c.looks))
		for range c.looks {
			ticks <- time.Time{}
		}
		got := await(ctx, old, func() stamps {
			now := c.looks[0]
			if c.looks = c.looks[1:]; len(c.looks) == 0 && c.want == nil {
				stop()
			}
			return now
		}, ticks)
		if stop(); !slices.Equal(got, c.want) || len(c.looks) > 0 {
			t.Errorf("%s: %v, %d looks left", name, got, len(c.looks))
		}
	}
}

// TestLook: watched are the files of the pipeline's folder and what a plan has read, also while they are
// not there, and no settings, which are read once.
func TestLook(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "pipelines.hcl")
	a := newApp(&session.Session{File: file, VarFiles: []string{filepath.Join(dir, "gone.json")}}, io.Discard, io.Discard)
	for _, name := range []string{"pipelines.hcl", "more.hcl", "other.txt", "redsi.local.hcl"} {
		filetest.Write(t, filepath.Join(dir, name), "x")
	}
	before := a.look()
	if len(before) != 3 || before[file].Size != 1 || before[filepath.Join(dir, "gone.json")] != (hashed.Stamp{}) {
		t.Errorf("%v", before)
	}
	errtest.None(t, os.Remove(file))
	if got := a.look().changed(before); !slices.Equal(got, []string{file}) {
		t.Errorf("changed %v", got)
	}
}

// TestNotify: the end of a run is told by HTTP or to a command, a second time if that failed, and what
// fails in the end is a warning without the address.
func TestNotify(t *testing.T) {
	defer func(d time.Duration) { notifyAgain = d }(notifyAgain)
	notifyAgain = 0
	var got []string
	refuse := 1
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		got = append(got, r.Method+" "+r.Header.Get("Content-Type")+" "+string(b))
		if refuse--; refuse >= 0 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	defer server.Close()
	var said bytes.Buffer
	a := newApp(&session.Session{File: "p.hcl"}, io.Discard, io.Discard)
	a.Log = slog.New(slog.NewTextHandler(&said, nil))
	sum := &drive.Summary{Pipeline: "p.hcl", Hit: 3, Ran: 1}
	sum.Of.Store = artifacts.Alone(mem.New())
	a.notify(t.Context(), server.URL+"/?token=hidden", time.Now(), sum, nil)
	if len(got) != 2 || got[0] != got[1] || said.Len() > 0 {
		t.Fatalf("got %q, said %s", got, &said)
	}
	var n notice
	if text, ok := strings.CutPrefix(got[1], "POST application/json "); !ok || json.Unmarshal([]byte(text), &n) != nil || n.Pipeline != "p.hcl" || !n.OK || n.Counts["hit"] != 3 || n.Counts["ran"] != 1 {
		t.Errorf("%q", got[1])
	}
	cancelled, stop := context.WithCancel(t.Context())
	stop()
	file := filepath.Join(t.TempDir(), "notice")
	a.notify(cancelled, "cat > '"+file+"'", time.Now(), nil, errors.New("a step said a secret"))
	if b, err := os.ReadFile(file); err != nil || !strings.HasPrefix(string(b), `{"pipeline":"p.hcl","ok":false,"cancelled":true,"seconds":`) || said.Len() > 0 {
		t.Errorf("%q, %v, said %s", b, err, &said)
	}
	refuse = 2
	a.notify(t.Context(), server.URL+"/?token=hidden", time.Now(), sum, nil)
	a.notify(t.Context(), "echo no such address; exit 3", time.Now(), sum, nil)
	for _, want := range []string{"503 Service Unavailable", "exit status 3: no such address"} {
		if !strings.Contains(said.String(), want) || strings.Contains(said.String(), "hidden") {
			t.Errorf("said %s", &said)
		}
	}
	for to, ok := range map[string]bool{"": true, "https://x": true, "http://x": true, "notify-send done": true, "curl -d @- https://x": true, "ftp://x": false, "slack://x": false} {
		if err := (runOptions{notify: to}).checkNotify(); (err == nil) != ok {
			t.Errorf("%s: %v", to, err)
		}
	}
}

// TestBudget: a command takes no more of the processor's time than what is bearable at a prompt, at a tabulator key and
// for each load of a large block. The bounds are five times what an idle machine takes; the least of three counts.
func TestBudget(t *testing.T) {
	large := filepath.Join(t.TempDir(), "pipelines.hcl")
	filetest.Write(t, large, `step "command" "w" {
  for_each = toset([for i in range(1000) : format("%04d", i)])
  argv     = ["sh", "-c", "echo ${each.key}"]
}
`)
	paper, err := filepath.Abs(filepath.Join("..", ".."))
	errtest.None(t, err)
	for _, tt := range []struct {
		dir   string
		bound time.Duration
		args  []string
	}{
		{paper, 150 * time.Millisecond, []string{"version"}},
		{paper, 300 * time.Millisecond, []string{"__complete", "run", "-t", ""}},
		{filepath.Dir(large), 600 * time.Millisecond, []string{"validate"}},
	} {
		least := time.Hour
		for range 3 {
			c := exec.Command("redsi", tt.args...)
			c.Dir = tt.dir
			if err := c.Run(); err != nil {
				t.Fatalf("%v: %v", tt.args, err)
			}
			least = min(least, c.ProcessState.UserTime()+c.ProcessState.SystemTime())
		}
		if least > tt.bound {
			t.Errorf("redsi %v takes %s of the processor's time, more than %s", tt.args, least, tt.bound)
		}
	}
}

// TestWorkerModules: the files and modules of a pipeline that a workflow names lie where the
// worker accepts pipelines.
func TestWorkerModules(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	for name, text := range map[string]string{
		"in/good.hcl":   "module \"m\" {\n  source = \"./m.hcl\"\n}\n",
		"in/bad.hcl":    "module \"m\" {\n  source = \"../out/m.hcl\"\n}\n",
		"in/remote.hcl": "module \"m\" {\n  source = \"git::file:///nowhere?ref=v1\"\n}\n",
		"in/m.hcl":      "",
		"out/m.hcl":     "",

		"in/whole/pipelines.hcl":  "locals {\n  x = local.y\n}\n",
		"in/whole/more.hcl":       "locals {\n  y = 1\n}\n",
		"in/linked/pipelines.hcl": "",
		"in/module.hcl":           "module \"m\" {\n  source = \"./linked\"\n}\n",
	} {
		path := filepath.Join(top, name)
		filetest.Write(t, path, text)
	}
	errtest.None(t, os.Symlink(filepath.Join(top, "out", "m.hcl"), filepath.Join(top, "in", "linked", "more.hcl")))
	a := newApp(&session.Session{Registry: kinds.Registry(), StateDir: filepath.Join(top, "state")}, nil, nil)
	accept := (&activities.Activities{Accept: []string{filepath.Join(top, "in")}}).Accepts
	const refused = "does not accept"
	for file, want := range map[string]string{"good.hcl": "", "bad.hcl": refused, "remote.hcl": "is not pinned",
		"whole/pipelines.hcl": "", "linked/pipelines.hcl": refused, "linked": refused, "module.hcl": refused} {
		_, _, err := a.OpenForWorker(t.Context(), accept, filepath.Join(top, "in", file), nil, nil)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", file, err, want)
		}
	}
}

// TestDamagedChecks: JSON that something stands behind is not what the table had.
func TestDamagedChecks(t *testing.T) {
	dir := t.TempDir()
	store, err := open.Store(t.Context(), dir)
	errtest.None(t, err)
	d := storetest.Put(t, store, []byte(`{"stubs": []}`))
	r := &artifacts.Result{Outputs: map[string]artifacts.Artifact{"json": {Type: "table/json", Digest: d}}}
	errtest.None(t, errtest.Of(expect.Result(t.Context(), "table.x", []byte(`{}`), r, store.Blobs.Open)))
	blobs, err := filepath.Glob(filepath.Join(dir, "blobs", "*", "*"))
	if err != nil || len(blobs) != 1 {
		t.Fatalf("%q, %v", blobs, err)
	}
	errtest.None(t, errors.Join(os.Chmod(blobs[0], 0o644), os.WriteFile(blobs[0], []byte(`{"stubs": []} `), 0o644)))
	var damaged *artifacts.IntegrityError
	if _, err := expect.Result(t.Context(), "table.x", []byte(`{}`), r, store.Blobs.Open); !errors.As(err, &damaged) {
		t.Errorf("a damaged blob: %v", err)
	}
}

// fitted is a kind that leaves another model each time, and asking one that says how good
// a model is.
type fitted struct {
	Seed int `hcl:"seed" help:"of the model"`
}

type asking struct {
	Model   step.Input `hcl:"model" help:"the model"`
	Queries int        `hcl:"queries" help:"how many"`
}

func modelKinds() *step.Registry {
	write := func(x *step.IO, output, text string) error {
		w, err := x.Create(output)
		if err != nil {
			return err
		}
		if _, err := io.WriteString(w, text); err != nil {
			return err
		}
		return w.Close()
	}
	made := 0
	return step.NewRegistry(
		step.Define(step.Kind[fitted]{Name: "fit", Version: 1, Doc: "Fit.", Inline: true,
			Outputs: []step.Output{{Name: "model", Type: "m", Alike: step.Evaluated{By: "ask", Output: "report", Fields: map[string]step.Margin{"mrr": {Abs: 1}}}}},
			Run: func(_ context.Context, x *step.IO, c fitted) error {
				made++
				return write(x, "model", fmt.Sprint(c.Seed+made/3)) // the third one is another
			}}),
		step.Define(step.Kind[asking]{Name: "ask", Version: 1, Doc: "Ask.", Inline: true, Outputs: []step.Output{{Name: "report", Type: "r"}},
			Run: func(_ context.Context, x *step.IO, c asking) error {
				r, err := x.Open(c.Model)
				if err != nil {
					return err
				}
				defer r.Close()
				b, err := io.ReadAll(r)
				if err != nil {
					return err
				}
				return write(x, "report", fmt.Sprintf(`{"mrr": %s, "queries": %d}`, b, c.Queries))
			}}))
}

// TestRebuildAsks: the steps that evaluate a model are found in the whole pipeline, though
// the model needs none of them, and those of other models are left alone.
func TestRebuildAsks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "pipelines.hcl")
	filetest.Write(t, file, `
step "fit" "a" {
  for_each = toset(["x", "y"])
  seed     = each.key == "x" ? 50 : 70
}
step "ask" "few" {
  model   = step.fit.a["x"].model
  queries = 10
}
step "ask" "many" {
  for_each = toset(["100", "200"])
  model    = step.fit.a["x"].model
  queries  = tonumber(each.key)
}
step "ask" "other" {
  model   = step.fit.a["y"].model
  queries = 10
}
`)
	p := &paper{t: t, kinds: modelKinds(), args: []string{"-f", file, "--state", filepath.Join(dir, "state")}}
	rebuilt := func(args ...string) (all rebuild.All) {
		t.Helper()
		p.json(&all, append([]string{"verify", "--json", "--rebuild"}, args...)...)
		return all
	}
	p.run("run")
	got := rebuilt(`step.fit.a["x"]`)
	if got.Within != 1 || len(got.Steps) != 1 {
		t.Fatalf("%+v", got)
	}
	f := got.Steps[0].Outputs[0]
	want := []string{"step.ask.few", `step.ask.many["100"]`, `step.ask.many["200"]`}
	if f.Verdict != alike.Within || !slices.Equal(f.By, want) || got.Steps[0].Attestation == "" {
		t.Errorf("%+v, attested as %q", f, got.Steps[0].Attestation)
	}
	if late := rebuilt(`step.fit.a`, "--budget", "1ns"); len(late.LeftOut) != 2 || len(late.Steps) != 0 || late.LeftOut[0].ExpectsS <= 0 {
		t.Errorf("%+v", late)
	}
	plan := p.run("plan", "--detailed-exitcode")
	if !bytes.Contains(plan, []byte("6 hit")) {
		t.Errorf("what stands is another:\n%s", plan)
	}
}
