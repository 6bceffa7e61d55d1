package cli

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/host/devserver"
	"github.com/redsi/redsi/internal/host/slurm"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/internal/session/drive"
	"github.com/redsi/redsi/internal/session/pilots"
	"github.com/redsi/redsi/internal/stores/open"
	"github.com/redsi/redsi/internal/system/fault"
	"github.com/redsi/redsi/internal/system/lists"
)

type slurmOptions struct {
	on    bool
	pilot string // in place of what the settings say
	asJob string // how long the job takes that is the command itself; "": it is done here
}

func (o *slurmOptions) flags(cmd *cobra.Command, what string) {
	f := cmd.Flags()
	f.BoolVar(&o.on, "slurm", false, what+", by the slurm block of "+syntax.LocalFile)
	f.StringVar(&o.pilot, "pilot", "", "with --slurm: the only sort of jobs, such as cpus=8,memory=32GB,time=4h,max=8, in place of that block; flags of sbatch follow --")
	onlyWith(cmd, "slurm", "pilot")
}

// args checks the arguments of such a command, whose flags of sbatch follow --.
func (o *slurmOptions) args(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		own, flags := atDash(cmd, args)
		if len(flags) > 0 && o.pilot == "" {
			return fault.Input(errors.New("what follows -- is for sbatch, with --slurm and --pilot; a slurm block has flags of its own"))
		}
		return check(cmd, own)
	}
}

func atDash(cmd *cobra.Command, args []string) (before, after []string) {
	if n := cmd.ArgsLenAtDash(); n >= 0 {
		return args[:n], args[n:]
	}
	return args, nil
}

// site reads which jobs of Slurm the settings, or flags, allow.
func (a *app) site(o slurmOptions) (*slurm.Site, error) {
	if o.pilot != "" {
		_, flags := atDash(a.cmd, a.cmd.Flags().Args())
		site, err := slurm.ParsePilot(o.pilot, flags)
		return &site, fault.Input(err)
	}
	if a.Local.Slurm == nil {
		return nil, fault.Input(errors.New("nothing says which jobs Slurm may get: write a slurm block into " + syntax.LocalFile + ", as docs/operations.md shows it, or name one sort by --pilot"))
	}
	return a.Local.Slurm, nil
}

func (a *app) pilots(o *runOptions) (*drive.Pilots, error) {
	switch {
	case o.Detach && o.slurm.on:
		return nil, fault.Input(errors.New("--detach leaves a run to others, but with --slurm this command submits its pilots: use nohup or tmux"))
	case o.Cluster.Listen != "" && !o.slurm.on:
		return nil, fault.Input(errors.New("--listen can be used only with --slurm here; `redsi dev --listen` has a server for workers that you start"))
	case !o.slurm.on:
		return nil, nil
	}
	site, err := a.site(o.slurm)
	if err != nil {
		return nil, err
	}
	output, err := filepath.Abs(filepath.Join(a.StateDir, "pilots"))
	p := &drive.Pilots{Site: site, Output: output}
	for _, pilot := range site.Pilots {
		j, jerr := a.job(site, pilot)
		j.Name, j.Output, err = a.jobName(pilot), output, cmp.Or(err, jerr)
		if key := o.Cluster.PayloadKey; key != "" {
			key, kerr := filepath.Abs(key)
			j.Worker, err = append(j.Worker, "--payload-key="+key), cmp.Or(err, kerr)
		}
		p.Jobs = append(p.Jobs, j)
	}
	return p, err
}

// jobName is the name by which this and the next command find the jobs of a run's pilot: jobs of this state folder and store.
func (a *app) jobName(p slurm.Pilot) string {
	of := open.Place(filepath.Dir(a.StateDir)) + "\x00" + filepath.Base(a.StateDir) // which need not be there yet
	if _, store, err := a.ForWorkers(); err == nil && store != "" {
		of += "\x00" + open.Place(store)
	}
	sum := sha256.Sum256([]byte(of))
	return "redsi-" + hex.EncodeToString(sum[:4]) + "-" + p.Name
}

// pilotsNow counts the pilots that Slurm has now; nil without Slurm, or without a slurm block in the settings.
func (a *app) pilotsNow(ctx context.Context) []pilots.Sum {
	site := a.Local.Slurm
	if site == nil || slurm.Here() != nil {
		return nil
	}
	ctx, stop := context.WithTimeoutCause(ctx, 10*time.Second, errors.New("squeue: no answer within 10s"))
	defer stop()
	all := slurm.Site{Pilots: append(slices.Clip(site.Pilots), slurm.Pilot{Name: slurm.HeadName})}
	names := lists.Map(all.Pilots, a.jobName)
	jobs, err := slurm.List(ctx, names...)
	if err != nil {
		a.Log.Warn("status cannot say which pilots there are: squeue failed", "err", err)
	}
	return pilots.SumOf(&all, names, jobs)
}

