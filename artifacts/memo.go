package artifacts

import (
	"sync"
	"time"
)

// memo remembers for a while what others know of keys, so that a run does not ask for
// each of them at every level of its graph. Misses are remembered for a minute as well.
type memo struct {
	mu      sync.Mutex
	entries map[Digest]memoized
	bytes   int
}

type memoized struct {
	e     Entry
	until time.Time
}

const (
	memoFor  = time.Minute
	memoMost = 64 << 20 // bytes of records, roughly
	memoEach = 256      // bytes of an entry without one
)

func (m *memo) get(key Digest) (Entry, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	k, ok := m.entries[key]
	return k.e, ok && time.Now().Before(k.until)
}

func (m *memo) put(key Digest, e Entry) {
	size := memoEach
	for _, r := range []*Result{e.Result, e.Foreign} {
		if r == nil {
			continue
		}
		size += len(r.Preimage)
		for _, a := range r.Outputs {
			size += memoEach * (1 + len(a.Files))
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.entries == nil || m.bytes+size > memoMost {
		m.entries, m.bytes = map[Digest]memoized{}, 0
	}
	m.entries[key] = memoized{e, time.Now().Add(memoFor)}
	m.bytes += size
}

// forget drops all: a blob that was there turned out to be wrong.
func (m *memo) forget() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.entries, m.bytes = nil, 0
}
