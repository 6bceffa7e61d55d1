package main

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// port is a port.json.
type port struct {
	Title   string
	Source  source
	Files   map[string]file   // of the original, by where the pipeline has them
	Make    [][]string        // commands that make data, run beside the pipeline
	Planted []edit            // changes before the first run, of the original as well
	Results []result          // of the original
	Counts  string            // addresses of the steps that are the original's: a regular expression
	Counted string            // how the original's runs were counted
	Changes map[string]change // by a name of kinds
}

// kinds are the changes, in the table's order.
var kinds = []string{"library", "helper", "import", "parameter", "piece", "comment"}

type source struct{ Repository, Commit, Licence string }

type file struct {
	From   string // its path in the original; default: the same
	SHA256 string
}

// edit replaces a text, which must be there once; without one it appends. Without a text to
// write it runs a command instead.
type edit struct {
	File, From, To string
	Run            []string
}

// result is an output of a step, as redsi artifacts cat names it, and the SHA-256 of the
// original's, of all lines or of those that do not begin with Skip.
type result struct{ Output, SHA256, Skip string }

// change is one change and how many steps the original ran again.
type change struct {
	What  string
	Edits []edit
	Ran   int
}

func readPort(folder string) (*port, error) {
	b, err := os.ReadFile(filepath.Join(folder, "port.json"))
	if err != nil {
		return nil, err
	}
	p := &port{}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(p); err != nil {
		return nil, fmt.Errorf("%s: port.json: %w", folder, err)
	}
	for kind := range p.Changes {
		if !slices.Contains(kinds, kind) {
			return nil, fmt.Errorf("%s: port.json: there is no change %q: they are %s", folder, kind, strings.Join(kinds, ", "))
		}
	}
	return p, nil
}

// lay copies the port to a folder and the original's files beside it.
func (p *port) lay(from, originals, to string) error {
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		return err
	}
	for name, f := range p.Files {
		f.From = cmp.Or(f.From, name)
		path := filepath.Join(originals, filepath.FromSlash(p.Source.Repository), filepath.FromSlash(f.From))
		b, err := os.ReadFile(path)
		if err == nil && sum(b) != f.SHA256 {
			err = fmt.Errorf("%s is not the file that was ported: its SHA-256 is %s", path, sum(b))
		}
		if err != nil {
			return fmt.Errorf("%w; -originals is a folder with %s at %s", err, p.Source.Repository, p.Source.Commit)
		}
		name = filepath.Join(to, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(name, b, 0o644); err != nil {
			return err
		}
	}
	for _, argv := range p.Make {
		if err := start(to, argv); err != nil {
			return err
		}
	}
	return apply(to, p.Planted)
}

func apply(folder string, edits []edit) error {
	for _, e := range edits {
		if len(e.Run) > 0 {
			if err := start(folder, e.Run); err != nil {
				return err
			}
			continue
		}
		path := filepath.Join(folder, filepath.FromSlash(e.File))
		b, err := os.ReadFile(path)
		if os.IsNotExist(err) && e.From == "" {
			err = nil
		}
		if err != nil {
			return err
		}
		text := string(b) + e.To
		if e.From != "" {
			if n := strings.Count(string(b), e.From); n != 1 {
				return fmt.Errorf("%s has %q %d times", path, e.From, n)
			}
			text = strings.Replace(string(b), e.From, e.To, 1)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

func start(folder string, argv []string) error {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir = folder
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s in %s: %w\n%s", strings.Join(argv, " "), folder, err, out)
	}
	return nil
}

// sum is the SHA-256 of bytes.
func sum(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}

// without are the lines that do not begin with a text.
func without(b []byte, skip string) []byte {
	if skip == "" {
		return b
	}
	var kept []byte
	for line := range bytes.Lines(b) {
		if !bytes.HasPrefix(line, []byte(skip)) {
			kept = append(kept, line...)
		}
	}
	return kept
}
