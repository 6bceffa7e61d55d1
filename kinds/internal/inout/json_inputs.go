package inout

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/render"
	"github.com/redsi/redsi/step"
)

// JSONInputs reads the JSON documents that cells come from, each once.
type JSONInputs struct {
	x    *step.IO
	read map[artifacts.Digest]any
}

// NewJSONInputs reads through a step's IO.
func NewJSONInputs(x *step.IO) *JSONInputs {
	return &JSONInputs{x: x, read: map[artifacts.Digest]any{}}
}

// FileOfTree picks the JSON file of a tree, such as a command's output, that a
// path starts with, as in "metrics.json:accuracy"; a tree of one file needs no
// name. For other inputs the whole path is the field's.
func FileOfTree(in step.Input, path string) (step.Input, string, error) {
	files := in.Artifact.Files
	if files == nil {
		return in, path, nil
	}
	name, field, named := strings.Cut(path, ":")
	if !named && len(files) == 1 {
		name, field, named = files[0].Name, path, true
	}
	f, ok := in.Artifact.File(name)
	if !named || !ok {
		var names []string
		for _, f := range files {
			names = append(names, f.Name)
		}
		return in, "", fmt.Errorf("field %q names no file of the tree; write FILE:FIELD with one of %s", path, strings.Join(names, ", "))
	}
	return step.In(artifacts.Artifact{Type: "file", Digest: f.Digest, Size: f.Size}), field, nil
}

// Summary is the mean of n values with their sample standard deviation, if that
// is what stands at a path.
func Summary(at any) (render.Cell, bool) {
	m, _ := at.(map[string]any)
	mean, isMean := m["mean"].(float64)
	std, isStd := m["std"].(float64)
	n, isN := m["n"].(float64)
	if !isMean || !isStd || !isN {
		return render.Cell{}, false
	}
	c := render.Cell{Value: &mean, N: int(n)}
	if n > 1 {
		c.Std = &std
	}
	return c, true
}

// Document is an input, read whole the first time.
func (d *JSONInputs) Document(in step.Input) (any, error) {
	doc, known := d.read[in.Artifact.Digest]
	if !known {
		if err := ReadJSON(d.x, in, &doc); err != nil {
			return nil, err
		}
		d.read[in.Artifact.Digest] = doc
	}
	return doc, nil
}

// Value is the number or the text at a path in an input.
func (d *JSONInputs) Value(in step.Input, path string) (v float64, text string, ok bool, err error) {
	at, err := d.Find(in, path)
	if err != nil {
		return 0, "", false, err
	}
	return Scalar(at, path)
}

// Number is the number at a path in an input; anything else there is an error.
func (d *JSONInputs) Number(in step.Input, path string) (float64, error) {
	v, text, ok, err := d.Value(in, path)
	if err == nil && (!ok || text != "") {
		err = fmt.Errorf("field %q is not a number", path)
	}
	return v, err
}

// Find follows a path in an input, as Follow does.
func (d *JSONInputs) Find(in step.Input, path string) (any, error) {
	file, path, err := FileOfTree(in, path)
	if err != nil {
		return nil, err
	}
	doc, err := d.Document(file)
	if err != nil {
		return nil, err
	}
	return Follow(doc, path)
}

// Follow is what a path leads to in JSON, by the rule of what is missing that the package
// comment gives: Absent, nil, or a *step.NoFieldError.
func Follow(at any, path string) (any, error) {
	w := step.WalkPath(path)
	for {
		if a, ok := asAbsent(at); ok {
			return a, nil
		}
		if at == nil || !w.Next() {
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

// Scalar reads a number, a text, or null for "does not apply".
func Scalar(at any, path string) (v float64, text string, ok bool, err error) {
	switch at := at.(type) {
	case float64:
		return at, "", true, nil
	case string:
		return 0, at, at != "", nil
	case bool:
		return 0, map[bool]string{true: "✓", false: "–"}[at], true, nil
	case nil, Absent:
		return 0, "", false, nil
	}
	b, _ := json.Marshal(at)
	return 0, "", false, fmt.Errorf("field %q is %.60s, not a number or a text", path, b)
}
