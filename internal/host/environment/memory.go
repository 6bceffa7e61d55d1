package environment

import (
	"bytes"
	"os"
	"path/filepath"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/host/libraries"
	"github.com/redsi/redsi/internal/system/atomicfile"
)

// reading is raised when Manifest reads a recipe in another way: it makes what is remembered invalid.
const reading = "3 "

// Memory is a folder that remembers, by name, the manifest of the recipe that was read last: reading a lock of a
// megabyte takes longer than hashing it. "" remembers nothing.
type Memory string

// Manifest returns the environment of a name, by the manifest of a recipe whose text has the given digest.
func (m Memory) Manifest(r Recipe, text artifacts.Digest, name string) (*libraries.Environment, error) {
	head := []byte(reading + text.Hex() + "\n")
	file := filepath.Join(string(m), artifacts.Sum([]byte(name)).Hex()+".json")
	if was, err := os.ReadFile(file); err == nil && m != "" {
		if manifest, err := libraries.Parse(bytes.TrimPrefix(was, head)); err == nil {
			return manifest.As(name)
		}
	}
	is, err := r.Manifest()
	if err != nil {
		return nil, err
	}
	e, err := is.As(name)
	if err == nil && m != "" && os.MkdirAll(string(m), 0o755) == nil {
		_ = atomicfile.WriteFile(file, append(head, e.Text...), 0o644) // losing it costs only reading
	}
	return e, err
}
