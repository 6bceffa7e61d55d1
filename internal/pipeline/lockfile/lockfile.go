package lockfile

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sort"

	"github.com/redsi/redsi/internal/corpora/fetch"
	"github.com/redsi/redsi/internal/system"
	"github.com/redsi/redsi/internal/system/atomicfile"
	"github.com/redsi/redsi/internal/system/values"
	"github.com/redsi/redsi/step"
)

// Name is the lock file's name, in the folder of the pipeline.
const Name = "redsi.lock"

// File is a lock file, as Read gives it.
type File struct {
	Format  string     `json:"format,omitempty"` // a file with members that this redsi does not know is refused
	Comment string     `json:"comment,omitempty"`
	Project string     `json:"project,omitempty"` // tells this project's runs from others' in one store
	Modules []Module   `json:"modules,omitempty"` // sorted by source
	Lists   []List     `json:"lists,omitempty"`   // sorted by pattern
	Sources []step.Pin `json:"sources"`           // sorted by source

	pins map[string]step.Pin // Sources, by source
}

const format = "redsi-lock/1"

const comment = "Checksums of this pipeline's sources, pinned by first use, and the project's id. Keep it under version control; delete a line to accept new bytes."

// Read reads a lock file; one that does not exist is empty.
func Read(path string) (*File, error) { return readWith(os.ReadFile, path) }

func readWith(read func(path string) ([]byte, error), path string) (*File, error) {
	f := &File{pins: map[string]step.Pin{}}
	b, err := read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	if err != nil {
		return nil, err
	}
	if err = json.Unmarshal(b, f); err == nil {
		d := json.NewDecoder(bytes.NewReader(b))
		d.DisallowUnknownFields()
		unknown := d.Decode(&File{})
		if f.Format != "" && f.Format != format {
			unknown = fmt.Errorf("its format is %q", f.Format)
		}
		if unknown != nil {
			return nil, fmt.Errorf("%s has what this redsi, of %s, would lose (%w): use the redsi that wrote it, or restore it from version control", path, format, unknown)
		}
		err = values.Lacks(b, f)
	}
	if err != nil {
		return nil, fmt.Errorf("%s is not a lock file: %w; restore it from version control, or delete it to pin again", path, err)
	}
	for _, p := range slices.Backward(f.Sources) { // of two, the first counts
		f.pins[p.Source] = p
	}
	return f, nil
}

// Pinned returns the pin of a source.
func (f *File) Pinned(source string) (step.Pin, bool) {
	p, ok := f.pins[source]
	return p, ok
}

// change writes a lock file, as it is now, with what do changes of it, if that is something.
func change(path string, do func(*File) (changed bool, err error)) error {
	return system.Exclusively(path, func() error {
		f, err := Read(path)
		if err != nil {
			return err
		}
		if changed, err := do(f); err != nil || !changed {
			return err
		}
		return f.write(path)
	})
}

// Project is the id of the lock file's project, which it gets now if it has none. Clones share it with the file.
func Project(path string) (string, error) {
	f, err := Read(path)
	if err != nil {
		return "", err
	}
	if f.Project == "" {
		err = change(path, func(now *File) (bool, error) {
			if f = now; f.Project != "" {
				return false, nil
			}
			f.Project = rand.Text()
			return true, nil
		})
	}
	return f.Project, err
}

// Add pins sources that are not pinned yet; if nothing is new, it writes nothing, not even a lock. A source with another
// checksum than the pinned one is an error.
func Add(path string, pins []step.Pin) error {
	f, err := Read(path)
	if err != nil {
		return err
	}
	if changed, err := f.add(path, pins); err != nil || !changed {
		return err
	}
	return change(path, func(f *File) (bool, error) { return f.add(path, pins) })
}

func (f *File) add(path string, pins []step.Pin) (changed bool, err error) {
	for _, p := range pins {
		have, ok := f.Pinned(p.Source)
		switch {
		case !ok:
			f.Sources = append(f.Sources, p)
			f.pins[p.Source] = p
			changed = true
		case have.SHA256 != p.SHA256:
			return false, fmt.Errorf("%s has sha256 %s, but %s pins %s; delete its line there to accept the new bytes", fetch.Redact(p.Source), p.SHA256.Hex(), path, have.SHA256.Hex())
		}
	}
	return changed, nil
}

func (f *File) write(path string) error {
	sort.Slice(f.Sources, func(i, j int) bool { return f.Sources[i].Source < f.Sources[j].Source })
	f.Format, f.Comment = format, comment
	if f.Sources == nil {
		f.Sources = []step.Pin{}
	}
	return atomicfile.WriteJSON(path, f, "  ", 0o644)
}
