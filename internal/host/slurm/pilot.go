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

// Site is what somebody says of a site that has Slurm.
type Site struct {
	Setup  []string // lines for bash, before the worker
	Max    int      // pilots at a time, of all sorts
	Head   []string // flags of sbatch for a run that is a job itself; nil: those of the first pilot without cards
	Pilots []Pilot  // their sorts
}

// HeadName stands where the names of pilots do, for a job that submits them.
const HeadName = "head"

// HeadPilot is what a job gets that keeps a run, and computes nothing: of so much time as the text says.
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
	At    string          // where it is said
}

const (
	UsualMax  = 20 // unless something else is said
	usualIdle = 5 * time.Minute

	Ending    = 2 * time.Minute // before a pilot's end, which is no step's: its worker ends 90 seconds before it
	leastTime = 5 * time.Minute // which leaves steps more than that
)

// Set gives the pilot what a setting says.
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

// Number reads one from 1 on.
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

// pilotName is what the name of a job and of a queue may have.
var pilotName = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9_-]{0,31}$`)

// Complete checks what was set, and adds what usually is.
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

// ParsePilot reads a site's only pilot as a command line has it: settings with commas between them, and flags of sbatch.
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

// says reports whether the pilot's flags have one that begins so.
func (p *Pilot) says(prefixes ...string) bool {
	return slices.ContainsFunc(p.Flags, func(flag string) bool {
		return slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(flag, prefix) })
	})
}

// Job is what jobs of a pilot run, or the one job of a run itself.
type Job struct {
	Pilot  Pilot
	Name   string   // by which they are found again
	Setup  []string // as a Site has it
	Worker []string // the command
	Output string   // a folder for a file of each; "": Slurm's own place
	Server string   // of a head: a file that is there while its server is
}

func (j *Job) isHead() bool { return j.Pilot.Name == HeadName }

// options are those of sbatch. The pilot's flags come first: of two that differ sbatch takes the last. A signal comes
// 60 to 120 seconds before the limit, where the worker does not know of that. No pilot is queued again by Slurm: it may
// not be needed any more. A head is, and a signal for its script comes when a quarter of its time is left, or half an hour.
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

// headScript keeps a run's command. In good time before the job's end the script submits itself again, and the command goes on
// until that job has begun, which says so by a file: workers give up what they do when they have had no server for ten
// seconds, and a job that Slurm queues again begins two minutes later at the earliest. Killed, as no other signal ends it,
// the command cancels nothing and takes no pilots back, and its server ends two seconds later. SIGTERM is scancel, which
// cancels the run, unless a job follows, or Slurm has counted a restart: then it has queued this one again. Opening a
// file, unlike a look whether it is there, asks the server of a shared folder.
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

// Script is the whole file for sbatch. A line of setup that fails ends the job. srun is told the processors, which in
// 22.05 it does not take from the job, and to pass on the job's variables, which it does not where SBATCH_EXPORT=NONE; by exec
// the worker has the signals.
func (j *Job) Script() string {
	lines := append([]string{"#!/bin/bash"}, lists.Map(j.options(), func(o string) string { return "#SBATCH " + shellwords.Quote(o) })...)
	lines = append(append(lines, "set -e"), j.Setup...)
	if j.isHead() {
		return strings.Join(lines, "\n") + "\n" + fmt.Sprintf(headScript, shellwords.Quote(j.Output), shellwords.Quote(j.Server), shellwords.Line(j.Worker))
	}
	lines = append(lines, `exec srun --export=ALL --ntasks=1 --cpus-per-task="$SLURM_CPUS_PER_TASK" `+shellwords.Line(j.Worker))
	return strings.Join(lines, "\n") + "\n"
}
