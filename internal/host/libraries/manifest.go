package libraries

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/values"
	"github.com/redsi/redsi/internal/system/words"
)

// Format is the format of a Manifest's text.
const Format = "redsi-libraries/1"

// MaxText bounds a manifest's text, in bytes.
const MaxText = 4 << 20

// Manifest is what is installed for an interpreter. Distributions are in the order of the
// folders that are searched, and by name in each.
type Manifest struct {
	Format        string           `json:"format"`
	Interpreter   artifacts.Digest `json:"interpreter"`        // of its file
	Python        string           `json:"python,omitempty"`   // such as "3.11"
	Platform      string           `json:"platform,omitempty"` // of a lock: what it was read for
	Distributions []Distribution   `json:"distributions,omitempty"`
	Files         []File           `json:"files,omitempty"`
}

// Distribution is an installed distribution.
type Distribution struct {
	Name     string `json:"name"` // in its normal form: scikit-learn
	Version  string `json:"version"`
	Files    string `json:"files,omitempty"` // digest of names and hashes of its files, from its record; "" without one
	Editable bool   `json:"editable,omitempty"`
}

// File is a file for which no record vouches, or several with a folder or name in common.
type File struct {
	Name   string           `json:"name"` // below site-packages, or below the folder of an editable distribution
	Is     string           `json:"is"`
	Digest artifacts.Digest `json:"digest,omitzero"`
}

// States of a File.
const (
	Edited   = "edited after it was installed"
	Gone     = "removed after it was installed"
	Unlisted = "of no distribution"
	Source   = "of an editable installation"
)

// Environment is a manifest with the place where it was read.
type Environment struct {
	Prefix   string // the environment's folder
	Manifest Manifest
	Text     []byte           // the manifest as it is stored
	Digest   artifacts.Digest // of Text: what a key has
}

// As returns the environment of a manifest that was not read from a folder, with a name in the folder's place.
func (m Manifest) As(name string) (*Environment, error) {
	text, err := m.text(installation{Prefix: name})
	if err != nil {
		return nil, err
	}
	return environmentOf(name, text)
}

func environmentOf(prefix string, text []byte) (*Environment, error) {
	m, err := Parse(text)
	return &Environment{Prefix: prefix, Manifest: m, Text: text, Digest: artifacts.Sum(text)}, err
}

// Parse reads a manifest's text.
func Parse(text []byte) (m Manifest, err error) {
	if err = values.Written(text, &m); err == nil && m.Format != Format {
		err = fmt.Errorf("its format is %q, not %s", m.Format, Format)
	}
	return m, err
}

// String is the counts, on a line: "42 distributions of /…/venv".
func (e *Environment) String() string {
	text := words.Count(len(e.Manifest.Distributions), "distribution") + " of " + e.Prefix
	by := map[string][]string{}
	for _, f := range e.Manifest.Files {
		by[f.Is] = append(by[f.Is], f.Name)
	}
	for _, is := range []string{Edited, Gone, Source, Unlisted} {
		if names := by[is]; len(names) > 0 {
			text += "; " + is + ": " + words.And(names, 3)
		}
	}
	return text
}

// Difference is a distribution's version, or a file's state, in two manifests; "" where a manifest lacks it.
type Difference struct{ Name, Old, New string }

// String is such as "numpy 1.26.4 -> 2.0.1".
func (d Difference) String() string {
	return fmt.Sprintf("%s %s -> %s", d.Name, cmp.Or(d.Old, "not there"), cmp.Or(d.New, "not there"))
}

// Compare lists what differs, by name.
func Compare(old, now Manifest) (list []Difference) {
	a, b := old.facts(), now.facts()
	both := maps.Clone(a)
	maps.Copy(both, b)
	for _, name := range slices.Sorted(maps.Keys(both)) {
		x, y := a[name], b[name]
		if x == y {
			continue
		}
		d := Difference{Name: name, Old: x.text, New: y.text}
		if x.text == y.text {
			d.Old, d.New = x.text+" (files "+short(x.digest)+")", y.text+" (files "+short(y.digest)+")"
		}
		list = append(list, d)
	}
	return list
}

// Differences is Compare in words.
func Differences(old, now Manifest) []string { return lists.Map(Compare(old, now), Difference.String) }

// fact is what a manifest says of a name, and the digest that tells facts of the same text apart.
type fact struct{ text, digest string }

func (m Manifest) facts() map[string]fact {
	all := map[string]fact{"interpreter": {strings.TrimSpace("python " + m.Python), m.Interpreter.Hex()}}
	if m.Platform != "" { // a lock has a version and no interpreter
		all = map[string]fact{"platform": {m.Platform, ""}}
		if m.Python != "" {
			all["python"] = fact{m.Python, ""}
		}
	}
	add := func(name string, f fact) {
		if was, ok := all[name]; ok { // it is in several folders, of which the first is imported
			f = fact{was.text + ", " + f.text, was.digest + " " + f.digest}
		}
		all[name] = f
	}
	for _, d := range m.Distributions {
		text := d.Version
		if d.Editable {
			text += " (editable)"
		}
		add(d.Name, fact{cmp.Or(text, "without a version"), d.Files})
	}
	for _, f := range m.Files {
		add(f.Name, fact{f.Is, f.Digest.Hex()})
	}
	return all
}

// short tells digests apart, and lists of them.
func short(digests string) string { return artifacts.Sum([]byte(digests)).Hex()[:8] }

// text returns the manifest as it is stored.
func (m Manifest) text(at installation) ([]byte, error) {
	b, err := json.Marshal(m)
	if err == nil && len(b) > MaxText {
		err = fmt.Errorf("%s has too much installed for a key: a list of %d bytes; set program_libraries = false to leave it out", at.Prefix, len(b))
	}
	return b, err
}
