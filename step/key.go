package step

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"reflect"
	"strconv"
	"strings"

	"github.com/redsi/redsi/artifacts"
)

// KeyFormat names the form of a key's preimage. A change of it changes every key; see docs/formats.md.
const KeyFormat = artifacts.KeyFormat

// Bind is Task.Bind and the Key of the task that it returns, in one pass. The preimage is nil where
// Resolved has made the key: a result under it has one.
func (r *Registry) Bind(t Task, find func(Ref) (artifacts.Artifact, error)) (Task, artifacts.Digest, []byte, error) {
	if t.key != nil {
		return t, *t.key, nil, nil
	}
	tree, err := t.Tree()
	if err == nil && t.mayRefer() {
		t, tree, err = t.bindTree(tree, find)
	}
	if err != nil {
		return Task{}, artifacts.Digest{}, nil, err
	}
	key, preimage, err := r.keyOf(t.Kind, tree)
	return t, key, preimage, err
}

// Resolved returns the task with its kind's Resolve applied. If the task refers to no other step,
// Resolved makes its key as well, while the configuration is at hand, so that Bind need not read it.
// Where env Explains, it also asks for Spec.Unkeyed.
func (r *Registry) Resolved(ctx context.Context, env Sources, t Task) (Task, error) {
	spec := r.Lookup(t.Kind)
	if spec == nil || spec.Kind.Resolve == nil {
		return t, nil
	}
	c, err := spec.config(t)
	if err == nil {
		c, err = spec.Kind.Resolve(ctx, env, c)
	}
	if err != nil {
		return Task{}, err
	}
	out, err := encodeTask(t.Kind, encodeObject(reflect.ValueOf(c), spec.defaults, spec.Attrs, false))
	if err == nil && !out.mayRefer() {
		var key artifacts.Digest
		key, _, err = r.keyOfConfig(spec, c)
		out.key = &key
	}
	if e, is := env.(interface{ Explains() bool }); is && e.Explains() && spec.Kind.Unkeyed != nil {
		out.unkeyed = &nothing
		if names := spec.Kind.Unkeyed(c); len(names) > 0 {
			out.unkeyed = &names
		}
	}
	out.Checks = t.Checks
	return out, err
}

var nothing []string // shared by most tasks

// Key returns the cache key of a task and its preimage, the canonical JSON
//
//	{"config": …, "format": "redsi-key/1", "kind": …, "parts": […], "version": …}
//
// with every input replaced by its content digest. Names of steps, paths, hosts, times, queues and run ids are not in
// it. The key is the SHA-256 of the frame "redsi-key/1 <length of preimage>\n" and the preimage.
func (r *Registry) Key(t Task) (artifacts.Digest, []byte, error) {
	tree, err := t.Tree()
	if err != nil {
		return artifacts.Digest{}, nil, err
	}
	return r.keyOf(t.Kind, tree)
}

func (r *Registry) keyOf(kind string, tree map[string]any) (artifacts.Digest, []byte, error) {
	spec := r.Lookup(kind)
	if spec == nil {
		return artifacts.Digest{}, nil, fmt.Errorf("no kind %q in this build", kind)
	}
	c, err := spec.Decode(tree)
	if err != nil {
		return artifacts.Digest{}, nil, fmt.Errorf("kind %s: %w", kind, err)
	}
	return r.keyOfConfig(spec, c)
}

// keyOfConfig is the one place that makes keys.
func (r *Registry) keyOfConfig(spec *Spec, c any) (artifacts.Digest, []byte, error) {
	pre := map[string]any{
		"format":  KeyFormat,
		"kind":    spec.Name,
		"version": int64(spec.Version),
		"config":  encodeObject(reflect.ValueOf(c), spec.defaults, spec.Attrs, true),
	}
	if len(spec.Parts) > 0 {
		parts := make([]any, len(spec.Parts))
		for i, p := range spec.Parts {
			parts[i] = p.Name + "@" + strconv.Itoa(p.Version)
		}
		pre["parts"] = parts
	}
	b, err := Canonical(pre)
	if err != nil {
		return artifacts.Digest{}, nil, fmt.Errorf("kind %s: %w", spec.Name, err)
	}
	return artifacts.KeyOf(b), b, nil
}

// trajectoryFormat is the format of a trajectory's preimage. No result's preimage has it.
const trajectoryFormat = "redsi-trajectory/1"

