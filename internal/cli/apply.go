package cli

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

	"github.com/spf13/cobra"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/session"
	"github.com/redsi/redsi/internal/system/atomicfile"
	"github.com/redsi/redsi/internal/system/fault"
	"github.com/redsi/redsi/step"
)

// savedPlanFormat names the form of saved plans.
const savedPlanFormat = "redsi-saved-plan/1"

// savedPlan is what `redsi plan --out` showed, and what it was made from.
type savedPlan struct {
	Format   string       `json:"format"`
	Saved    time.Time    `json:"saved"`
	File     string       `json:"file"` // absolute
	Vars     []string     `json:"vars,omitempty"`
	VarFiles []string     `json:"var_files,omitempty"` // absolute
	Profile  string       `json:"profile,omitempty"`   // of the settings
	Targets  []string     `json:"targets,omitempty"`
	Store    string       `json:"store"`
	Summary  plan.Summary `json:"summary"`
	Steps    []savedStep  `json:"steps"`

	name string
	keys map[string]artifacts.Digest // by address, where they are known
}

// other reports whether a hit has a different key than in the saved plan, if there is one;
// the preimages say why.
func (s *savedPlan) other(pl *plan.Plan, i int, it *plan.Item) bool {
	return s != nil && s.keys[pl.Steps[i].Address] != it.Key
}

// savedStep is a step with its key or, where that is not known yet, with its
// configuration, in which inputs are references.
type savedStep struct {
	Address  string            `json:"address"`
	Outcome  plan.Outcome      `json:"outcome"`
	Key      *artifacts.Digest `json:"key,omitempty"`
	Preimage json.RawMessage   `json:"preimage,omitempty"`
	Task     step.Task         `json:"task"`
}

func savedSteps(v *plan.Preview) []savedStep {
	steps := make([]savedStep, len(v.Items))
	for i, it := range v.Items {
		s := savedStep{Address: v.Plan.Steps[i].Address, Outcome: it.Outcome, Task: v.Plan.Steps[i].Task}
		if !it.Key.IsZero() {
			s.Key, s.Preimage = &it.Key, it.Preimage
		}
		steps[i] = s
	}
	return steps
}

func (a *app) savePlan(v *plan.Preview, path string) error {
	file, err := filepath.Abs(a.File)
	if err != nil {
		return err
	}
	s := savedPlan{Format: savedPlanFormat, Saved: time.Now().UTC(), File: file, Vars: a.openVars(), Profile: a.Profile, Targets: a.Targets,
		Store: a.StoreURL, Summary: v.Summary(), Steps: savedSteps(v)}
	if !strings.Contains(a.StoreURL, "://") {
		if s.Store, err = filepath.Abs(a.StoreURL); err != nil {
			return err
		}
	}
	for _, f := range a.VarFiles {
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
func (a *app) openVars() []string {
	return slices.DeleteFunc(slices.Clone(a.Vars), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		_, is := a.Secrets[name]
		return is
	})
}

func readSavedPlan(path string) (*savedPlan, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fault.Input(err)
	}
	var s savedPlan
	if err := json.Unmarshal(b, &s); err != nil || s.Format != savedPlanFormat {
		return nil, fault.Input(fmt.Errorf("%s is not a plan saved by `redsi plan --out FILE` (format %q; this build reads %q)", path, s.Format, savedPlanFormat))
	}
	s.name, s.keys = path, map[string]artifacts.Digest{}
	for _, x := range s.Steps {
		if x.Key != nil {
			s.keys[x.Address] = *x.Key
		}
	}
	return &s, nil
}

func newApplyCmd(a *app) *cobra.Command {
	var o runOptions
	cmd := &cobra.Command{
		Use:   "apply FILE",
		Short: "Run a plan saved by `redsi plan --out FILE`, if it would still do exactly the same",
		Long: `Run a plan saved by ` + "`redsi plan --out FILE`" + `, if it would still do exactly the same.

The pipeline is loaded again with the saved variables and targets. If any step
has a different key, because the HCL, a source, a program or redsi itself has
changed, nothing runs and the differences are shown. Results that have been
added to the store since are used.`,
		Example: `  redsi plan --target table.dedup_counts --out counts.plan
  redsi apply counts.plan`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := readSavedPlan(args[0])
			if err != nil {
				return err
			}
			a.File, a.Vars, a.VarFiles, a.Targets = s.File, s.Vars, s.VarFiles, s.Targets
			if !cmd.Flags().Changed("profile") {
				a.Profile = s.Profile
			}
			if err := a.useLocal(session.ProjectDir(a.File)); err != nil {
				return err
			}
			if !cmd.Flags().Changed("store") {
				a.StoreURL = s.Store
				delete(a.Local.Flags, "store")
			}
			o.saved = s
			return a.run(cmd.Context(), o)
		},
	}
	o.flags(cmd)
	a.fromFlags(cmd)
	a.metricsFlag(cmd)
	return cmd
}

// drift is a step that is no longer as it was planned.
type drift struct {
	Address string        `json:"address"`
	What    string        `json:"what"` // "changed", "new" or "gone"
	Changes []step.Change `json:"changes,omitempty"`
}

// refuse returns an error if a plan is not the saved one, and shows why.
func (a *app) refuse(s *savedPlan, v *plan.Preview) error {
	drifts, err := driftOf(s.Steps, savedSteps(v))
	if err != nil || len(drifts) == 0 {
		return err
	}
	if a.JSON {
		if err := view.WriteJSON(a.Out, map[string]any{"drift": drifts}); err != nil {
			return err
		}
	} else {
		for _, d := range drifts {
			view.Printf(a.Out, "%s is %s since the plan was saved\n", d.Address, d.What)
			for _, c := range d.Changes {
				view.Printf(a.Out, "       %s\n", c)
			}
		}
	}
	return fault.Input(fmt.Errorf("%s no longer as planned in %s; nothing was run: plan again", view.Count(len(drifts), "step"), s.name))
}

// driftOf compares two plans: keys where both are known, else configurations.
func driftOf(before, after []savedStep) ([]drift, error) {
	now := map[string]savedStep{}
	for _, s := range after {
		now[s.Address] = s
	}
	var out []drift
	for _, old := range before {
		s, ok := now[old.Address]
		delete(now, old.Address)
		if !ok {
			out = append(out, drift{Address: old.Address, What: "gone"})
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
		out = append(out, drift{Address: old.Address, What: "changed", Changes: changes})
	}
	for _, s := range after {
		if _, isNew := now[s.Address]; isNew {
			out = append(out, drift{Address: s.Address, What: "new"})
		}
	}
	return out, nil
}
