package slurm

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redsi/redsi/internal/host/capacity"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/shellwords"
	"github.com/redsi/redsi/internal/system/words"
)

// Site describes a site with Slurm.
type Site struct {
	Setup  []string // lines for bash, before the worker
	Max    int      // pilots at a time, of all sorts
	Head   []string // flags of sbatch for a run that is a job itself; nil: the flags of the first pilot without cards
	Pilots []Pilot  // the sorts of pilots
}

// HeadName is the name, in place of a pilot's, of a job that submits pilots.
const HeadName = "head"

// HeadPilot returns what a job asks for that keeps a run and computes nothing, for the time in text.
func (s *Site) HeadPilot(text string) (p Pilot, err error) {
	p = Pilot{Name: HeadName, Flags: s.Head, Has: capacity.Amount{CPUs: 1, Memory: 2e9}}
	if i := slices.IndexFunc(s.Pilots, func(x Pilot) bool { return x.Has.GPUs == 0 }); s.Head == nil {
		p.Flags = s.Pilots[max(0, i)].Flags
	}
	return p, p.Set("time", text)
}

// Pilot is a sort of job that runs a worker.
type Pilot struct {
	Name  string
	Flags []string        // of sbatch
	Has   capacity.Amount // what a job asks Slurm for
	Time  time.Duration   // after which Slurm ends it
	Max   int             // at a time
	Idle  time.Duration   // after which a worker without work ends
	At    string          // where it is declared
}

const (
	UsualMax  = 20 // default of Max
	usualIdle = 5 * time.Minute

	Ending    = 2 * time.Minute // at a pilot's end, in which no step runs: its worker ends 90 seconds before the pilot
	leastTime = 5 * time.Minute // which leaves steps more time than Ending
)

// Set sets a field of the pilot by a setting.
func (p *Pilot) Set(name, text string) (err error) {
	switch name {
	case "cpus":
		p.Has.CPUs, err = Number(text, 1<<20)
	case "gpus":
		p.Has.GPUs, err = Number(text, 1<<10)
	case "max":
		p.Max, err = Number(text, 1000)
	case "time":
		p.Time, err = duration(text, leastTime)
	case "idle":
		p.Idle, err = duration(text, time.Second)
	case "memory":
		if p.Has.Memory, err = words.ParseSize(text); err != nil {
			err = fmt.Errorf(`want a size with its unit, such as "32GB", got %q`, text)
		}
	default:
		err = errors.New("a pilot has cpus, memory, gpus, time, max and idle")
	}
	return err
}

// Number reads a number from 1 to most.
func Number(text string, most int) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > most {
		err = fmt.Errorf("want a number from 1 to %d, got %s", most, text)
	}
	return n, err
}

func duration(text string, least time.Duration) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d < least {
		err = fmt.Errorf(`want a time of %s or more, such as "90m" or "4h", got %q`, least, text)
	}
	return d, err
}

