package kinds_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/redsi/redsi/activities"
	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/host/command"
	"github.com/redsi/redsi/internal/host/lease"
	"github.com/redsi/redsi/internal/host/scratch"
	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/declare"
	"github.com/redsi/redsi/internal/pipeline/language"
	"github.com/redsi/redsi/internal/pipeline/lockfile"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/internal/runs"
	"github.com/redsi/redsi/internal/stores/mem"
	"github.com/redsi/redsi/internal/system/testkit"
	"github.com/redsi/redsi/kinds"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/kinds/models"
	"github.com/redsi/redsi/step"
	"github.com/redsi/redsi/workflows"
)

// local runs plans in this process, without Temporal: the activities are the
// same functions.
type local struct {
	t *testing.T
	*activities.Activities
	ran []string // kinds and labels of the parts that were not hits
}

func newLocal(t *testing.T) *local {
	store := mem.New()
	return &local{t: t, Activities: &activities.Activities{Store: artifacts.Alone(store), Leases: lease.New(store.Leases, slog.New(slog.DiscardHandler)), Registry: allKinds(), Log: slog.New(slog.DiscardHandler), CacheDir: t.TempDir(), Scratch: scratch.In(t.TempDir())}}
}

// plan loads a pipeline file, with its local sources hashed.
func (l *local) plan(file string, vars map[string]string, targets ...string) *plan.Plan {
	l.t.Helper()
	src := readPipeline(l.t, file)
	return l.planOf(file, l.load(src, vars), targets...)
}

// planSources finds programs too.
type planSources struct{ *lockfile.Sources }

func (planSources) Program(name string) (string, error) { return command.Find(name) }

// planOf is plan of what a file loads as.
func (l *local) planOf(file string, p *pipeline.Pipeline, targets ...string) *plan.Plan {
	l.t.Helper()
	pl := testkit.Value(plan.Build(filepath.Base(file), p, l.Registry, targets))(l.t)
	dir := filepath.Dir(file)
	sources, err := lockfile.Open(filepath.Join(dir, lockfile.Name), dir, "")
	testkit.None(l.t, err)
	for i, s := range pl.Steps {
		testkit.None(l.t, sources.From(filepath.Dir(s.Pos.File))) // of a module: its own
		pl.Steps[i].Task, err = l.Registry.Resolved(context.Background(), planSources{sources}, s.Task)
		testkit.None(l.t, err)
	}
	return pl
}

// exact is the plan of the steps that do not depend on a computed one, or on one whose
// address begins with one of without.
func (l *local) exact(file string, vars map[string]string, without ...string) *plan.Plan {
	l.t.Helper()
	whole := l.plan(file, vars)
	inexact := make([]bool, len(whole.Steps)) // steps follow their inputs
	var targets []string
	for i, s := range whole.Steps {
		inexact[i] = slices.Contains(computed, s.Task.Kind) || slices.ContainsFunc(without, func(p string) bool { return strings.HasPrefix(s.Address, p) }) || slices.ContainsFunc(s.Deps, func(d int) bool { return inexact[d] })
		if !inexact[i] {
			targets = append(targets, s.Address)
		}
	}
	return l.plan(file, vars, targets...)
}

// run does every step of a plan and returns its results in the plan's order.
func (l *local) run(pl *plan.Plan) []*artifacts.Result {
	l.t.Helper()
	results := testkit.Value(l.try(pl))(l.t)
	return results
}

// try is run until the first step that fails.
func (l *local) try(pl *plan.Plan) ([]*artifacts.Result, error) {
	l.t.Helper()
	ctx := context.Background()
	digest := testkit.Value(plan.Store(ctx, l.Store.Own.Blobs, pl))(l.t)
	keys := make([]artifacts.Digest, len(pl.Steps))
	results := make([]*artifacts.Result, len(pl.Steps))
	for i, s := range pl.Steps {
		var inputs []workflows.DoneStep
		for _, d := range s.Deps {
			inputs = append(inputs, workflows.DoneStep{Index: d, Key: keys[d]})
		}
		known, err := workflows.PagesOf(inputs, nil)
		if err != nil {
			return nil, err
		}
		prepared, err := l.Prepare(ctx, workflows.PrepareRequest{Plan: digest, Steps: []workflows.Ready{{Index: i, Cut: true}}, Keys: known})
		if err != nil || prepared[0].Error != "" || prepared[0].Lost {
			l.t.Fatalf("%s: %v %+v", s.Address, err, prepared)
		}
		if prepared[0].Status == runs.Hit {
			keys[i] = prepared[0].Key
			if results[i], err = artifacts.Lookup(ctx, l.Store, keys[i]); err != nil {
				return nil, err
			}
			continue
		}
		req := workflows.ExecuteRequest{Key: prepared[0].Key, Task: prepared[0].Task, Address: s.Address}
		if l.Registry.Lookup(s.Task.Kind).Splits() {
			if req.Parts, err = l.parts(req); err != nil {
				return nil, fmt.Errorf("%s: %w", s.Address, err)
			}
		}
		done, err := l.Execute(ctx, req)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.Address, err)
		}
		keys[i] = done.Key
		if results[i], err = artifacts.Lookup(ctx, l.Store, done.Key); err != nil || results[i] == nil {
			l.t.Fatalf("%s: no result: %v", s.Address, err)
		}
		l.declared(s.Address, s.Task.Kind, l.Registry.Lookup(s.Task.Kind).Declared(s.Task), results[i])
	}
	return results, nil
}

