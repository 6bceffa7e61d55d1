// Package saved owns plans that are kept in a file to be run later as they are: what they were
// made from, and what has changed since. It must not know flags, or how a change is printed.
package saved

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/session"
	"github.com/redsi/redsi/internal/system/atomicfile"
	"github.com/redsi/redsi/internal/system/fault"
	"github.com/redsi/redsi/step"
)

// format names the form of saved plans.
const format = "redsi-saved-plan/1"

// Plan is what `redsi plan --out` showed, and what it was made from.
type Plan struct {
	Format   string       `json:"format"`
	Saved    time.Time    `json:"saved"`
	File     string       `json:"file"` // absolute
	Vars     []string     `json:"vars,omitempty"`
	VarFiles []string     `json:"var_files,omitempty"` // absolute
	Profile  string       `json:"profile,omitempty"`   // of the settings
	Targets  []string     `json:"targets,omitempty"`
	Store    string       `json:"store"`
	Summary  plan.Summary `json:"summary"`
	Steps    []Step       `json:"steps"`

	Name string                      `json:"-"` // the file that it was read from
	keys map[string]artifacts.Digest // by address, where they are known
}

// Other reports whether a hit has a different key than in the saved plan, if there is one;
// the preimages say why.
func (s *Plan) Other(pl *plan.Plan, i int, it *plan.Item) bool {
	return s != nil && s.keys[pl.Steps[i].Address] != it.Key
}

// Step is a step with its key or, where that is not known yet, with its
// configuration, in which inputs are references.
type Step struct {
	Address  string            `json:"address"`
	Outcome  plan.Outcome      `json:"outcome"`
	Key      *artifacts.Digest `json:"key,omitempty"`
	Preimage json.RawMessage   `json:"preimage,omitempty"`
	Task     step.Task         `json:"task"`
}

// steps are the steps of a preview.
func steps(v *plan.Preview) []Step {
	steps := make([]Step, len(v.Items))
	for i, it := range v.Items {
		s := Step{Address: v.Plan.Steps[i].Address, Outcome: it.Outcome, Task: v.Plan.Steps[i].Task}
		if !it.Key.IsZero() {
			s.Key, s.Preimage = &it.Key, it.Preimage
		}
		steps[i] = s
	}
	return steps
}

// Save writes a preview of a session as a plan that can be run as it is.
func Save(se *session.Session, v *plan.Preview, path string) error {
	file, err := filepath.Abs(se.File)
	if err != nil {
		return err
	}
	s := Plan{Format: format, Saved: time.Now().UTC(), File: file, Vars: openVars(se), Profile: se.Profile, Targets: se.Targets,
		Store: se.StoreURL, Summary: v.Summary(), Steps: steps(v)}
	if !strings.Contains(se.StoreURL, "://") {
		if s.Store, err = filepath.Abs(se.StoreURL); err != nil {
			return err
		}
	}
	for _, f := range se.VarFiles {
		if f, err = filepath.Abs(f); err != nil {
			return err
		}
		s.VarFiles = append(s.VarFiles, f)
	}
	b, err := json.Marshal(s)
	if err == nil {
		err = atomicfile.WriteFile(path, append(b, '\n'), 0o600)
	}
	if err != nil {
		return fault.Input(fmt.Errorf("--out: %w", err))
	}
	return nil
}

// openVars are the variables given by --var that are not sensitive.
func openVars(se *session.Session) []string {
	return slices.DeleteFunc(slices.Clone(se.Vars), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		_, is := se.Secrets[name]
		return is
	})
}

// Read reads a plan that Save wrote.
func Read(path string) (*Plan, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fault.Input(err)
	}
	var s Plan
	if err := json.Unmarshal(b, &s); err != nil || s.Format != format {
		return nil, fault.Input(fmt.Errorf("%s is not a plan saved by `redsi plan --out FILE` (format %q; this build reads %q)", path, s.Format, format))
	}
	s.Name, s.keys = path, map[string]artifacts.Digest{}
	for _, x := range s.Steps {
		if x.Key != nil {
			s.keys[x.Address] = *x.Key
		}
	}
	return &s, nil
}
