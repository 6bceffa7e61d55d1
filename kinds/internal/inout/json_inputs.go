package inout

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/paper/render"
	"github.com/redsi/redsi/internal/system/values"
	"github.com/redsi/redsi/step"
)

// JSONInputs reads the documents that cells come from, each once: JSON, or other forms of the same values.
type JSONInputs struct {
	x    *step.IO
	read map[document]any
	told map[string]bool // what Told has warned of
}

// document is a file with the end of its name, which says how it is read.
type document struct {
	digest artifacts.Digest
	ending string
}

func NewJSONInputs(x *step.IO) *JSONInputs {
	return &JSONInputs{x: x, read: map[document]any{}, told: map[string]bool{}}
}

// fileOfTree returns the file of a tree, such as a command's output, with which a path begins, as in
// "metrics.json:accuracy", and the field's path behind it; a tree of one file needs no name. Of other inputs, which
// are called by their type, the path is the field's.
func fileOfTree(in step.Input, path string) (artifacts.File, string, error) {
	a := in.Artifact
	if a.Files == nil {
		return artifacts.File{Name: "the input, of type " + a.Type, Digest: a.Digest, Size: a.Size}, path, nil
	}
	name, field, named := strings.Cut(path, ":")
	if !named && len(a.Files) == 1 {
		name, field, named = a.Files[0].Name, path, true
	}
	f, ok := a.File(name)
	if !named || !ok {
		return f, "", fmt.Errorf("field %q names no file of the tree; write FILE:FIELD with one of %s", path, strings.Join(Names(a.Files), ", "))
	}
	return f, field, nil
}

// Summary returns an object of mean, std and n as a cell, without a value if the mean is not finite; false for others.
func Summary(at any) (render.Cell, bool) {
	m, _ := at.(map[string]any)
	mean, isMean := Float(m["mean"])
	std, isStd := Float(m["std"])
	n, isN := Float(m["n"])
	if !isMean || !isStd || !isN || !isFinite(n) {
		return render.Cell{}, false
	}
	if !isFinite(mean) {
		return render.Cell{}, true
	}
	c := render.Cell{Value: &mean, N: int(n)}
	if n > 1 && isFinite(std) {
		c.Std = &std
	}
	return c, true
}

// document returns the values of a file, which it reads the first time.
func (d *JSONInputs) document(f artifacts.File) (any, error) {
	key := document{f.Digest, path.Ext(f.Name)}
	if doc, ok := d.read[key]; ok {
		return doc, nil
	}
	r, err := d.x.OpenFile(f)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	b, err := io.ReadAll(io.LimitReader(r, mostBytes+1))
	if err != nil {
		return nil, err
	}
	if len(b) > mostBytes {
		return nil, fmt.Errorf("%s: values are read of files of up to %d MiB", f.Name, mostBytes>>20)
	}
	doc, err := parseValues(f.Name, b)
	if err != nil {
		return nil, step.Permanent(fmt.Errorf("%s: %w", f.Name, err))
	}
	d.read[key] = doc
	return doc, nil
}

// Number returns the number at a path in an input; anything else there is an error.
func (d *JSONInputs) Number(in step.Input, path string) (float64, error) {
	at, err := d.Find(in, path)
	if err != nil {
		return 0, err
	}
	if v, ok := at.(NotFinite); ok {
		return 0, fmt.Errorf("field %q is %v, not a finite number", path, v.Value)
	}
	if v, ok := at.(Typed); ok && values.Inexact(v.Text) {
		return 0, fmt.Errorf("field %q is %s, more digits than are calculated with, 53 bits", path, v.Text)
	}
	v, text, ok, err := Scalar(at, path)
	if err == nil && (!ok || text != "") {
		err = fmt.Errorf("field %q is not a number", path)
	}
	return v, err
}

// Find follows a path in an input, as Follow does, and reports NaN and infinite values.
func (d *JSONInputs) Find(in step.Input, path string) (any, error) {
	at, err := d.Look(in, path)
	if _, ok := at.(NotFinite); ok {
		d.Told(in, path, IsNotFinite)
	}
	return at, err
}

// Look is Find without the report.
func (d *JSONInputs) Look(in step.Input, path string) (any, error) {
	file, field, err := fileOfTree(in, path)
	if err != nil {
		return nil, err
	}
	doc, err := d.document(file)
	if err != nil {
		return nil, err
	}
	at, err := Follow(doc, field)
	if lost, ok := errors.AsType[*step.NoFieldError](err); ok {
		hint := ""
		switch {
		case lost.Within != "":
		case lost.Is == step.List:
			hint = fmt.Sprintf("; rows are named by number, from 0: \"0.%s\"", lost.Name)
		case lost.Is != step.Object:
			hint = "; it is a single value: write \".\" for the field"
		}
		err = fmt.Errorf("%s: %w%s", file.Name, err, hint)
	}
	return at, err
}

// IsNotFinite says of a value that is NaN or infinite what it is, for Told.
const IsNotFinite = "NaN or infinite"

// Told counts a value that is shown as missing, by what it is, and warns of it once with the name of its file.
func (d *JSONInputs) Told(in step.Input, path, is string) {
	d.x.Count("values "+is, 1)
	file, field, _ := fileOfTree(in, path)
	if what := file.Name + ": " + field + " is " + is; !d.told[what] {
		d.told[what] = true
		d.x.Log.Warn(what + ": it is shown as missing")
	}
}

// Follow returns what a path leads to in a document. What is missing is, as the package comment says, Absent,
// NotFinite, nil, or a *step.NoFieldError.
func Follow(at any, path string) (any, error) {
	w := step.WalkPath(path)
	root := path == "" || path == "."
	for {
		if m, _ := at.(map[string]any); len(m) == 1 {
			if why, ok := m["absent"].(string); ok {
				return Absent{why}, nil
			}
		}
		if at == nil || root || !w.Next() {
			if v, ok := Float(at); ok && !isFinite(v) {
				t, _ := at.(Typed)
				return NotFinite{v, t.Text}, nil
			}
			return at, nil
		}
		switch v := at.(type) {
		case map[string]any:
			next, there := v[w.Name]
			if !there {
				return nil, w.Lost(step.Object, slices.Sorted(maps.Keys(v)))
			}
			at = next
		case []any:
			i, ok := w.Index()
			if !ok {
				return nil, w.Lost(step.List, nil)
			}
			if i >= len(v) {
				return nil, nil
			}
			at = v[i]
		default:
			return nil, w.Lost(typeOf(at), nil)
		}
	}
}

func typeOf(scalar any) step.TypeKind {
	switch scalar.(type) {
	case string:
		return step.String
	case bool:
		return step.Bool
	}
	return step.Float
}

// Scalar reads a number, a text, or, with ok false, null for "does not apply".
func Scalar(at any, path string) (v float64, text string, ok bool, err error) {
	switch at := at.(type) {
	case float64:
		return at, "", true, nil
	case Typed:
		return at.Value, "", true, nil
	case string:
		return 0, at, at != "", nil
	case bool:
		return 0, map[bool]string{true: "✓", false: "–"}[at], true, nil
	case nil, Absent, NotFinite:
		return 0, "", false, nil
	}
	b, _ := json.Marshal(at)
	return 0, "", false, fmt.Errorf("field %q is %.60s, not a number or a text", path, b)
}