func (l *local) parts(req workflows.ExecuteRequest) (out workflows.Pages[artifacts.Digest], _ error) {
	l.t.Helper()
	split, err := l.Split(context.Background(), req)
	if err != nil {
		return out, err
	}
	parts, err := split.Rows(nil)
	if err != nil {
		return out, err
	}
	var keys []artifacts.Digest
	for _, p := range parts {
		done, err := l.Execute(context.Background(), workflows.ExecuteRequest{Key: p.Key, Task: p.Task, Address: p.Label})
		if err != nil {
			return out, fmt.Errorf("%s: %w", p.Label, err)
		}
		if done.Status != runs.Hit {
			l.ran = append(l.ran, p.Label)
		}
		keys = append(keys, done.Key)
	}
	page, rest, err := workflows.Pack(keys)
	if err != nil || len(rest) > 0 {
		l.t.Fatal(len(rest), err)
	}
	out.Page = page
	return out, nil
}

// computed are the kinds whose bytes depend on the processor's vector instructions,
// in the last digits of a float32. Their packages are held to transformers.
var computed = []string{"train", "evaluate", "embed", "train_queries", "generate_queries"}

// blobOf stores bytes as an artifact.
func (l *local) blobOf(typ string, b []byte) artifacts.Artifact {
	l.t.Helper()
	d, n, err := l.Store.Own.Blobs.Put(context.Background(), bytes.NewReader(b))
	testkit.None(l.t, err)
	return artifacts.Artifact{Type: typ, Digest: d, Size: n}
}

func (l *local) blob(typ string, b []byte) step.Input {
	l.t.Helper()
	return step.In(l.blobOf(typ, b))
}

// tree stores files as a tree artifact.
func (l *local) tree(typ string, files map[string][]byte) step.Input {
	l.t.Helper()
	var list []artifacts.File
	for _, name := range slices.Sorted(maps.Keys(files)) {
		a := l.blobOf(typ, files[name])
		list = append(list, artifacts.File{Name: name, Digest: a.Digest, Size: a.Size})
	}
	a := testkit.Value(artifacts.Tree(typ, list))(l.t)
	return step.In(a)
}

// folder is tree of some files of a folder.
func (l *local) folder(typ, folder string, names ...string) step.Input {
	l.t.Helper()
	files := map[string][]byte{}
	for _, name := range names {
		files[name] = readFile(l.t, filepath.Join(folder, name))
	}
	return l.tree(typ, files)
}

func (l *local) bytes(a artifacts.Artifact) []byte {
	l.t.Helper()
	r := testkit.Value(l.Store.Open(context.Background(), a.Digest))(l.t)
	defer r.Close()
	b := testkit.Value(io.ReadAll(r))(l.t)
	return b
}

// content is that of a tree's files.
func (l *local) content(a artifacts.Artifact) map[string][]byte {
	l.t.Helper()
	files := map[string][]byte{}
	for _, f := range a.Files {
		files[f.Name] = l.bytes(artifacts.Artifact{Digest: f.Digest})
	}
	return files
}

func (l *local) text(d artifacts.Digest) string {
	l.t.Helper()
	return string(l.bytes(artifacts.Artifact{Digest: d}))
}

func (l *local) json(a artifacts.Artifact, v any) {
	l.t.Helper()
	testkit.None(l.t, json.Unmarshal(l.bytes(a), v))
}

// keyOf is a task with its key and what that was made of.
func keyOf(t *testing.T, reg *step.Registry, kind string, tree map[string]any) (task step.Task, key artifacts.Digest, preimage []byte) {
	t.Helper()
	task, err := step.NewTask(reg.Lookup(kind), tree)
	testkit.None(t, err)
	key, preimage, err = reg.Key(task)
	testkit.None(t, err)
	return task, key, preimage
}