// job is what pilots of a sort run: this program as a worker of the state folder, with the worker's flags that were given.
func (a *app) job(site *slurm.Site, p slurm.Pilot) (slurm.Job, error) {
	words, _, err := a.elsewhere("worker", "--idle-exit="+p.Idle.String())
	if p.Has.GPUs > 0 {
		words = append(words, fmt.Sprintf("--gpus=%d", p.Has.GPUs))
	} else if pilots.AllowCPU(site) {
		words = append(words, "--allow-cpu")
	}
	if a.cmd.Name() == "worker" {
		words = append(words, a.given("state", "store", "slurm-script")...) // the last of two counts
	}
	return slurm.Job{Pilot: p, Name: "redsi-" + p.Name, Setup: site.Setup, Worker: words}, err
}

// elsewhere is a command line of this program on a machine that sees the state folder, and that folder.
func (a *app) elsewhere(verb string, flags ...string) (words []string, state string, err error) {
	program, err := os.Executable()
	state, store, serr := a.ForWorkers()
	words = append([]string{program, verb, "--state=" + state}, flags...)
	if store != "" {
		words = append(words, "--store="+store)
	}
	return words, state, errors.Join(err, serr)
}

// given returns the flags of this command that were given, without some.
func (a *app) given(but ...string) (words []string) {
	a.cmd.Flags().Visit(func(f *pflag.Flag) {
		if !slices.Contains(but, f.Name) {
			words = append(words, lists.Map(values(f), func(v string) string { return "--" + f.Name + "=" + v })...)
		}
	})
	return words
}

// asJob submits a job in place of this command, which does the same; the next job follows before it ends. If Slurm has such a job
// already, asJob says so, and queued is true.
func (a *app) asJob(ctx context.Context, o *runOptions) (queued bool, err error) {
	j, err := a.headJob(o)
	if none := slurm.Here(); none != nil {
		err = fault.Input(fmt.Errorf("--as-job: %w", none))
	}
	if err != nil {
		return false, err
	}
	tell := func(id, what string) error {
		o.notify = ""
		output := filepath.Join(j.Output, "run.log")
		return a.print(map[string]string{"job": id, "output": output}, nil, func(w io.Writer) {
			view.Printf(w, "%s\noutput  %s\nfollow  %s, or %s\nend     %s, or scancel %s\n", what, output, a.hint("status"), a.hint("attach"), a.hint("cancel"), id)
		})
	}
	jobs, err := slurm.List(ctx, j.Name)
	for _, q := range jobs {
		if q.State != slurm.Ended {
			return true, tell(q.ID, fmt.Sprintf("job %s keeps a run of this state folder and store already (%s): nothing was submitted", q.ID, q.Said))
		}
	}
	o.Instead = func(ctx context.Context) error {
		if err := os.MkdirAll(j.Output, 0o755); err != nil {
			return err
		}
		id, err := j.Submit(ctx, 1)
		if err != nil {
			return err
		}
		return tell(id, fmt.Sprintf("submitted the run as job %s; before its %s are over another one follows", id, o.slurm.asJob))
	}
	return false, err
}

func (a *app) headJob(o *runOptions) (j slurm.Job, err error) {
	if j.Pilot, err = o.Pilots.Site.HeadPilot(o.slurm.asJob); err != nil {
		return j, fault.Input(fmt.Errorf("--as-job: %w", err))
	}
	words, state, err := a.elsewhere(a.cmd.Name(), a.given("as-job", "state", "store")...)
	args, flags := atDash(a.cmd, a.cmd.Flags().Args())
	j.Worker = slices.Concat(words, args, []string{"--"}, flags)
	j.Name, j.Setup, j.Output, j.Server = a.jobName(j.Pilot), o.Pilots.Site.Setup, filepath.Join(state, slurm.HeadName), filepath.Join(state, "temporal", devserver.InfoFile)
	return j, err
}

// slurmScript prints the file for sbatch by which somebody submits workers by hand: of the named pilot, or the only one.
func (a *app) slurmScript(names []string) error {
	site, err := a.site(slurmOptions{})
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

// usePilots adds to a plan's facts what it would use pilots for and, where there is Slurm, when they could start.
func (a *app) usePilots(ctx context.Context, v *plan.Preview, o slurmOptions, facts *view.PlanFacts) error {
	site, err := a.site(o)
	if err != nil {
		return err
	}
	facts.Pilots, facts.Unfit = pilots.UseOf(site, v, facts.Estimate, a.Registry)
	defer a.Waiting("asking Slurm when pilots could start")()
	for i := range facts.Pilots {
		u := &facts.Pilots[i]
		if u.Steps == 0 {
			continue
		}
		j, err := a.job(site, site.Pilots[i])
		if err != nil {
			return err
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
