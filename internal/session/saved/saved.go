// Package saved owns plans that are kept in a file to be run later as they are: what they were planned from, and what has changed
// since. It must not know flags, or how a change is printed.
package saved

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/session"
	"github.com/redsi/redsi/internal/stores/open"
	"github.com/redsi/redsi/internal/system/atomicfile"
	"github.com/redsi/redsi/internal/system/fault"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/values"
	"github.com/redsi/redsi/internal/system/words"
	"github.com/redsi/redsi/step"
)

const format = "redsi-saved-plan/1"

// Plan is what `redsi plan --out` showed, and what it was planned from.
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
	keys map[string]artifacts.Digest // by address, of steps that have one
}

// Other reports whether a hit has another key than in the saved plan, if any; the preimages say why.
func (s *Plan) Other(pl *plan.Plan, i int, it *plan.Item) bool {
	return s != nil && s.keys[pl.Steps[i].Address] != it.Key
}

// Step is a step with its key or, while that is unknown, its configuration with references for inputs.
type Step struct {
	Address  string            `json:"address"`
	Outcome  plan.Outcome      `json:"outcome"`
	Key      *artifacts.Digest `json:"key,omitempty"`
	Preimage json.RawMessage   `json:"preimage,omitempty"`
	Task     step.Task         `json:"task"`
}

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

func Save(se *session.Session, v *plan.Preview, path string) error {
	file, err := filepath.Abs(se.File)
	if err != nil {
		return err
	}
	vars := slices.DeleteFunc(slices.Clone(se.Vars), func(v string) bool { // without sensitive variables
		name, _, _ := strings.Cut(v, "=")
		_, is := se.Secrets[name]
		return is
	})
	s := Plan{Format: format, Saved: time.Now().UTC(), File: file, Vars: vars, Profile: se.Profile, Targets: se.Targets,
		Summary: v.Summary(), Steps: steps(v)}
	here, err := os.Getwd()
	if err != nil {
		return err
	}
	s.Store = open.Beside(here, se.StoreURL)
	for _, f := range se.VarFiles {
		if f, err = filepath.Abs(f); err != nil {
			return err
		}
		s.VarFiles = append(s.VarFiles, f)
	}
	if err := atomicfile.WriteJSON(path, s, "", 0o600); err != nil {
		return fault.Input(fmt.Errorf("--out: %w", err))
	}
	return nil
}

func Read(path string) (*Plan, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fault.Input(err)
	}
	var s Plan
	if err := values.Written(b, &s); err != nil || s.Format != format {
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

type Drift struct {
	Address string        `json:"address"`
	What    string        `json:"what"` // "changed", "new" or "gone"
	Changes []step.Change `json:"changes,omitempty"`
}

type Drifted struct {
	Name   string
	Drifts []Drift
}

func (e *Drifted) Error() string {
	return fmt.Sprintf("%s no longer as planned in %s; nothing was run: plan again", words.Count(len(e.Drifts), "step"), e.Name)
}

// Refuse returns a Drifted if a preview differs from the saved plan; nil accepts any preview.
func (s *Plan) Refuse(v *plan.Preview) error {
	if s == nil {
		return nil
	}
	drifts, err := driftOf(s.Steps, steps(v))
	if err != nil || len(drifts) == 0 {
		return err
	}
	return fault.Input(&Drifted{s.Name, drifts})
}

// driftOf compares two plans: keys if both steps have one, else configurations.
func driftOf(before, after []Step) ([]Drift, error) {
	now := lists.By(after, func(s Step) string { return s.Address })
	var out []Drift
	for _, old := range before {
		s, ok := now[old.Address]
		delete(now, old.Address)
		if !ok {
			out = append(out, Drift{Address: old.Address, What: "gone"})
			continue
		}
		x, y := []byte(old.Preimage), []byte(s.Preimage)
		same := old.Key != nil && s.Key != nil && *old.Key == *s.Key
		if old.Key == nil || s.Key == nil {
			var err1, err2 error
			x, err1 = json.Marshal(old.Task)
			y, err2 = json.Marshal(s.Task)
			if err := errors.Join(err1, err2); err != nil {
				return nil, err
			}
			same = bytes.Equal(x, y)
		}
		if same {
			continue
		}
		changes, err := session.ComparePreimages(x, y)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", old.Address, err)
		}
		out = append(out, Drift{Address: old.Address, What: "changed", Changes: changes})
	}
	for _, s := range after {
		if _, isNew := now[s.Address]; isNew {
			out = append(out, Drift{Address: s.Address, What: "new"})
		}
	}
	return out, nil
}