// request is what a worker is asked for a task.
func (l *local) request(kind string, tree map[string]any) workflows.ExecuteRequest {
	l.t.Helper()
	task, key, _ := keyOf(l.t, l.Registry, kind, tree)
	b := testkit.Value(json.Marshal(task))(l.t)
	return workflows.ExecuteRequest{Key: key, Task: l.blobOf("", b).Digest, Address: kind}
}

// do runs one task, without a plan.
func (l *local) do(kind string, tree map[string]any) (*artifacts.Result, error) {
	l.t.Helper()
	return l.doUntil(context.Background(), kind, tree)
}

// made is the result of a task that must not fail.
func (l *local) made(kind string, tree map[string]any) *artifacts.Result {
	l.t.Helper()
	res := testkit.Value(l.do(kind, tree))(l.t)
	return res
}

func (l *local) doUntil(ctx context.Context, kind string, tree map[string]any) (*artifacts.Result, error) {
	l.t.Helper()
	return l.execute(ctx, l.request(kind, tree))
}

// inParts is do of a kind that is cut into parts; a configuration that the kind does not take is an error.
func (l *local) inParts(kind string, tree map[string]any) (*artifacts.Result, error) {
	l.t.Helper()
	if _, err := step.NewTask(l.Registry.Lookup(kind), tree); err != nil {
		return nil, err
	}
	req := l.request(kind, tree)
	var err error
	if req.Parts, err = l.parts(req); err != nil {
		return nil, err
	}
	return l.execute(l.t.Context(), req)
}

func (l *local) execute(ctx context.Context, req workflows.ExecuteRequest) (*artifacts.Result, error) {
	l.t.Helper()
	if _, err := l.Execute(ctx, req); err != nil {
		return nil, err
	}
	return artifacts.Lookup(context.WithoutCancel(ctx), l.Store, req.Key)
}

// changed is a configuration with other values.
func changed(config map[string]any, changes ...map[string]any) map[string]any {
	out := map[string]any{}
	for _, c := range append([]map[string]any{config}, changes...) {
		maps.Copy(out, c)
	}
	return out
}

// says wants values of a JSON artifact by their paths, numbers but for rounding; nil: there is none.
func (l *local) says(a artifacts.Artifact, want map[string]any) {
	l.t.Helper()
	var doc any
	l.json(a, &doc)
	for path, w := range want {
		got, err := inout.Follow(doc, path)
		f, number := w.(float64)
		if g, ok := got.(float64); err != nil && w != nil || number && (!ok || math.Abs(g-f) > 1e-12) || !number && got != w {
			l.t.Errorf("%s is %v, want %v, %v", path, got, w, err)
		}
	}
}

// counted wants counts of a result.
func (l *local) counted(r *artifacts.Result, want map[string]int64) {
	l.t.Helper()
	for name, n := range want {
		if r.Counts[name] != n {
			l.t.Errorf("%s: %d, want %d: %v", name, r.Counts[name], n, r.Counts)
		}
	}
}

// refuses wants an error of a task, which is not tried again.
func (l *local) refuses(kind string, config map[string]any, want string) {
	l.t.Helper()
	if _, err := l.do(kind, config); !isPermanent(err) || !strings.Contains(err.Error(), want) {
		l.t.Errorf("%s: got %v, want %q, and no retry", kind, err, want)
	}
}

// mistakes completes configurations by what they are to be told; "": nothing is wrong.
func mistakes(t *testing.T, kind string, config map[string]any, bad map[string]map[string]any) {
	t.Helper()
	for want, change := range bad {
		_, err := kinds.Registry().Lookup(kind).Complete(changed(config, change))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s %v: got %v, want %q", kind, change, err, want)
		}
	}
}

// paper is the paper's pipeline file. To load it costs more than most tests.
var paper = filepath.Join("..", "pipelines.hcl")

// loaded are the pipelines that load has read, by texts and variables.
var loaded sync.Map

// load evaluates pipeline files with variables. The paper's are loaded once and shared:
// who builds a plan copies the steps. Others read files that a test may change.
func (l *local) load(src map[string][]byte, vars map[string]string) *pipeline.Pipeline {
	l.t.Helper()
	key := ""
	if _, ok := src[paper]; ok {
		text := testkit.Value(json.Marshal([]any{src, vars}))(l.t)
		key = string(text)
		if p, ok := loaded.Load(key); ok {
			return p.(*pipeline.Pipeline)
		}
	}
	p, ds := pipeline.Load(src, pipeline.Options{Registry: l.Registry, Vars: vars, World: pipeline.World{ReadFile: os.ReadFile, List: language.List}, Module: declare.LocalModule})
	testkit.None(l.t, ds.Err())
	if key != "" {
		loaded.Store(key, p)
	}
	return p
}

