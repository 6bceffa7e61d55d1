package slurm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redsi/redsi/internal/system/lists"
)

// ErrNone says that this machine lacks a program of Slurm, whose name precedes it.
var ErrNone = errors.New("is not in PATH, so this machine has no Slurm: go to a login node of the cluster, or load its module")

// Here returns an error if this machine lacks a program of Slurm that redsi calls.
func Here() error {
	for _, name := range []string{"sbatch", "squeue", "scancel"} {
		if _, err := exec.LookPath(name); err != nil {
			return fmt.Errorf("%s %w", name, ErrNone)
		}
	}
	return nil
}

// RefusedError is what a program of Slurm says when it does not do what it was asked for.
type RefusedError struct{ Program, Said string }

func (e *RefusedError) Error() string {
	return e.Program + ": " + strings.TrimPrefix(e.Said, e.Program+": ")
}

// longest bounds the time of a program: a busy controller answers late, and each program retries on its own.
const longest = 2 * time.Minute

// call runs a program of Slurm, and returns its standard output and standard error.
func call(ctx context.Context, stdin, name string, args ...string) (out, said string, err error) {
	ctx, stop := context.WithTimeoutCause(ctx, longest, &RefusedError{name, "no answer within " + longest.String()})
	defer stop()
	cmd := exec.CommandContext(ctx, name, args...)
	var stdout, stderr strings.Builder
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &stdout, &stderr
	cmd.Env, cmd.WaitDelay = environment(os.Environ()), time.Second
	err = cmd.Run()
	said = strings.ReplaceAll(strings.TrimSpace(stderr.String()), "\n", "; ")
	switch {
	case errors.Is(err, exec.ErrNotFound):
		err = fmt.Errorf("%s %w", name, ErrNone)
	case err != nil && ctx.Err() != nil:
		err = context.Cause(ctx)
	case err != nil:
		err = &RefusedError{name, cmp.Or(said, err.Error())}
	}
	return strings.TrimSpace(stdout.String()), said, err
}

// environment returns the variables for a program of Slurm, without a job's own, which sbatch would take for requests of
// the new job, and without those of squeue, which change what it lists.
func environment(all []string) []string {
	stays := []string{"SLURM_CONF", "SLURM_CONF_SERVER", "SLURM_CLUSTERS", "SLURM_JWT"}
	return append(lists.Filter(all, func(pair string) bool {
		name, _, _ := strings.Cut(pair, "=")
		return slices.Contains(stays, name) || !strings.HasPrefix(name, "SLURM") && !strings.HasPrefix(name, "SQUEUE_")
	}), "SLURM_TIME_FORMAT=standard")
}

// Submit submits an array of so many jobs, or a head, and returns its id.
func (j *Job) Submit(ctx context.Context, n int) (id string, err error) {
	options := append(j.options(), "--parsable")
	if !j.isHead() {
		options = append(options, fmt.Sprintf("--array=1-%d", n))
	}
	out, _, err := call(ctx, j.Script(), "sbatch", options...)
	id, _, _ = strings.Cut(out[strings.LastIndexByte(out, '\n')+1:], ";") // after a site's messages, and before a cluster's name
	if err == nil && id == "" {
		err = &RefusedError{"sbatch", "it does not say what it has submitted"}
	}
	return id, err
}

var startsAt = regexp.MustCompile(`\d+ to start at (\S+)`)

// FirstStart returns when a job could begin, as Slurm sees it now. Nothing is submitted.
func (j *Job) FirstStart(ctx context.Context) (at time.Time, err error) {
	_, said, err := call(ctx, j.Script(), "sbatch", append(j.options(), "--test-only")...)
	if m := startsAt.FindStringSubmatch(said); m != nil {
		at = when(m[1])
	}
	if err == nil && at.IsZero() {
		err = &RefusedError{"sbatch", cmp.Or(said, "it says no time")}
	}
	return at, err
}

