package kinds_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"testing"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/system/errtest"
	"github.com/redsi/redsi/step"
	"github.com/redsi/redsi/workflows"
)

// blobOf stores bytes as an artifact.
func (l *local) blobOf(typ string, b []byte) artifacts.Artifact {
	l.t.Helper()
	d, n, err := l.Store.Own.Blobs.Put(context.Background(), bytes.NewReader(b))
	errtest.None(l.t, err)
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
	a, err := artifacts.Tree(typ, list)
	errtest.None(l.t, err)
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
	r, err := l.Store.Open(context.Background(), a.Digest)
	errtest.None(l.t, err)
	defer r.Close()
	b, err := io.ReadAll(r)
	errtest.None(l.t, err)
	return b
}

func (l *local) text(d artifacts.Digest) string {
	l.t.Helper()
	return string(l.bytes(artifacts.Artifact{Digest: d}))
}

func (l *local) json(a artifacts.Artifact, v any) {
	l.t.Helper()
	errtest.None(l.t, json.Unmarshal(l.bytes(a), v))
}

// keyOf is a task with its key and what that was made of.
func keyOf(t *testing.T, reg *step.Registry, kind string, tree map[string]any) (task step.Task, key artifacts.Digest, preimage []byte) {
	t.Helper()
	task, err := step.NewTask(reg.Lookup(kind), tree)
	errtest.None(t, err)
	if key, preimage, err = reg.Key(task); err != nil {
		t.Fatal(err)
	}
	return task, key, preimage
}

// request is what a worker is asked for a task.
func (l *local) request(kind string, tree map[string]any) workflows.ExecuteRequest {
	l.t.Helper()
	task, key, _ := keyOf(l.t, l.Registry, kind, tree)
	b, err := json.Marshal(task)
	errtest.None(l.t, err)
	return workflows.ExecuteRequest{Key: key, Task: l.blobOf("", b).Digest, Address: kind}
}

// do runs one task, without a plan.
func (l *local) do(kind string, tree map[string]any) (*artifacts.Result, error) {
	l.t.Helper()
	return l.doUntil(context.Background(), kind, tree)
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
