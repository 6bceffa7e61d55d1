package session

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/local"
	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/internal/stores/open"
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
		if value, ok := p.Inputs()[name]; ok {
			name += "=" + value
		}
		l.Vars = append(l.Vars, shellwords.Quote(name))
	}
}