// pilotName is the form of names that a job and a queue may have.
var pilotName = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9_-]{0,31}$`)

// Complete checks the settings, and adds defaults.
func (p *Pilot) Complete() error {
	switch {
	case !pilotName.MatchString(p.Name) || p.Name == HeadName:
		return errors.New("its name wants letters, digits, - and _, 32 at most, and is not " + HeadName + ", which is the run's own job")
	case p.Has.CPUs == 0 || p.Has.Memory == 0 || p.Time == 0:
		return errors.New(`it says what Slurm shall give it by cpus, memory and time, such as cpus = 8, memory = "32GB" and time = "4h": one is missing`)
	}
	p.Max, p.Idle = cmp.Or(p.Max, UsualMax), cmp.Or(p.Idle, usualIdle)
	return nil
}

// ParsePilot reads a site's only pilot from a command line: settings separated by commas, and flags of sbatch.
func ParsePilot(text string, flags []string) (Site, error) {
	p := Pilot{Name: "pilot", Flags: flags, At: "--pilot"}
	for part := range strings.SplitSeq(text, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		if err := p.Set(name, value); err != nil {
			return Site{}, fmt.Errorf("--pilot %s: %s: %w; want settings such as cpus=8,memory=32GB,time=4h,max=8", text, name, err)
		}
	}
	if err := p.Complete(); err != nil {
		return Site{}, fmt.Errorf("--pilot %s: %w", text, err)
	}
	return Site{Max: p.Max, Pilots: []Pilot{p}}, nil
}

func (p *Pilot) says(prefixes ...string) bool {
	return slices.ContainsFunc(p.Flags, func(flag string) bool {
		return slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(flag, prefix) })
	})
}

// Job describes jobs of a pilot, or the job that a run itself is.
type Job struct {
	Pilot  Pilot
	Name   string   // by which the jobs are found later
	Setup  []string // of the Site
	Worker []string // the command
	Output string   // folder for the output of each job, a file; "": Slurm's own place
	Server string   // of a head: a file that exists as long as its server
}

func (j *Job) isHead() bool { return j.Pilot.Name == HeadName }

// options returns the options of sbatch. The pilot's flags come first: of contradicting flags sbatch takes the last. A
// signal comes 60 to 120 seconds before the limit, in case the worker does not know that. Slurm requeues no pilot, which
// may not be needed any more. It requeues a head, whose script gets a signal when a quarter of its time is left, at most
// half an hour.
func (j *Job) options() []string {
	p := &j.Pilot
	list := append(slices.Clone(p.Flags), "--job-name="+j.Name, "--nodes=1", "--ntasks=1", fmt.Sprintf("--cpus-per-task=%d", p.Has.CPUs),
		fmt.Sprintf("--time=%d", (p.Time+time.Minute-1)/time.Minute))
	output := "/%A_%a.log"
	if j.isHead() {
		list, output = append(list, "--requeue", "--open-mode=append", fmt.Sprintf("--signal=B:USR1@%d", min(30*time.Minute, p.Time/4)/time.Second)), "/run.log"
	} else {
		list = append(list, "--no-requeue", "--signal=INT@60")
	}
	if !p.says("--mem=", "--mem-per-") {
		list = append(list, fmt.Sprintf("--mem=%dM", (p.Has.Memory+1<<20-1)>>20)) // a step that asks for all of it fits
	}
	if p.Has.GPUs > 0 && !p.says("--gres=", "--gpus", "-G") {
		list = append(list, fmt.Sprintf("--gres=gpu:%d", p.Has.GPUs))
	}
	if j.Output != "" {
		list = append(list, "--output="+j.Output+output)
	}
	return list
}

// headScript keeps a run's command. In good time before the job's end the script submits itself as a new job, and the
// command goes on until that job says by a file that it has begun: workers abandon their steps after ten seconds without
// a server, and a job that Slurm requeues begins two minutes later at the earliest. SIGKILL, the only signal that ends
// the command so, makes it cancel nothing and take no pilots back, and its server ends two seconds later. SIGTERM comes
// from scancel and cancels the run, unless a job follows, or Slurm has counted a restart: then it has requeued this job.
// Opening a file, unlike a look whether it exists, asks the server of a shared folder.
const headScript = `set +e
out=%s server=%s
leave() { { kill -KILL $head; wait $head; } 2>/dev/null; for i in {1..50}; do [ -e "$server" ] || break; sleep 0.2; done; }
follow() {
  until next=$(unset SLURM_RESTART_COUNT; sbatch --parsable "$0" "$SLURM_JOB_ID"); do sleep 60; done
  next=${next##*$'\n'} next=${next%%%%;*}
  echo "job $next goes on with the run when it begins"
  while kill -0 $head 2>/dev/null; do
    if { : < "$out/$next"; } 2>/dev/null; then leave; rm "$out/$next"; exit; fi
    sleep 0.5
  done
  scancel --quiet "$next"
}
trap follow USR1
trap 'if [ -z "$next" ] && scontrol show job "$SLURM_JOB_ID" | grep -q "Restarts=${SLURM_RESTART_COUNT:-0} "; then kill $head; else leave; fi' TERM
if [ $# = 1 ]; then
  echo "this job goes on with the run of job $1"
  touch "$out/$SLURM_JOB_ID"
  for i in {1..300}; do { : < "$out/$SLURM_JOB_ID"; } 2>/dev/null || break; sleep 0.2; done
fi
%s &
head=$!
while kill -0 $head 2>/dev/null; do wait $head; done
wait $head
`

// Script returns the file for sbatch. A line of setup that fails ends the job. srun is told the number of processors,
// which 22.05 does not take from the job, and to pass on the job's variables in spite of SBATCH_EXPORT=NONE; by exec the
// worker gets the signals.
func (j *Job) Script() string {
	lines := append([]string{"#!/bin/bash"}, lists.Map(j.options(), func(o string) string { return "#SBATCH " + shellwords.Quote(o) })...)
	lines = append(append(lines, "set -e"), j.Setup...)
	if j.isHead() {
		return strings.Join(lines, "\n") + "\n" + fmt.Sprintf(headScript, shellwords.Quote(j.Output), shellwords.Quote(j.Server), shellwords.Line(j.Worker))
	}
	lines = append(lines, `exec srun --export=ALL --ntasks=1 --cpus-per-task="$SLURM_CPUS_PER_TASK" `+shellwords.Line(j.Worker))
	return strings.Join(lines, "\n") + "\n"
}
