package session

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/local"
	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/internal/stores/open"
	"github.com/redsi/redsi/internal/system/atomicfile"
	"github.com/redsi/redsi/internal/system/fault"
	"github.com/redsi/redsi/internal/system/shellwords"
)

// Local is what a folder's LocalFile sets, unless something of higher precedence does.
type Local struct {
	local.Settings
	File  string          // "" if there is none
	Flags map[string]bool // that it set
	Vars  []string        // that it set, as NAME=VALUE; sensitive ones as NAME
}

// LocalOf reads the settings of a folder. A profile must exist if it was asked for; the environment's need not.
func (se *Session) LocalOf(folder string) (Local, pipeline.Diagnostics, error) {
	file := filepath.Join(folder, syntax.LocalFile)
	b, err := syntax.ReadFile(file)
	switch {
	case errors.Is(err, fs.ErrNotExist) && se.ProfileGiven:
		return Local{}, pipeline.Diagnostics{}, fault.Input(fmt.Errorf("--profile %s: there is no %s", se.Profile, file))
	case errors.Is(err, fs.ErrNotExist):
		return Local{}, pipeline.Diagnostics{}, nil
	case err != nil:
		return Local{}, pipeline.Diagnostics{}, fault.Input(err)
	}
	l, ds := local.Parse(filepath.ToSlash(file), b, se.Profile)
	return Local{Settings: l, File: file, Flags: map[string]bool{}}, ds, nil
}

// Beside is a folder or a store that the settings name, relative to theirs.
func (l *Local) Beside(path string) string { return open.Beside(filepath.Dir(l.File), path) }

// gave records which variables of a pipeline the settings set.
func (l *Local) gave(p *pipeline.Pipeline) {
	l.Vars = nil
	for _, name := range p.Local {
		if value, ok := p.Inputs[name]; ok {
			name += "=" + value
		}
		l.Vars = append(l.Vars, shellwords.Quote(name))
	}
}

// ask asks for variables that errors are about, loads with the answers, and adds these to the settings if the pipeline is valid then.
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
