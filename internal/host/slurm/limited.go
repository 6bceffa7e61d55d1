package slurm

import (
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/gofrs/flock"

	"github.com/redsi/redsi/internal/system/lists"
)

// Pauses between calls, as sites like them. For a while after something was submitted the queue is looked at more often.
const (
	submitPause = 30 * time.Second
	lookPause   = time.Minute
	closePause  = 10 * time.Second
	closeFor    = 2 * time.Minute
	mostPause   = 15 * time.Minute
)

// Limited makes a run's calls of Slurm with pauses, which each refusal doubles. It is for one goroutine, which may
// ask as often as it likes.
type Limited struct {
	Names []string // of its jobs

	submit, look    pause
	submitted       time.Time
	looked, doubted time.Time
	queue           []Queued // as it was last seen
}

// Jobs returns what squeue said when it was last asked, with the error of this look if there was one.
func (l *Limited) Jobs(ctx context.Context) ([]Queued, error) {
	if !l.look.over() {
		return l.queue, nil
	}
	l.looked = time.Now()
	jobs, err := List(ctx, l.Names...)
	if err == nil {
		l.queue = jobs
	}
	usual := lookPause
	if time.Since(l.submitted) < closeFor && slices.ContainsFunc(l.queue, func(q Queued) bool { return q.State == Pending }) {
		usual = closePause
	}
	return l.queue, l.look.after(ctx, err, usual)
}

// Doubt has the queue looked at sooner, at most once a minute, since something contradicts what was last seen.
func (l *Limited) Doubt() {
	soon := l.looked.Add(closePause)
	if !l.look.refused && soon.Before(l.look.until) && time.Since(l.doubted) >= lookPause {
		l.doubted, l.look.until = time.Now(), soon
	}
}

// Known reports whether the queue is known: it was looked at, and squeue did not refuse the last time.
func (l *Limited) Known() bool { return l.look.length > 0 && !l.look.refused }

// Last returns the queue as it was last seen, without asking.
func (l *Limited) Last() []Queued { return l.queue }

// Submit submits an array if its pause is over and the queue is known, with what other commands have submitted for the
// same output; else id is "". Its jobs are among Jobs at once. A submission that fails may have succeeded all the same:
// the queue is looked at before the next.
func (l *Limited) Submit(ctx context.Context, j Job, n int) (id string, err error) {
	if !l.submit.over() || !l.Known() {
		return "", nil
	}
	if j.Output != "" { // other commands may submit for it, too: each has to see the jobs of the last
		last := flock.New(j.Output + ".lock")
		defer last.Close()
		if ok, err := last.TryLock(); !ok {
			return "", err
		}
		text, _ := os.ReadFile(last.Path()) // empty at first
		if at, err := time.Parse(time.RFC3339Nano, string(text)); err == nil && !at.Before(l.looked) {
			l.look.until = l.looked.Add(closePause)
			return "", nil
		}
		defer func() { _ = os.WriteFile(last.Path(), []byte(time.Now().Format(time.RFC3339Nano)), 0o600) }() // without it there may be too many
	}
	of := j
	// As newer versions of Slurm do, so that no worker has to ask when its job ends.
	const end = `export SLURM_JOB_END_TIME="${SLURM_JOB_END_TIME:-$(($(date +%%s) + %d))}"`
	of.Setup = append([]string{fmt.Sprintf(end, j.Pilot.Time/time.Second)}, j.Setup...)
	if id, err = of.Submit(ctx, n); err == nil {
		l.queue = append(slices.Clip(l.queue), lists.Map(lists.Places(n), func(i int) Queued {
			return Queued{ID: fmt.Sprintf("%s_%d", id, i+1), Name: j.Name, Said: "PENDING"}
		})...)
	}
	l.submitted = time.Now()
	l.look.until = l.submitted.Add(closePause)
	return id, l.submit.after(ctx, err, submitPause)
}

type pause struct {
	until   time.Time
	length  time.Duration // of the last
	refused bool
}

func (p *pause) over() bool { return !time.Now().Before(p.until) }

// after begins the pause that follows a call, and adds its length to the call's error.
func (p *pause) after(ctx context.Context, err error, usual time.Duration) error {
	if ctx.Err() != nil {
		return err
	}
	if p.refused = err != nil; p.refused {
		usual = min(2*max(p.length, usual), mostPause)
		err = fmt.Errorf("%w; the next try is in %s", err, usual)
	}
	p.length, p.until = usual, time.Now().Add(usual)
	return err
}
