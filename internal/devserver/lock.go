package devserver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
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

// lockFile opens a lock of the folder. Programs that this one starts do not
// inherit it.
func lockFile(dir, name string) (*os.File, error) {
	return os.OpenFile(filepath.Join(dir, name), os.O_CREATE|os.O_RDWR, 0o600)
}

// take takes a lock if nobody is in the way.
func take(f *os.File, how int) (bool, error) {
	for {
		err := syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB)
		switch {
		case err == nil:
			return true, nil
		case errors.Is(err, syscall.EWOULDBLOCK):
			return false, nil
		case !errors.Is(err, syscall.EINTR):
			return false, fmt.Errorf("lock %s: %w", f.Name(), err)
		}
	}
}

// await takes the first of some kinds of lock that can be had, and says which.
func await(ctx context.Context, f *os.File, told *patience, hows ...int) (int, error) {
	for {
		for _, how := range hows {
			if ok, err := take(f, how); ok || err != nil {
				return how, err
			}
		}
		if err := told.wait(ctx); err != nil {
			return 0, err
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
