package cli

import (
	"sync"
	"time"

	"github.com/redsi/redsi/internal/cli/view"
)

// meter shows on a terminal how many bytes have been copied; elsewhere it is silent.
// Its methods may be called from several goroutines.
type meter struct {
	a     *app
	what  string
	mu    sync.Mutex
	done  int64
	total int64
	shown time.Time
}

// Copying shows how many bytes have been copied, until over is called.
func (a *app) Copying(what string, total int64) (add func(n int64), over func()) {
	m := &meter{a: a, what: what, total: total, shown: time.Now()}
	return m.add, m.close
}

// meterEvery is how often the line is drawn.
const meterEvery = 200 * time.Millisecond

func (m *meter) add(n int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.done += n
	if terminal(m.a.Err) == 0 || m.a.JSON || time.Since(m.shown) < meterEvery {
		return
	}
	m.shown = time.Now()
	if m.total > 0 {
		view.Printf(m.a.Err, "\r\x1b[K%s %s of %s", m.what, view.Size(m.done), view.Size(m.total))
	} else {
		view.Printf(m.a.Err, "\r\x1b[K%s %s", m.what, view.Size(m.done))
	}
}

// close removes the line.
func (m *meter) close() {
	if terminal(m.a.Err) > 0 && !m.a.JSON {
		view.Printf(m.a.Err, "\r\x1b[K")
	}
}
