package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/host/slurm"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/internal/session/pilots"
	"github.com/redsi/redsi/internal/stores/open"
	"github.com/redsi/redsi/internal/system/fault"
	"github.com/redsi/redsi/internal/system/lists"
)

// site is what the settings say of Slurm.
func (a *app) site() (*slurm.Site, error) {
	if a.Local.Slurm == nil {
		return nil, fault.Input(errors.New("nothing says which jobs Slurm may get: write a slurm block into " + syntax.LocalFile + "; docs/operations.md has one"))
	}
	return a.Local.Slurm, nil
}

// job is what pilots of a sort run: this program as a worker of the state folder, with the flags of a worker that
// were given.
func (a *app) job(site *slurm.Site, p slurm.Pilot) (slurm.Job, error) {
	program, err := os.Executable()
	state, serr := filepath.Abs(a.StateDir)
	store := a.StoreURL
	if folder := open.Folder(store); folder != "" && serr == nil {
		store, serr = filepath.Abs(folder)
	}
	words := []string{program, "worker", "--state=" + state, "--idle-exit=" + p.Idle.String()}
	if store != filepath.Join(state, "store") {
		words = append(words, "--store="+store)
	}
	if p.Has.GPUs > 0 {
		words = append(words, fmt.Sprintf("--gpus=%d", p.Has.GPUs))
	} else if pilots.AllowCPU(site) {
		words = append(words, "--allow-cpu")
	}
	a.cmd.Flags().Visit(func(f *pflag.Flag) { // the last of two counts
		if a.cmd.Name() == "worker" && !slices.Contains([]string{"state", "store", "slurm-script"}, f.Name) {
			words = append(words, lists.Map(values(f), func(v string) string { return "--" + f.Name + "=" + v })...)
		}
	})
	return slurm.Job{Pilot: p, Name: "redsi-" + p.Name, Setup: site.Setup, Worker: words}, errors.Join(err, serr)
}

// slurmScript prints the file for sbatch by which somebody submits workers by hand: of the named pilot, or the only one.
func (a *app) slurmScript(names []string) error {
	site, err := a.site()
	if err != nil {
		return err
	}
	pilot := strings.Join(names, " ")
	i := slices.IndexFunc(site.Pilots, func(p slurm.Pilot) bool { return p.Name == pilot || pilot == "" && len(site.Pilots) == 1 })
	if i < 0 {
		return fault.Input(fmt.Errorf("%s: the pilots of %s are %s", strings.TrimSpace("--slurm-script "+pilot), a.Local.File,
			strings.Join(lists.Map(site.Pilots, func(p slurm.Pilot) string { return p.Name }), ", ")))
	}
	j, err := a.job(site, site.Pilots[i])
	if err != nil {
		return err
	}
	return view.Copy(a.Out, strings.NewReader(j.Script()), terminal(a.Out) > 0)
}

// usePilots adds to what is known of a plan what it would use pilots for and, where there is Slurm, when they could start.
func (a *app) usePilots(ctx context.Context, v *plan.Preview, facts *view.PlanFacts) error {
	site, err := a.site()
	if err != nil {
		return err
	}
	facts.Pilots, facts.Unfit = pilots.UseOf(site, v, facts.Estimate, a.Registry)
	defer a.Waiting("asking Slurm when pilots could start")()
	for i := range facts.Pilots {
		u := &facts.Pilots[i]
		j, err := a.job(site, site.Pilots[i])
		if err != nil {
			return err
		}
		if u.Steps == 0 {
			continue
		}
		at, err := j.FirstStart(ctx)
		if refused, ok := errors.AsType[*slurm.RefusedError](err); ok {
			u.Refused, err = fmt.Sprintf("%s (%s)", refused.Said, j.Pilot.At), nil
		} else if err == nil {
			u.Start = &at
		}
		if errors.Is(err, slurm.ErrNone) {
			a.Say("when pilots could start is not known here: " + err.Error())
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}