// Trajectory returns the key under which a task's kept states are filed: the key of its preimage without
// the attributes that its kind's Trajectory names, which all tasks have in common that differ only in
// these. ok is false if the task shares its states with none.
func (r *Registry) Trajectory(t Task) (key artifacts.Digest, ok bool, err error) {
	spec := r.Lookup(t.Kind)
	if spec == nil || spec.Kind.Trajectory == nil {
		return key, false, nil
	}
	c, err := spec.config(t)
	if err != nil {
		return key, false, err
	}
	without := spec.Kind.Trajectory(c)
	if len(without) == 0 {
		return key, false, nil
	}
	config := encodeObject(reflect.ValueOf(c), spec.defaults, spec.Attrs, true)
	for _, name := range without {
		delete(config, name)
	}
	b, err := Canonical(map[string]any{"format": trajectoryFormat, "kind": spec.Name, "version": int64(spec.Version), "config": config})
	if err != nil {
		return key, false, err
	}
	return artifacts.KeyOf(b), true, nil
}

// Change is one difference between two preimages.
type Change struct {
	Path     string // such as "config.options.lists" or "version"
	Old, New string // canonical JSON; "" where there is nothing
}

func (c Change) String() string {
	switch {
	case c.Old == "":
		return fmt.Sprintf("%s is new: %s", c.Path, excerpt(c.New, 0))
	case c.New == "":
		return fmt.Sprintf("%s is gone (was %s)", c.Path, excerpt(c.Old, 0))
	}
	same := 0 // bytes
	for same < min(len(c.Old), len(c.New)) && c.Old[same] == c.New[same] {
		same++
	}
	from := 0
	if max(len(c.Old), len(c.New)) > widest {
		from = max(0, same-around)
	}
	return fmt.Sprintf("%s: %s -> %s", c.Path, excerpt(c.Old, from), excerpt(c.New, from))
}

// Of a long value widest bytes are shown, around of them before the first that differs.
const widest, around = 60, 20

// excerpt returns a value from a byte on, cut for one line; a digest keeps its head.
func excerpt(s string, from int) string {
	const digest = `{"$input":"sha256:`
	if rest, ok := strings.CutPrefix(s, digest); ok && len(rest) > 12 {
		_, mode, _ := strings.Cut(strings.TrimRight(rest, `"}`), " ")
		return strings.TrimSpace("bytes " + rest[:12] + " " + mode)
	}
	head, tail := "", ""
	if from > 0 {
		head, s = "…", s[from:]
	}
	if len(s) > widest {
		s, tail = s[:widest-3], "…"
	}
	return head + strings.ToValidUTF8(s, "") + tail
}

// Attribute returns the top-level attribute that the change is in; "" outside of the configuration.
func (c Change) Attribute() string {
	rest, ok := strings.CutPrefix(c.Path, "config.")
	if !ok {
		return ""
	}
	if i := strings.IndexAny(rest, ".["); i >= 0 {
		return rest[:i]
	}
	return rest
}

// Diff compares two preimages down to their leaves, in path order.
func Diff(before, after []byte) ([]Change, error) {
	x, err := decodeJSON(before)
	y, yerr := decodeJSON(after)
	if err := cmp.Or(err, yerr); err != nil {
		return nil, fmt.Errorf("a stored preimage is not JSON: %w", err)
	}
	var out []Change
	diffTree(x, y, "", &out)
	return out, nil
}

func diffTree(a, b any, path string, out *[]Change) {
	x, okX := a.(map[string]any)
	y, okY := b.(map[string]any)
	if okX && okY && x[digestField] == nil && y[digestField] == nil {
		all := maps.Clone(x)
		maps.Copy(all, y)
		for _, k := range sortedKeys(all) {
			diffTree(x[k], y[k], join(path, k), out)
		}
		return
	}
	l, okL := a.([]any)
	m, okM := b.([]any)
	if okL && okM {
		for i := range max(len(l), len(m)) {
			diffTree(elementAt(l, i), elementAt(m, i), fmt.Sprintf("%s[%d]", path, i), out)
		}
		return
	}
	s, t := leafText(a), leafText(b)
	if s != t {
		*out = append(*out, Change{Path: path, Old: s, New: t})
	}
}

func elementAt(l []any, i int) any {
	if i < len(l) {
		return l[i]
	}
	return nil
}

func leafText(v any) string {
	if v == nil {
		return ""
	}
	b, err := Canonical(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(b)
}
