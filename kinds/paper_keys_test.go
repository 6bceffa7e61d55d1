package kinds_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"flag"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/corpora/unpack/goldens"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/stores/open"
	"github.com/redsi/redsi/internal/system/errtest"
	"github.com/redsi/redsi/internal/system/filetest"
	"github.com/redsi/redsi/kinds"
)

var toyStore = flag.String("toy-store", "", "with -update: URL of a store that has the results of pipelines.hcl at toy scale that the golden lacks")

// paperKey is what the golden has of a step of the paper.
type paperKey struct {
	Key     artifacts.Digest              `json:"key"`
	Outputs map[string]artifacts.Artifact `json:"outputs"`
}

// TestPaperKeys: the key of every step of the paper at toy scale is what it was, so that
// nobody computes again what did not change. After a change of pipelines.hcl itself:
// `redsi run --var scale=toy`, of what is new at least, then
// `go test ./kinds -run TestPaperKeys -update -toy-store "file://$PWD/.redsi/store"`.
func TestPaperKeys(t *testing.T) {
	t.Parallel()
	golden := filepath.Join("testdata", "paper-keys.json.gz")
	l := newLocal(t)
	pl := l.plan(filepath.Join("..", "pipelines.hcl"), map[string]string{"scale": "toy"})
	if *goldens.Update {
		if *toyStore == "" {
			t.Skip("needs -toy-store")
		}
		store, err := open.Store(t.Context(), *toyStore)
		errtest.None(t, err)
		v := preview(t, pl, func(ctx context.Context, keys []artifacts.Digest) (map[artifacts.Digest]*artifacts.Result, error) {
			found, err := artifacts.LookupMany(ctx, artifacts.Alone(store), keys)
			for _, w := range readKeys(t, golden) {
				if found != nil && found[w.Key] == nil && slices.Contains(keys, w.Key) {
					found[w.Key] = &artifacts.Result{Key: w.Key, Outputs: w.Outputs}
				}
			}
			return found, err
		})
		want := map[string]paperKey{}
		for i, it := range v.Items {
			if it.Result == nil {
				t.Fatalf("the store has no result of %s", pl.Steps[i].Address)
			}
			want[pl.Steps[i].Address] = paperKey{it.Key, it.Result.Outputs}
		}
		writeKeys(t, golden, want)
		return
	}
	want := readKeys(t, golden)
	known := map[artifacts.Digest]*artifacts.Result{}
	for _, w := range want {
		known[w.Key] = &artifacts.Result{Key: w.Key, Outputs: w.Outputs}
	}
	lookup := func(context.Context, []artifacts.Digest) (map[artifacts.Digest]*artifacts.Result, error) {
		return known, nil
	}
	for i, it := range preview(t, pl, lookup).Items {
		address := pl.Steps[i].Address
		w, ok := want[address]
		switch {
		case !ok:
			t.Errorf("%s is not in the golden", address)
		case it.Outcome != plan.Hit || it.Key != w.Key:
			t.Errorf("%s: its key was %s and is %s, %s", address, w.Key, it.Key, it.Outcome)
		}
	}
	if len(want) != len(pl.Steps) {
		t.Errorf("the golden has %d steps, the pipeline %d", len(want), len(pl.Steps))
	}
}

func preview(t *testing.T, pl *plan.Plan, lookup plan.Lookup) *plan.Preview {
	t.Helper()
	v, err := pl.Follow(t.Context(), kinds.Registry(), lookup, plan.KeepAll, nil)
	errtest.None(t, err)
	return v
}

func readKeys(t *testing.T, path string) (keys map[string]paperKey) {
	t.Helper()
	goldens.JSON(t, path, &keys)
	return keys
}

func writeKeys(t *testing.T, path string, keys map[string]paperKey) {
	t.Helper()
	var b bytes.Buffer
	z, _ := gzip.NewWriterLevel(&b, gzip.BestCompression) // the level is one
	errtest.None(t, json.NewEncoder(z).Encode(keys))
	errtest.None(t, z.Close())
	filetest.Write(t, path, b.Bytes())
}

// TestSampleGrown: a sample of all files with the paper's updates is the run of scale full,
// step by step.
func TestSampleGrown(t *testing.T) {
	t.Parallel()
	l := newLocal(t)
	stepsOf := func(vars map[string]string) map[string]string {
		vars["contact"], vars["pages_from"] = "me@example.org", "api"
		steps := map[string]string{}
		for _, s := range l.plan(filepath.Join("..", "pipelines.hcl"), vars).Steps {
			task, err := json.Marshal(s.Task)
			errtest.None(t, err)
			steps[s.Address] = s.Queue + string(task)
		}
		return steps
	}
	full := stepsOf(map[string]string{"scale": "full"})
	if d := cmp.Diff(full, stepsOf(map[string]string{"scale": "sample", "sample_train": "50", "sample_updates": "paper"})); d != "" {
		t.Error(d)
	}
	if len(stepsOf(map[string]string{"scale": "sample", "sample_train": "50"})) >= len(full) {
		t.Error("a sample of all files has all trainings")
	}
}
