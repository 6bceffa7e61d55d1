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
	Pilots []Pilot  // their sorts
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
	case !pilotName.MatchString(p.Name):
		return errors.New("its name wants letters, digits, - and _, 32 at most")
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

// Job is what jobs of a pilot run.
type Job struct {
	Pilot  Pilot
	Name   string   // by which they are found again
	Setup  []string // as a Site has it
	Worker []string // the command
	Output string   // a folder for a file of each; "": Slurm's own place
}

// options are those of sbatch. The pilot's flags come first: of two that differ sbatch takes the last. A signal comes
// 60 to 120 seconds before the limit, where the worker does not know of that. Nothing is queued again by Slurm: it may
// not be needed any more.
func (j *Job) options() []string {
	p := &j.Pilot
	list := append(slices.Clone(p.Flags), "--job-name="+j.Name, "--nodes=1", "--ntasks=1", fmt.Sprintf("--cpus-per-task=%d", p.Has.CPUs),
		fmt.Sprintf("--time=%d", (p.Time+time.Minute-1)/time.Minute), "--no-requeue", "--signal=INT@60")
	if !p.says("--mem=", "--mem-per-") {
		list = append(list, fmt.Sprintf("--mem=%dM", (p.Has.Memory+1<<20-1)>>20)) // a step that asks for all of it fits
	}
	if p.Has.GPUs > 0 && !p.says("--gres=", "--gpus", "-G") {
		list = append(list, fmt.Sprintf("--gres=gpu:%d", p.Has.GPUs))
	}
	if j.Output != "" {
		list = append(list, "--output="+j.Output+"/%A_%a.log")
	}
	return list
}

// Script is the whole file for sbatch. A line of setup that fails ends the job. srun is told the processors, which in
// 22.05 it does not take from the job, and by exec the worker has the signals.
func (j *Job) Script() string {
	lines := append([]string{"#!/bin/bash"}, lists.Map(j.options(), func(o string) string { return "#SBATCH " + shellwords.Quote(o) })...)
	lines = append(append(lines, "set -e"), j.Setup...)
	lines = append(lines, `exec srun --ntasks=1 --cpus-per-task="$SLURM_CPUS_PER_TASK" `+shellwords.Line(j.Worker))
	return strings.Join(lines, "\n") + "\n"
}
