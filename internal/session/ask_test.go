package session_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/redsi/redsi/internal/session"
	"github.com/redsi/redsi/internal/system/filetest"
	"github.com/redsi/redsi/step"
)

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
	filetest.Write(t, file, "variable \"a\" { ask = \"A?\" }\nvariable \"b\" { ask = \"B?\" }\n")
	ctx, leave := context.WithCancel(t.Context())
	l := &leaving{leave: leave}
	se := &session.Session{Talk: l, Registry: step.NewRegistry(), File: file}
	if _, err := se.Load(ctx); !errors.Is(err, context.Canceled) || l.asked != 1 {
		t.Errorf("asked %d times: %v", l.asked, err)
	}
}
