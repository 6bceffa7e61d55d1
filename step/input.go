package step

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/system/lists"
)

// Ref names an output of another step, or a file or folder of it: the only edge between steps.
type Ref struct {
	Step   string `json:"step"`           // full address, such as step.train.dsi["tiny/42"]
	Output string `json:"output"`         // an output that the step's kind declares
	Path   string `json:"path,omitempty"` // in the tree that the output is; "": all of it
}

func (r Ref) String() string { return r.Step + "." + r.OutputName() }

// OutputName returns the output with the file or folder that is named in it.
func (r Ref) OutputName() string {
	if r.Path == "" {
		return r.Output
	}
	return r.Output + "[" + strconv.Quote(r.Path) + "]"
}

// WithoutPath returns the reference to the output itself.
func (r Ref) WithoutPath() Ref { return Ref{Step: r.Step, Output: r.Output} }

// NoFileError says that a tree lacks the file or folder that a reference names.
type NoFileError struct{ text string }

func (e *NoFileError) Error() string { return e.text }

// FileType is the type of a file that is taken out of a tree.
const FileType = "file"

// In returns what a reference names in its output's artifact: all of it, a file or, as a tree, a folder.
func (r Ref) In(a artifacts.Artifact) (artifacts.Artifact, error) {
	if r.Path == "" {
		return a, nil
	}
	if f, ok := a.File(r.Path); ok {
		to := a.Follow(f)
		switch {
		case to.Mode != artifacts.Folder:
			return artifacts.Artifact{Type: FileType, Digest: to.Digest, Size: to.Size, Mode: to.Mode}, nil
		case f.Mode == artifacts.Folder:
			return artifacts.Tree(a.Type, nil)
		}
		return artifacts.Artifact{}, noFile(r, f)
	}
	folder := strings.TrimSuffix(r.Path, "/") + "/"
	from, _ := slices.BinarySearchFunc(a.Files, folder, func(f artifacts.File, name string) int { return strings.Compare(f.Name, name) })
	var files []artifacts.File
	for _, f := range a.Files[from:] {
		name, ok := strings.CutPrefix(f.Name, folder)
		if !ok {
			break
		}
		if f.Mode == artifacts.Link && !strings.HasPrefix(path.Join(path.Dir(f.Name), f.Link)+"/", folder) {
			to := a.Follow(f) // it leads out of this folder: its target takes its place
			if to.Mode == artifacts.Folder {
				return artifacts.Artifact{}, noFile(r, f)
			}
			f.Digest, f.Size, f.Mode, f.Link = to.Digest, to.Size, to.Mode, ""
		}
		f.Name = name
		files = append(files, f)
	}
	switch {
	case a.Files == nil:
		return artifacts.Artifact{}, &NoFileError{fmt.Sprintf("%s is one file, so nothing in it can be named: leave out [%q]", r.WithoutPath(), r.Path)}
	case len(files) == 0:
		return artifacts.Artifact{}, &NoFileError{fmt.Sprintf("%s has no file or folder %q%s", r.WithoutPath(), r.Path, holds(a.Files))}
	}
	return artifacts.Tree(a.Type, files)
}

// noFile says that a link cannot be taken without the folder that it leads to.
func noFile(r Ref, f artifacts.File) error {
	return fmt.Errorf("%s: the link %q leads to %q, which is a folder or nothing: take %s, or name the folder", r, f.Name, f.Link, r.WithoutPath())
}

func holds(files []artifacts.File) string {
	const most = 5
	names := lists.Map(files[:min(most, len(files))], func(f artifacts.File) string { return f.Name })
	switch {
	case len(files) == 0:
		return ": it is empty"
	case len(files) > most:
		return fmt.Sprintf("; it has %s and %d more", strings.Join(names, ", "), len(files)-most)
	}
	return "; it has " + strings.Join(names, ", ")
}

// Input is an artifact that a kind's configuration takes: a Ref in a plan, an Artifact in a task that can run.
type Input struct {
	Ref      *Ref
	Artifact *artifacts.Artifact
}

// Inputs takes one artifact or a list of them, in the order given.
type Inputs []Input

// In returns the input with an artifact.
func In(a artifacts.Artifact) Input { return Input{Artifact: &a} }

// Set reports whether the input was given at all (optional inputs may not be).
func (in Input) Set() bool { return in.Ref != nil || in.Artifact != nil }

// The wire forms of an input in a configuration tree, and its form in a key's preimage. No attribute of a
// kind may start with "$", so that they are not mistaken for configuration.
const (
	refField      = "$ref"
	artifactField = "$artifact"
	digestField   = "$input"
)

// MarshalJSON writes {"$ref": …} or {"$artifact": …}; an unset input is null.
func (in Input) MarshalJSON() ([]byte, error) {
	switch {
	case in.Artifact != nil:
		return json.Marshal(map[string]any{artifactField: in.Artifact})
	case in.Ref != nil:
		return json.Marshal(map[string]any{refField: in.Ref})
	}
	return []byte("null"), nil
}

// UnmarshalJSON reads what MarshalJSON writes. An artifact that no step can have left, such as a tree with names that
// lead out of a folder, is an error: whoever can put a task into a queue does not choose what a worker opens or writes.
func (in *Input) UnmarshalJSON(b []byte) error {
	var w struct {
		Ref      *Ref                `json:"$ref"`
		Artifact *artifacts.Artifact `json:"$artifact"`
	}
	if err := json.Unmarshal(b, &w); err != nil {
		return err
	}
	if w.Ref != nil && w.Artifact != nil {
		return fmt.Errorf("an input is a reference or an artifact, not both")
	}
	if w.Artifact != nil {
		if err := w.Artifact.Validate(); err != nil {
			return fmt.Errorf("an input of a task: %w", err)
		}
	}
	in.Ref, in.Artifact = w.Ref, w.Artifact
	return nil
}
