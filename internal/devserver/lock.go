package devserver

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"syscall"
	"time"

	"github.com/gofrs/flock"
)

// The locks of a state folder.
const (
	ownerLock   = "owner.lock"   // held by the server
	clientsLock = "clients.lock" // shared by who uses it; whole: nobody does
	firstLock   = "first.lock"   // shared by who uses it; whole: the first of them, while it prepares
	startLock   = "start.lock"   // held by who starts a server, until that answers
)

// lookEvery is how often a lock or a file that another process changes is looked at.
const lookEvery = 20 * time.Millisecond

// lockOf is a lock of the folder, not taken yet. Programs that this one starts do not
// inherit it.
func lockOf(dir, name string) *flock.Flock { return flock.New(filepath.Join(dir, name)) }

// Ways to take a lock. Who has it whole may take it shared.
var (
	whole  = (*flock.Flock).TryLock
	shared = (*flock.Flock).TryRLock
)

// take takes a lock if nobody is in the way.
func take(l *flock.Flock, how func(*flock.Flock) (bool, error)) (bool, error) {
	ok, err := how(l)
	switch {
	case errors.Is(err, syscall.EINTR): // the next try may tell
		return false, nil
	case err != nil:
		return false, fmt.Errorf("lock %s: %w", l.Path(), err)
	}
	return ok, nil
}

// await takes a lock in the first of some ways that can be had.
func await(ctx context.Context, l *flock.Flock, told *patience, hows ...func(*flock.Flock) (bool, error)) error {
	for {
		for _, how := range hows {
			if ok, err := take(l, how); ok || err != nil {
				return err
			}
		}
		if err := told.wait(ctx); err != nil {
			return err
		}
	}
}

// patience waits, and says what for if that takes long, again and again.
type patience struct {
	since time.Time
	say   func(string)
	what  func() string
	told  time.Time
}

// quietly is how long is waited without a word, sayEvery how long until the next.
const (
	quietly  = 3 * time.Second
	sayEvery = 15 * time.Second
)

func (p *patience) wait(ctx context.Context) error {
	if p.since.IsZero() {
		p.since = time.Now()
	}
	if time.Since(p.since) > quietly && time.Since(p.told) > sayEvery && p.say != nil {
		p.told = time.Now()
		p.say(p.what())
	}
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(lookEvery):
		return nil
	}
}
