package libraries

import (
	"context"
	"encoding/json"
	"os"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redsi/redsi/internal/stores/hashed"
	"github.com/redsi/redsi/internal/system/atomicfile"
)

// Memory remembers environments by their interpreters until one of their files has another size or time.
type Memory struct {
	File string // where it is kept; "": nowhere

	now          func() time.Time // for tests; nil: time.Now
	reads        atomic.Int64     // of environments, not from memory
	mu           sync.Mutex
	loaded       sync.Once
	fresh        bool
	environments map[string]remembered
}

// remembered is an environment with what its files looked like.
type remembered struct {
	At    installation
	Roots []root
	Stamp string
	Text  string // of its manifest
}

const maxRemembered = 100

// Of returns the environment of a program, as it is now; nil if no interpreter that this package can read runs it.
func (m *Memory) Of(ctx context.Context, program string, look Lookup) (*Environment, error) {
	at, ok, err := locate(program, look)
	if err != nil || !ok {
		return nil, err
	}
	if was, ok := m.remembered(at); ok {
		if files, err := scan(ctx, was.Roots); err == nil {
			if stamp, _ := stampOf(was.Roots, files); stamp == was.Stamp {
				return environmentOf(at.Prefix, []byte(was.Text))
			}
		}
	}
	m.reads.Add(1)
	began := time.Now()
	if m.now != nil {
		began = m.now()
	}
	manifest, roots, stamp, newest, err := read(ctx, at)
	if err != nil {
		return nil, err
	}
	text, err := manifest.text(at)
	if err != nil {
		return nil, err
	}
	if hashed.Settled(newest, began.UnixNano()) {
		m.mu.Lock()
		if len(m.environments) >= maxRemembered {
			m.environments = map[string]remembered{}
		}
		m.environments[at.Interpreter], m.fresh = remembered{at, roots, stamp, string(text)}, true
		m.mu.Unlock()
	}
	return environmentOf(at.Prefix, text)
}

// Recall returns the environment of a program as it was last read, without a look at its files; nil if it is not
// remembered. A later Of tells what has changed since.
func (m *Memory) Recall(program string, look Lookup) (*Environment, error) {
	at, ok, err := locate(program, look)
	if err != nil || !ok {
		return nil, err
	}
	was, ok := m.remembered(at)
	if !ok {
		return nil, nil
	}
	return environmentOf(at.Prefix, []byte(was.Text))
}

// remembered returns what was read of an interpreter's environment, if the interpreter is still in it.
func (m *Memory) remembered(at installation) (remembered, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.loaded.Do(func() {
		b, err := os.ReadFile(m.File)
		if err != nil || json.Unmarshal(b, &m.environments) != nil || m.environments == nil { // damaged text counts as none
			m.environments = map[string]remembered{}
		}
	})
	was, ok := m.environments[at.Interpreter]
	return was, ok && reflect.DeepEqual(was.At, at)
}

// Save keeps what was added. Losing it costs reading.
func (m *Memory) Save() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.File == "" || !m.fresh {
		return nil
	}
	m.fresh = false
	return atomicfile.WriteJSON(m.File, m.environments, "", 0o644)
}
