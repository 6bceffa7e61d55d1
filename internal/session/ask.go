package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/redsi/redsi/internal/pipeline"
)

// ask asks the person at the terminal for variables that errors of a pipeline are about, and loads
// it again with the answers. Those that mend it are kept in the settings of its folder. It returns
// what it was given if nobody answers.
func (se *Session) ask(ctx context.Context, p *pipeline.Pipeline, ds pipeline.Diagnostics) (*pipeline.Pipeline, pipeline.Diagnostics, error) {
	answers := map[string]json.RawMessage{}
	for _, q := range ds.Questions {
		if answer := strings.TrimSpace(se.Ask(ctx, q.Text)); answer != "" {
			answers[q.Variable], _ = json.Marshal(answer) // strings always marshal
		}
	}
	if len(answers) == 0 {
		return p, ds, nil
	}
	block, err := pipeline.LocalVariables(answers)
	if err != nil {
		return nil, ds, err
	}
	file := filepath.Join(ProjectDir(se.File), pipeline.LocalFile)
	more, wrong := pipeline.ParseLocal(filepath.ToSlash(file), block, "")
	if wrong.HasErrors() {
		return nil, ds, wrong.Err()
	}
	se.Local.File, se.Local.Variables = file, append(se.Local.Variables, more.Variables...)
	if p, ds, err = se.Evaluate(ctx); err != nil || ds.HasErrors() {
		return p, ds, err
	}
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, ds, fmt.Errorf("keep the answer: %w", err)
	}
	_, err = f.Write(block)
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, ds, fmt.Errorf("keep the answer: %w", err)
	}
	se.Say("kept in " + file + ", so that it is not asked again")
	return p, ds, nil
}