// readPipeline is the text of a pipeline's files.
func readPipeline(t *testing.T, file string) map[string][]byte {
	t.Helper()
	src := testkit.Value(syntax.Read(file))(t)
	return src
}

// part is plan of the paper from the blocks alone that the targets need, for tests that
// load it with many variables. TestPaperKeys holds the keys of the whole.
func (l *local) part(vars map[string]string, targets ...string) *plan.Plan {
	l.t.Helper()
	src := readPipeline(l.t, paper)
	whole := world{map[string]string{}, map[string][]string{}}
	for name, text := range src {
		w := readWorld(l.t, name, string(text))
		maps.Copy(whole.blocks, w.blocks)
		maps.Copy(whole.needs, w.needs)
	}
	var asked, texts []string
	for name := range vars {
		asked = append(asked, "var."+name)
	}
	for _, t := range targets {
		address, _, _ := strings.Cut(t, "[")
		asked = append(asked, address)
	}
	for _, address := range whole.wanted(l.t, world{needs: map[string][]string{"the test": asked}}) {
		texts = append(texts, whole.blocks[address])
	}
	return l.planOf(paper, l.load(map[string][]byte{paper: []byte(strings.Join(texts, "\n"))}, vars), targets...)
}

// TestReportsDeclareTheirFields: what a kind writes as JSON can be checked before it has.
func TestReportsDeclareTheirFields(t *testing.T) {
	for _, k := range kinds.All() {
		for _, o := range k.Outputs {
			if strings.Contains(o.Help, "JSON") && !o.Tree && !k.Hidden && o.Fields == nil {
				t.Errorf("%s.%s declares no fields", k.Name, o.Name)
			}
		}
	}
}

// declared fails if a result has JSON that its kind, or its configuration, does not declare. Every result that
// these tests make passes it.
func (l *local) declared(address, kind string, outputs []step.Output, r *artifacts.Result) {
	l.t.Helper()
	for _, o := range outputs {
		if o.Fields == nil {
			continue
		}
		rc, err := l.Store.Open(context.Background(), r.Outputs[o.Name].Digest)
		if errors.Is(err, fs.ErrNotExist) {
			continue // a test has taken it away
		} else if err != nil {
			l.t.Fatal(err)
		}
		b, err := io.ReadAll(rc)
		rc.Close()
		var doc any
		if err == nil {
			err = json.Unmarshal(b, &doc)
		}
		if err == nil {
			err = within(o.Fields, doc, nil)
		}
		if err != nil {
			l.t.Errorf("%s.%s of kind %s: %v", address, o.Name, kind, err)
		}
	}
}

// within checks that a value and all below it, at a path, are declared.
func within(f *step.Fields, v any, path []string) error {
	is := f
	if len(path) > 0 {
		if slices.ContainsFunc(path, func(name string) bool { return name == "" || strings.Contains(name, ".") }) {
			return nil // no path can ask for it
		}
		var err error
		if is, err = f.At(strings.Join(path, ".")); err != nil {
			return err
		}
	}
	if is.Type == step.Any || v == nil {
		return nil
	}
	ok := false
	switch v := v.(type) {
	case map[string]any:
		if _, absent := v["absent"]; absent && len(v) == 1 {
			return nil
		}
		ok = is.Type == step.Object || is.Type == step.Map
		for name, e := range v {
			if err := within(f, e, append(slices.Clip(path), name)); err != nil {
				return err
			}
		}
	case []any:
		ok = is.Type == step.List
		for i, e := range v {
			if err := within(f, e, append(slices.Clip(path), strconv.Itoa(i))); err != nil {
				return err
			}
		}
	case string:
		ok = is.Type == step.String
	case bool:
		ok = is.Type == step.Bool
	case float64:
		ok = is.Type == step.Float || is.Type == step.Int
	}
	if !ok {
		return errors.New(strings.Join(path, ".") + " is declared as " + string(is.Type))
	}
	return nil
}

// allKinds finds the kinds with the halves that compute, as the second program has them.
func allKinds() *step.Registry { return step.NewRegistry(models.Kinds()...) }

// TestHalves: the second program computes every kind, and every part of one.
func TestHalves(t *testing.T) {
	for _, k := range allKinds().Kinds() {
		if !k.Claim && !k.Computable() {
			t.Errorf("kind %s has no half", k.Name)
		}
	}
}
