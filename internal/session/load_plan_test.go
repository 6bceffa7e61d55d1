package session_test

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"testing"

	"github.com/redsi/redsi/internal/session"
	"github.com/redsi/redsi/internal/system/testkit"
	"github.com/redsi/redsi/kinds"
	"github.com/redsi/redsi/step"
)

// TestLoadPlan: the pipeline of a plan, and of a preview, holds the steps that end as files, or all steps if the plan grows.
func TestLoadPlan(t *testing.T) {
	const fixed = `step "command" "w" {
  for_each = ["a", "b"]
  argv     = ["echo", each.key]
}
table "t" {
  stubs   = ["Of"]
  columns = [{ id = "n", title = "N", format = "integer" }]
  rows    = [{ id = "a", titles = ["a"], value = step.command.w["a"].stdout, at = "n:" }]
}
`
	for _, c := range []struct {
		text string
		kept int
	}{
		{fixed, 1},
		{fixed + "step \"command\" \"made\" {\n  argv    = [\"sh\", \"-c\", \"mkdir out/x\"]\n  outputs = [\"x/\"]\n}\n" +
			"step \"command\" \"each\" {\n  for_each = files(step.command.made.out, \"x/*\")\n  argv     = [\"true\"]\n}\n", 5},
	} {
		dir := t.TempDir()
		testkit.Write(t, filepath.Join(dir, "pipelines.hcl"), c.text)
		se := &session.Session{Talk: session.Quiet{}, Registry: kinds.Registry(), Log: slog.New(slog.DiscardHandler),
			File: filepath.Join(dir, "pipelines.hcl"), StateDir: filepath.Join(dir, "state"), StoreURL: filepath.Join(dir, "store")}
		pl, p, err := se.LoadPlan(t.Context())
		testkit.None(t, err)
		testkit.Is(t, len(p.Steps), c.kept, len(pl.Steps))
		v, err := se.Preview(t.Context(), nil)
		testkit.None(t, err)
		testkit.Is(t, len(v.Pipeline.Steps), c.kept, len(pl.Steps))
	}
}

// leaving is a person who ends the program at the first question.
type leaving struct {
	session.Quiet
	leave func()
	asked int
}

func (l *leaving) Ask(context.Context, string) string {
	l.asked++
	l.leave()
	return ""
}

// TestLeaving: who ends the program at a question is told nothing of the pipeline, and asked no more.
func TestLeaving(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pipelines.hcl")
	testkit.Write(t, file, "variable \"a\" { ask = \"A?\" }\nvariable \"b\" { ask = \"B?\" }\n")
	ctx, leave := context.WithCancel(t.Context())
	l := &leaving{leave: leave}
	se := &session.Session{Talk: l, Registry: step.NewRegistry(), File: file}
	if _, err := se.Load(ctx); !errors.Is(err, context.Canceled) || l.asked != 1 {
		t.Errorf("asked %d times: %v", l.asked, err)
	}
}
