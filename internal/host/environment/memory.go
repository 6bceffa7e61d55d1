package environment

import (
	"encoding/json"
	"os"
	"sync"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/host/libraries"
	"github.com/redsi/redsi/internal/system/atomicfile"
)

// reading is raised when Manifest says something else of a recipe: what is remembered counts no
// more.
const reading = "1 "

// maxKnown bounds the recipes of a memory.
const maxKnown = 200

// Memory remembers the manifests of recipes: reading a lock of a megabyte takes longer than
// hashing it. A nil one remembers nothing.
type Memory struct {
	File string

	mu    sync.Mutex
	read  bool
	fresh bool
	known map[string]string // texts of manifests
}

// Manifest is that of a recipe with a text, as one of a name.
func (m *Memory) Manifest(r Recipe, text []byte, name string) (*libraries.Environment, error) {
	id := reading + artifacts.Sum(text).Hex()
	if was, ok := m.recall(id); ok {
		if known, err := libraries.Parse([]byte(was)); err == nil {
			return known.As(name)
		}
	}
	is, err := r.Manifest()
	if err != nil {
		return nil, err
	}
	e, err := is.As(name)
	if err == nil && m != nil {
		m.mu.Lock()
		defer m.mu.Unlock()
		if len(m.known) >= maxKnown {
			m.known = map[string]string{}
		}
		m.known[id], m.fresh = string(e.Text), true
	}
	return e, err
}

func (m *Memory) recall(id string) (text string, ok bool) {
	if m == nil {
		return "", false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.read {
		m.read = true
		b, err := os.ReadFile(m.File)
		if err != nil || json.Unmarshal(b, &m.known) != nil || m.known == nil {
			m.known = map[string]string{} // what is damaged is forgotten
		}
	}
	text, ok = m.known[id]
	return text, ok
}

// Save keeps what was added. Losing it costs reading.
func (m *Memory) Save() error {
	if m == nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.fresh {
		return nil
	}
	b, err := json.Marshal(m.known)
	if err != nil {
		return err
	}
	m.fresh = false
	return atomicfile.WriteFile(m.File, b, 0o644)
}
