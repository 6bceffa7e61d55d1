package lease

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/host/allocation"
	"github.com/redsi/redsi/internal/system/process"
	"github.com/redsi/redsi/internal/system/readers"
)

// Keeper takes, renews and gives back the leases of a process.
type Keeper struct {
	records artifacts.Records
	self    process.Identity
	job     string
	name    string // with which the Taking of each of its leases begins
	log     *slog.Logger
	now     func() time.Time

	mu       sync.Mutex
	held     map[string]*Held   // by Taking; nil while it is being taken, or until it is deleted after all
	seen     map[string]sighted // others' leases, by Taking
	renewing bool
}

// sighted says when another keeper's lease was first seen with its present count of renewals.
type sighted struct {
	renewed int
	at      time.Time
}

// New returns a keeper of leases among records, which need not survive a power cut: leases are useless after a minute.
func New(records artifacts.Records, log *slog.Logger) *Keeper {
	self, err := process.Self()
	if err != nil {
		log.Warn("this process cannot be told from others; if it is killed, others will wait a minute before taking over its steps", "err", err)
	}
	return &Keeper{records: records, self: self, job: allocation.Here().String(), name: rand.Text(), log: log, now: time.Now,
		held: map[string]*Held{}, seen: map[string]sighted{}}
}

// Held is a lease of this process.
type Held struct {
	k     *Keeper
	turn  chan struct{} // holds one while the lease is renewed or released
	lease Lease
	gone  bool
}

// undoubted is for how long nobody can have taken a lease for stale.
const undoubted = 5 * time.Second

// tries bounds how often Take looks at leases that come and go.
const tries = 20

// Bounds of an attempt to delete a lease, and of the pause until the next.
const (
	patience  = 5 * time.Second
	tidyPause = 4 * time.Second
)

// Take takes a key, or says who has it. An error is the store's.
func (k *Keeper) Take(ctx context.Context, key artifacts.Digest, c Claim) (h *Held, _ *Lease, _ error) {
	l := Lease{Format: Format, Key: key, Taking: k.name + rand.Text(), Claim: c, Process: k.self, Job: k.job, Since: k.now().UTC(), generation: 1}
	k.mu.Lock()
	k.held[l.Taking] = nil
	k.mu.Unlock()
	unsure := false
	defer func() {
		if h == nil && !unsure {
			k.drop(l.Taking)
		}
	}()
	for range tries {
		err := k.write(ctx, l, k.records.Create)
		if err == nil {
			return k.hold(l), nil, nil
		}
		if unsure = !errors.Is(err, artifacts.ErrExist); unsure {
			go k.tidy(l) // the store may have created it all the same
			return nil, nil, err
		}
		other, err := Of(ctx, k.records, key)
		switch {
		case err != nil:
			return nil, nil, err
		case other == nil:
			l.generation = 1
		case !k.stale(*other, c):
			return nil, other, nil
		default:
			k.log.Debug("a stale lease", "lease", other.String())
			l.generation = other.generation + 1
		}
	}
	return nil, nil, fmt.Errorf("the lease of %s changed hands %d times while it was looked at: try again", key, tries)
}

// stale reports whether a lease no longer counts for a claim of its key.
func (k *Keeper) stale(l Lease, c Claim) bool {
	lost := c.Attempt != "" && l.Attempt == c.Attempt && l.Run == c.Run
	ended := l.Process.Host == k.self.Host && l.Process.PID > 0 && !l.Process.Running()
	k.mu.Lock()
	defer k.mu.Unlock()
	switch h, own := k.held[l.Taking]; {
	case own && h == nil: // no generation may begin beside a lease that is being deleted
	case lost, ended, strings.HasPrefix(l.Taking, k.name) && !own:
		return true
	case own:
		return false
	}
	s, ok := k.seen[l.Taking]
	if !ok || s.renewed != l.Renewed {
		s = sighted{l.Renewed, k.now()}
		maps.DeleteFunc(k.seen, func(_ string, s sighted) bool { return k.now().Sub(s.at) > 10*Stale })
		k.seen[l.Taking] = s
	}
	return k.now().Sub(s.at) >= Stale
}

