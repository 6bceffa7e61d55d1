package devserver

import (
	"context"
	"errors"
	"path/filepath"
	"syscall"
	"time"

	"github.com/gofrs/flock"

	"github.com/redsi/redsi/internal/system"
	"github.com/redsi/redsi/internal/system/readers"
)

// The locks of a state folder.
const (
	ownerLock   = "owner.lock"   // held by the server
	clientsLock = "clients.lock" // shared by its users; exclusive: there are none
	firstLock   = "first.lock"   // shared by its users; exclusive: the first of them, while it prepares
	startLock   = "start.lock"   // held while a server is being started, until it answers
)

// lookEvery is how often locks and files of other processes are checked.
const lookEvery = 20 * time.Millisecond

// lockOf returns a lock of the folder, not taken yet. Child processes do not inherit it.
func lockOf(dir, name string) *flock.Flock { return flock.New(filepath.Join(dir, name)) }

// Ways to take a lock. The holder of an exclusive lock may make it shared.
var (
	exclusiveLock = (*flock.Flock).TryLock
	shared        = (*flock.Flock).TryRLock
)

func take(l *flock.Flock, how func(*flock.Flock) (bool, error)) (bool, error) {
	ok, err := how(l)
	switch {
	case errors.Is(err, syscall.EINTR): // try again
		return false, nil
	case err != nil:
		return false, system.LockError(err, l.Path(), "name a folder of another one with --state or REDSI_STATE; results may stay where they are (--store)")
	}
	return ok, nil
}

// await takes a lock in the first possible way, and waits until one is.
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

// patience waits and, if that takes long, says from time to time what for.
type patience struct {
	since time.Time
	say   func(string)
	what  func() string
	told  time.Time
}

// quietly is how long to wait in silence, sayEvery the time between messages.
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
	return readers.Pause(ctx, lookEvery)
}
