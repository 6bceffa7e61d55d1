package activities

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/pipeline/lockfile"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/stores/mem"
	"github.com/redsi/redsi/internal/stores/storetest"
	"github.com/redsi/redsi/internal/system/errtest"
	"github.com/redsi/redsi/step"
	"github.com/redsi/redsi/workflows"
)

// sourceConfig is a kind that finds out the checksum of what it writes.
type sourceConfig struct {
	URL    string `hcl:"url" help:"what to write"`
	SHA256 string `hcl:"sha256,optional" help:"of it"`
}

// A result that was accepted for the key of a task is filed under no other key, where nothing
// could use it.
func TestPinnedAccepted(t *testing.T) {
	kind := step.DefinePart(step.Kind[sourceConfig]{Name: "source", Version: 1, Doc: "Text.", Inline: true,
		Outputs: []step.Output{{Name: "out", Type: "text", Help: "text"}},
		Run:     func(context.Context, *step.IO, sourceConfig) error { return nil },
		Resolve: func(_ context.Context, env step.Sources, c sourceConfig) (sourceConfig, error) {
			p, _ := env.Pinned(c.URL)
			c.SHA256 = p.SHA256.Hex()
			return c, nil
		},
		Pins: func(c sourceConfig, outputs map[string]artifacts.Artifact) []step.Pin {
			return []step.Pin{{Source: c.URL, SHA256: outputs["out"].Digest, Size: outputs["out"].Size}}
		},
	})
	a := &Activities{Store: artifacts.Alone(mem.New()), Registry: step.NewRegistry(kind.Spec)}
	d := storetest.Put(t, a.Store.Own, []byte("out"))
	of := artifacts.Result{Preimage: []byte(`{"format":"redsi-key/1","kind":"source"}`), Outputs: map[string]artifacts.Artifact{"out": {Type: "text", Digest: d, Size: 3}}}
	of.Key = artifacts.KeyOf(of.Preimage)
	task, err := kind.Task(sourceConfig{URL: "https://example.org/x"})
	errtest.None(t, err)
	key, preimage, err := a.Registry.Key(task)
	errtest.None(t, err)
	said, err := artifacts.NewAcceptance(artifacts.Acceptance{Key: key, Of: of.Key, Outputs: of.OutputsDigest(), Reason: "r", By: "alice"}, nil)
	if err == nil {
		err = artifacts.Accept(t.Context(), a.Store, &of, preimage, said)
	}
	hit, lerr := artifacts.Lookup(t.Context(), a.Store, key)
	if err = errors.Join(err, lerr); err != nil || hit == nil {
		t.Fatal(hit, err)
	}
	under, pins, err := a.filePinned(t.Context(), &kind.Spec, task, *hit)
	if err != nil || len(pins) != 1 {
		t.Fatal(pins, err)
	}
	if got, err := artifacts.Lookup(t.Context(), a.Store, under); err != nil || got == nil {
		t.Errorf("it is filed where it is no hit: %v", err)
	}
	if keys, err := artifacts.ResultKeys(t.Context(), a.Store.Own.Records); err != nil || len(keys) != 1 {
		t.Errorf("%d results, %v", len(keys), err)
	}
}

// What sources were found to be is state of the run: what its first execution found is in
// the lock file at the end, whichever worker loads the plan again or writes the record.
func TestPinsOverContinueAsNew(t *testing.T) {
	const sources = 1500
	l := newLargeRun(t)
	source := step.DefinePart(step.Kind[sourceConfig]{Name: "source", Version: 1, Doc: "Text.", Inline: true,
		Outputs: []step.Output{{Name: "out", Type: "text", Help: "text"}},
		Run: func(_ context.Context, x *step.IO, c sourceConfig) error {
			l.ran.Add(1)
			w, err := x.Create("out")
			if err == nil {
				_, err = io.WriteString(w, c.URL)
			}
			return errors.Join(err, w.Close())
		},
		Resolve: func(_ context.Context, env step.Sources, c sourceConfig) (sourceConfig, error) {
			if p, ok := env.Pinned(c.URL); ok {
				c.SHA256 = p.SHA256.Hex()
			}
			return c, nil
		},
		Pins: func(c sourceConfig, outputs map[string]artifacts.Artifact) []step.Pin {
			return []step.Pin{{Source: c.URL, SHA256: outputs["out"].Digest, Size: outputs["out"].Size}}
		},
	})
	l.Registry = step.NewRegistry(source.Spec)
	p := &plan.Plan{Format: plan.Format, Pipeline: "p.hcl"}
	for i := range sources {
		url := fmt.Sprintf("https://example.org/%d", i)
		task, err := source.Task(sourceConfig{URL: url})
		errtest.None(t, err)
		p.Steps = append(p.Steps, plan.Step{Address: fmt.Sprintf("step.source.x[%q]", url), Task: task, Inline: true})
	}
	folder := t.TempDir()
	lock := filepath.Join(folder, lockfile.Name)
	l.Accept = []string{folder}
	l.Open = func(context.Context, string, map[string]string, []string) (*plan.Plan, string, error) {
		return p, lock, nil
	}
	// A worker that has neither been asked to load the plan nor done any of it.
	l.journal = (&Activities{Store: l.Store, Registry: l.Registry, Log: l.Log, Accept: l.Accept}).Journal

	res, executions, err := l.runOf(workflows.ReproduceInput{Pipeline: filepath.Join(folder, "p.hcl"), RunID: "1"})
	if err != nil || res.Ran != sources || l.ran.Load() != sources || executions < 2 {
		t.Fatalf("%+v in %d executions, %d ran: %v", res, executions, l.ran.Load(), err)
	}
	f, err := lockfile.Read(lock)
	if err != nil || len(f.Sources) != sources {
		t.Fatalf("%d of %d sources are pinned after %d executions: %v", len(f.Sources), sources, executions, err)
	}
	for _, s := range f.Sources {
		if s.SHA256 != artifacts.Sum([]byte(s.Source)) {
			t.Fatalf("%+v is not what was found", s)
		}
	}

	// A run that finds the results of another, or its own under another id, pins them too.
	lock = filepath.Join(folder, "elsewhere", lockfile.Name)
	errtest.None(t, os.Mkdir(filepath.Dir(lock), 0o755))
	if res, _, err = l.runOf(workflows.ReproduceInput{Pipeline: filepath.Join(folder, "p.hcl"), RunID: "2"}); err != nil || res.Hit != sources {
		t.Fatalf("%+v: %v", res, err)
	}
	if f, err = lockfile.Read(lock); err != nil || len(f.Sources) != sources {
		t.Errorf("%d of %d sources of hits are pinned: %v", len(f.Sources), sources, err)
	}
}