// Wait returns when a key can be taken by c. Say is called with who has it.
func (k *Keeper) Wait(ctx context.Context, key artifacts.Digest, c Claim, say func(Lease)) error {
	const least, most = 100 * time.Millisecond, 2 * time.Second
	for pause := least; ; pause = min(most, 2*pause) {
		l, err := Of(ctx, k.records, key)
		if err != nil {
			k.mu.Lock()
			clear(k.seen) // nobody could renew a lease either: each gets its full time
			k.mu.Unlock()
			return err
		}
		if l == nil || k.stale(*l, c) {
			return nil
		}
		say(*l)
		if err := readers.Pause(ctx, pause); err != nil {
			return err
		}
	}
}

func (k *Keeper) hold(l Lease) *Held {
	h := &Held{k: k, turn: make(chan struct{}, 1), lease: l}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.held[l.Taking] = h
	if !k.renewing {
		k.renewing = true
		go k.renew()
	}
	return h
}

// renew renews all leases while there are some.
func (k *Keeper) renew() {
	t := time.NewTicker(renewEvery)
	defer t.Stop()
	for range t.C {
		k.mu.Lock()
		held := slices.Collect(maps.Values(k.held))
		if len(held) == 0 {
			k.renewing = false
			k.mu.Unlock()
			return
		}
		k.mu.Unlock()
		var all sync.WaitGroup
		for _, h := range held { // at once: in turn, a few slow renewals would make other leases stale
			if h != nil {
				all.Go(h.renew)
			}
		}
		all.Wait()
	}
}

func (h *Held) renew() {
	h.turn <- struct{}{}
	defer func() { <-h.turn }()
	if h.gone || h.k.now().Sub(h.lease.Since) < renewEvery {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), renewEvery)
	defer cancel()
	h.lease.Renewed++
	if err := h.k.write(ctx, h.lease, h.k.records.Put); err != nil {
		h.k.log.Warn("a lease was not renewed; this is retried, and others may do the same work if it does not succeed within a minute", "lease", h.lease.String(), "err", err)
	}
}

// Release gives the key back, also after the work's context ends. Until the store answers, nobody renews the lease.
func (h *Held) Release() {
	h.turn <- struct{}{}
	defer func() { <-h.turn }()
	if h.gone {
		return
	}
	h.gone = true
	h.k.mu.Lock()
	h.k.held[h.lease.Taking] = nil
	h.k.mu.Unlock()
	if err := h.k.remove(h.lease, h.k.now().Sub(h.lease.Since) <= undoubted); err != nil {
		h.k.log.Warn("a lease was not released; this is retried until the store answers", "lease", h.lease.String(), "err", err)
		go h.k.tidy(h.lease)
		return
	}
	h.k.drop(h.lease.Taking)
}

func (k *Keeper) drop(taking string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.held, taking)
}

// remove deletes a lease; if it is not sure to be there, only after a look whether it is gone, or another's by now.
func (k *Keeper) remove(l Lease, sure bool) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if !sure {
		top, err := Of(ctx, k.records, l.Key)
		if err != nil || top == nil || top.Taking != l.Taking {
			return err
		}
	}
	for g := 1; g <= l.generation; g++ { // its own record last: the lease holds until then
		if err := k.records.Delete(ctx, name(l.Key, g)); err != nil {
			return err
		}
	}
	return nil
}

// tidy removes a lease that nobody holds as soon as the store allows it, while the process lives.
func (k *Keeper) tidy(l Lease) {
	for pause, gone := tidyPause/16, false; !gone; pause = min(2*pause, tidyPause) {
		time.Sleep(pause)
		gone = k.remove(l, false) == nil
	}
	k.drop(l.Taking)
}
