package session

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/local"
	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/internal/system/atomicfile"
)

// ask asks the person at the terminal for variables that errors are about, and loads the pipeline with the answers; those
// that mend it are kept in its folder's settings. Without an answer it returns what it was given.
func (se *Session) ask(ctx context.Context, p *pipeline.Pipeline, ds pipeline.Diagnostics) (*pipeline.Pipeline, pipeline.Diagnostics, error) {
	answers := map[string]json.RawMessage{}
	for _, q := range ds.Questions {
		if answer := strings.TrimSpace(se.Ask(ctx, q.Text)); answer != "" {
			answers[q.Variable], _ = json.Marshal(answer) // strings always marshal
		}
		if ctx.Err() != nil {
			return nil, ds, ctx.Err()
		}
	}
	if len(answers) == 0 {
		return p, ds, nil
	}
	block, err := local.Variables(answers)
	if err != nil {
		return nil, ds, err
	}
	file := filepath.Join(ProjectDir(se.File), syntax.LocalFile)
	more, wrong := local.Parse(filepath.ToSlash(file), block, "")
	if wrong.HasErrors() {
		return nil, ds, wrong.Err()
	}
	se.Local.File, se.Local.Variables = file, append(se.Local.Variables, more.Variables...)
	if p, ds, err = se.Evaluate(ctx); err != nil || ds.HasErrors() {
		return p, ds, err
	}
	if err := add(file, block); err != nil {
		se.Say("the answer is used, but not kept: " + err.Error())
	} else {
		se.Say("kept in " + file + ", so that it is not asked again")
	}
	return p, ds, nil
}

// add adds lines to the end of a file, whose permissions stay and whose link is followed.
func add(file string, lines []byte) error {
	perm := fs.FileMode(0o644)
	if to, err := filepath.EvalSymlinks(file); err == nil {
		file = to
	}
	if info, err := os.Stat(file); err == nil {
		perm = info.Mode().Perm()
	}
	have, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if len(have) > 0 && !bytes.HasSuffix(have, []byte("\n")) {
		have = append(have, '\n')
	}
	return atomicfile.WriteFile(file, append(have, lines...), perm)
}
