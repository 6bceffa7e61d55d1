package lease

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/system/process"
	"github.com/redsi/redsi/internal/system/readers"
)

// Keeper takes, renews and gives back the leases of a process.
type Keeper struct {
	records artifacts.Records
	self    process.Identity
	log     *slog.Logger
	now     func() time.Time

	mu       sync.Mutex
	held     map[string]*Held   // by Taking
	seen     map[string]sighted // others' leases, by Taking
	renewing bool
}

// sighted is a lease of somebody else as it was seen first in its present form.
type sighted struct {
	renewed int
	at      time.Time
}

// New returns a keeper of leases among records. What it writes there is of no use
// after a minute, so the records need not outlive a loss of power.
func New(records artifacts.Records, log *slog.Logger) *Keeper {
	self, err := process.Self()
	if err != nil {
		log.Warn("this process cannot be told from others; if it is killed, others will wait a minute before taking over its steps", "err", err)
	}
	return &Keeper{records: records, self: self, log: log, now: time.Now, held: map[string]*Held{}, seen: map[string]sighted{}}
}

// Held is a lease of this process.
type Held struct {
	k     *Keeper
	mu    sync.Mutex // between a renewal and the release
	lease Lease
	gone  bool
}

// undoubted is for how long nobody can have taken a lease for stale.
const undoubted = 5 * time.Second

// tries bounds how often Take looks again at leases that come and go.
const tries = 20

// Take takes a key, or says who has it. An error is the store's.
func (k *Keeper) Take(ctx context.Context, key artifacts.Digest, c Claim) (*Held, *Lease, error) {
	l := k.fresh(key, c)
	l.generation = 1
	for range tries {
		err := k.write(ctx, l, k.records.Create)
		if err == nil {
			return k.hold(l), nil, nil
		}
		if !errors.Is(err, artifacts.ErrExist) {
			return nil, nil, err
		}
		other, err := k.newest(ctx, key)
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
	other := k.fresh(key, Claim{Run: "unknown", Step: "others that come and go"})
	return nil, &other, nil
}

// stale reports whether a lease no longer counts for a claim of its key.
func (k *Keeper) stale(l Lease, c Claim) bool {
	if c.Attempt != "" && l.Attempt == c.Attempt && l.Run == c.Run {
		return true
	}
	if l.Process.Host == k.self.Host && l.Process.PID > 0 {
		return !l.Process.Running()
	}
	k.mu.Lock()
	defer k.mu.Unlock()
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
		l, err := k.newest(ctx, key)
		if err != nil {
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
	h := &Held{k: k, lease: l}
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
		for _, h := range held { // at once: in turn, a few slow ones would make the others stale
			all.Go(h.renew)
		}
		all.Wait()
	}
}

func (h *Held) renew() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.gone || h.k.now().Sub(h.lease.Since) < renewEvery {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), renewEvery)
	defer cancel()
	h.lease.Renewed++
	if err := h.k.write(ctx, h.lease, h.k.records.Put); err != nil {
		h.k.log.Warn("a lease was not renewed; in a minute others may do the same work", "lease", h.lease.String(), "err", err)
	}
}

// Release gives the key back. It does so when the work's context is over, too.
func (h *Held) Release() {
	h.k.mu.Lock()
	delete(h.k.held, h.lease.Taking)
	h.k.mu.Unlock()
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.gone {
		return
	}
	h.gone = true
	ctx, cancel := context.WithTimeout(context.Background(), renewEvery)
	defer cancel()
	if h.k.now().Sub(h.lease.Since) > undoubted {
		l, err := h.k.newest(ctx, h.lease.Key)
		if err == nil && (l == nil || l.Taking != h.lease.Taking) {
			return // it was taken for stale: what is there is another's
		}
	}
	for g := 1; g <= h.lease.generation; g++ { // its own last: until then it stands
		if err := h.k.records.Delete(ctx, name(h.lease.Key, g)); err != nil {
			h.k.log.Warn("a lease was not released; it becomes stale in a minute", "lease", h.lease.String(), "err", err)
			return
		}
	}
}