// Cancel takes back jobs that have not begun. Jobs that have begun meanwhile go on.
func Cancel(ctx context.Context, ids ...string) error {
	_, _, err := call(ctx, "", "scancel", append([]string{"--quiet", "--state=PENDING"}, ids...)...)
	return err
}

// State is the state of a job, as far as it matters for pilots.
type State int

// The states of a job. A job whose node is being prepared, and a suspended job, count as running.
const (
	Pending State = iota
	Running
	Ended // or ending
)

// Queued is a job as squeue shows it.
type Queued struct {
	ID     string // 47_3 in an array
	Name   string
	State  State
	Said   string    // the state in Slurm's word
	Starts time.Time // when it began or, while it pends, is expected to; zero: not known, or it never began
	Ends   time.Time // when it ended, or will end at the latest
	Reason string    // why it pends, or failed
}

// List returns the account's jobs of these names, with jobs that have ended lately.
func List(ctx context.Context, names ...string) ([]Queued, error) {
	out, _, err := call(ctx, "", "squeue", "--me", "--noheader", "--array", "--states=all", "--name="+strings.Join(names, ","), "--format=%i|%j|%T|%S|%e|%N|%r")
	if err != nil {
		return nil, err
	}
	return parse(out)
}

// states are Slurm's words for jobs that pend or run. Jobs in all other states have ended.
var states = map[string]State{"PENDING": Pending, "REQUEUED": Pending, "REQUEUE_FED": Pending, "REQUEUE_HOLD": Pending, "SPECIAL_EXIT": Pending,
	"RUNNING": Running, "CONFIGURING": Running, "SUSPENDED": Running, "STOPPED": Running, "SIGNALING": Running, "RESIZING": Running}

func parse(out string) (jobs []Queued, err error) {
	for line := range strings.Lines(out) {
		f := strings.SplitN(strings.TrimSpace(line), "|", 7)
		if len(f) < 7 {
			return nil, &RefusedError{"squeue", fmt.Sprintf("%.100q is not what it was asked for", line)}
		}
		q := Queued{ID: f[0], Name: f[1], State: Ended, Said: f[2], Starts: when(f[3]), Ends: when(f[4]), Reason: f[6]}
		if state, ok := states[q.Said]; ok {
			q.State = state
		} else if f[5] == "" { // on no node: Starts is when it was taken back
			q.Starts = time.Time{}
		}
		jobs = append(jobs, q)
	}
	return jobs, nil
}

// when reads a time of Slurm's programs; zero if they do not know it.
func when(text string) time.Time {
	at, err := time.ParseInLocation("2006-01-02T15:04:05", text, time.Local)
	if err != nil {
		return time.Time{}
	}
	return at
}

// IDs writes ids of jobs in the short form that programs of Slurm take: 47_[1-3,5] 48.
func IDs(ids []string) string {
	var arrays []string
	of := map[string][]int{}
	for _, id := range ids {
		array, element, _ := strings.Cut(id, "_")
		if !slices.Contains(arrays, array) {
			arrays = append(arrays, array)
		}
		if n, err := strconv.Atoi(element); err == nil {
			of[array] = append(of[array], n)
		}
	}
	return strings.Join(lists.Map(arrays, func(array string) string {
		var ranges []string
		for rest := slices.Sorted(slices.Values(of[array])); len(rest) > 0; {
			n := 1
			for n < len(rest) && rest[n] == rest[n-1]+1 {
				n++
			}
			text := strconv.Itoa(rest[0])
			if n > 1 {
				text += "-" + strconv.Itoa(rest[n-1])
			}
			ranges, rest = append(ranges, text), rest[n:]
		}
		switch element := strings.Join(ranges, ","); {
		case element == "":
			return array
		case len(of[array]) == 1:
			return array + "_" + element
		default:
			return array + "_[" + element + "]"
		}
	}), " ")
}
