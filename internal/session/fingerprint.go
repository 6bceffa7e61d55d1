package session

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/redsi/redsi/internal/host/command"
	"github.com/redsi/redsi/internal/host/secret"
	"github.com/redsi/redsi/internal/pipeline/lockfile"
)

// PlanSources answers a plan's questions about sources, secrets, programs and their libraries.
type PlanSources struct {
	*lockfile.Sources
	fingerprints
	programs
	planLibraries
}

// programs caches the paths of programs while a plan is made.
type programs map[string]string

// Program returns the path of a program.
func (p programs) Program(name string) (string, error) {
	if path, ok := p[name]; ok {
		return path, nil
	}
	path, err := command.Find(name)
	if err == nil {
		p[name] = path
	}
	return path, err
}

// fingerprints tells values of secrets apart. The salt, which stays in the state folder, keeps
// readers of keys from guessing values.
type fingerprints struct {
	salt   string // its file
	finder secret.Finder
}

// Fingerprint is the same for the same names and values with the same salt.
func (f fingerprints) Fingerprint(sources map[string]string) (string, error) {
	values, err := f.finder.Values(sources)
	if err != nil {
		return "", fmt.Errorf("secret_fingerprint needs the values where the plan is made: %w", err)
	}
	salt, err := f.readSalt()
	if err != nil {
		return "", err
	}
	h := hmac.New(sha256.New, salt)
	for _, name := range slices.Sorted(maps.Keys(values)) {
		fmt.Fprintf(h, "%d %s %d %s\n", len(name), name, len(values[name]), values[name])
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

const saltBytes = 32

func (f fingerprints) readSalt() ([]byte, error) {
	b, err := os.ReadFile(f.salt)
	if errors.Is(err, fs.ErrNotExist) {
		if err := f.makeSalt(); err != nil {
			return nil, err
		}
		b, err = os.ReadFile(f.salt)
	}
	if err == nil && len(b) != saltBytes {
		err = fmt.Errorf("%s is not a salt of %d bytes; remove it (steps with secret_fingerprint will then run again)", f.salt, saltBytes)
	}
	return b, err
}

// makeSalt files a salt unless another process has done so.
func (f fingerprints) makeSalt() error {
	dir := filepath.Dir(f.salt)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(dir, ".salt-") // of mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	b := make([]byte, saltBytes)
	rand.Read(b) // never fails
	_, err = tmp.Write(b)
	if err = errors.Join(err, tmp.Close()); err != nil {
		return err
	}
	if err := os.Link(tmp.Name(), f.salt); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}
