package kinds_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/corpora/npy"
	"github.com/redsi/redsi/internal/stores/storetest"
	"github.com/redsi/redsi/internal/system/errtest"
)

// keepCheckpoints makes the store one that loses no checkpoint of a step that ends.
func (l *local) keepCheckpoints() {
	l.Store = artifacts.Alone(artifacts.Store{Blobs: blobsKept{l.Store.Own.Blobs}, Records: recordsKept{l.Store.Own.Records}, Leases: l.Store.Own.Leases})
}

type recordsKept struct{ artifacts.Records }

func (recordsKept) Delete(context.Context, string) error { return nil }

type blobsKept struct{ artifacts.Blobs }

func (blobsKept) Delete(context.Context, artifacts.Digest) error { return nil }

// spoils are what becomes of a checkpoint's files, by name; nil: the file goes.
type spoils map[string]func([]byte) []byte

func gone([]byte) []byte { return nil }

// checkpointLine is what the content of a checkpoint's files begins with.
func checkpointLine(name string) string {
	return "redsi checkpoint " + strings.Split(name, "/")[1] + "\n"
}

// checkpointFile is the content of a file of a checkpoint.
func (l *local) checkpointFile(name, file string) []byte {
	l.t.Helper()
	record, err := l.Store.Own.Records.Get(context.Background(), name)
	errtest.None(l.t, err)
	files, err := artifacts.DecodeCheckpoint(record)
	errtest.None(l.t, err)
	return []byte(strings.TrimPrefix(l.text(files[file].Digest), checkpointLine(name)))
}

// plant files a checkpoint of another store, with other content under right digests.
func (l *local) plant(from *local, name string, s spoils) {
	l.t.Helper()
	ctx := context.Background()
	record, err := from.Store.Own.Records.Get(ctx, name)
	errtest.None(l.t, err)
	files, err := artifacts.DecodeCheckpoint(record)
	errtest.None(l.t, err)
	line := checkpointLine(name)
	for file := range s {
		if _, ok := files[file]; !ok {
			files[file] = artifacts.File{Name: file}
		}
	}
	for file, f := range files {
		var data []byte
		if f.Size > 0 {
			r, err := from.Store.Open(ctx, f.Digest)
			errtest.None(l.t, err)
			if data, err = io.ReadAll(r); err != nil {
				l.t.Fatal(err)
			}
			data = bytes.TrimPrefix(data, []byte(line))
		}
		if spoil := s[file]; spoil != nil {
			if data = spoil(data); data == nil {
				delete(files, file)
				continue
			}
		}
		if f.Digest, f.Size, err = l.Store.Own.Blobs.Put(ctx, io.MultiReader(strings.NewReader(line), bytes.NewReader(data))); err != nil {
			l.t.Fatal(err)
		}
		files[file] = f
	}
	if record, err = json.Marshal(files); err == nil {
		err = l.Store.Own.Records.Put(ctx, name, record)
	}
	if err != nil {
		l.t.Fatal(err)
	}
}

// checkpointNames are those of a store, oldest first.
func (l *local) checkpointNames() []string {
	l.t.Helper()
	var names []string
	for info, err := range l.Store.Own.Records.List(context.Background(), "checkpoints/") {
		if err != nil {
			l.t.Fatal(err)
		}
		names = append(names, info.Name)
	}
	return names
}

// renamed changes a name within a file of parameters, whose header stays as long.
func renamed(old, new string) func([]byte) []byte {
	return func(data []byte) []byte { return bytes.ReplaceAll(data, []byte(old), []byte(new)) }
}

// TestTrainPassesOver: a checkpoint whose bytes are right and that the trainer cannot
// load is passed over for the one before, and then for none, and counted; the model is
// that of a training that was left alone.
func TestTrainPassesOver(t *testing.T) {
	whole := newTraining(t, newLocal(t))
	whole.keepCheckpoints()
	want, err := whole.do("train", whole.with(resumed))
	errtest.None(t, err)
	names := whole.checkpointNames()
	if len(names) != 4 || want.Counts["checkpoints_passed_over"] != 0 {
		t.Fatalf("checkpoints %v, counts %v", names, want.Counts)
	}
	for what, s := range map[string]spoils{
		"renamed parameter":  {"model.safetensors": renamed("final_layer_norm", "final_layer_n0rm")},
		"wrong shape":        {"model.safetensors": renamed(`"shape":[64,32]`, `"shape":[32,64]`)},
		"no optimizer state": {"optimizer.safetensors": gone},
		"another step":       {"state.json": renamed(`"step":`, `"step":1`)},
	} {
		testPassesOver(t, whole, want, what, names[:2], s, 10)
	}
	noModel := func([]byte) []byte { return []byte("no model") }
	testPassesOver(t, whole, want, "a selected model that is none", names[1:2], spoils{"best/model.safetensors": noModel}, 0)
	testPassesOver(t, whole, want, "no optimizer state in both", names[:2], spoils{"optimizer.safetensors": gone}, 0)
}

// testPassesOver trains from spoiled checkpoints, the newest of them or, to begin at
// step 0, all.
func testPassesOver(t *testing.T, whole *training, want *artifacts.Result, what string, names []string, s spoils, from int64) {
	t.Helper()
	f := newTraining(t, newLocal(t))
	spoiled := int64(0)
	for i, name := range names {
		if i == len(names)-1 || from == 0 {
			f.plant(whole.local, name, s)
			spoiled++
		} else {
			f.plant(whole.local, name, nil)
		}
	}
	res, err := f.do("train", f.with(resumed))
	if err != nil {
		t.Errorf("%s: %v", what, err)
		return
	}
	var r trained
	f.json(res.Outputs["report"], &r)
	if r.ResumedAt != from || res.Counts["checkpoints_passed_over"] != spoiled || res.Outputs["model"].Digest != want.Outputs["model"].Digest {
		t.Errorf("%s: resumed at step %d, counts %v, the same model: %v", what, r.ResumedAt, res.Counts, res.Outputs["model"].Digest == want.Outputs["model"].Digest)
	}
	if left := f.checkpointNames(); len(left) > 0 {
		t.Errorf("%s: left behind: %v", what, left)
	}
}

// TestEmbedPassesOver: so it is with the vectors of an embedding.
func TestEmbedPassesOver(t *testing.T) {
	texts := make([]string, 2*2048+300)
	for i := range texts {
		texts[i] = strings.Repeat("a document . ", i%2)
	}
	model := tinyBERT(t)
	embed := func(l *local) (*artifacts.Result, error) {
		return l.do("embed", map[string]any{"title": false, "corpus": l.corpusOf(texts), "model": l.tree("files", model), "tokenizer": l.bertTokenizer(),
			"max_tokens": int64(8), "device": "cpu"})
	}
	whole := newLocal(t)
	whole.keepCheckpoints()
	want, err := embed(whole)
	errtest.None(t, err)
	names := whole.checkpointNames()
	if len(names) != 2 {
		t.Fatalf("checkpoints %v", names)
	}
	vectors := func(rows, cols int, v float64) func([]byte) []byte {
		return func([]byte) []byte {
			var b bytes.Buffer
			errtest.None(t, npy.Write(&b, npy.Matrix{Rows: rows, Cols: cols, Data: slices.Repeat([]float32{float32(v)}, rows*cols)}))
			return b.Bytes()
		}
	}
	const first = "000000000.npy"
	for what, s := range map[string]spoils{
		"no vectors":      {first: func([]byte) []byte { return []byte("no vectors") }},
		"a vector less":   {first: vectors(2047, tinyHidden, 0)},
		"shorter vectors": {first: vectors(2048, tinyHidden-1, 0)},
		"no numbers":      {first: vectors(2048, tinyHidden, math.NaN())},
		"another name":    {first: gone, "0.npy": vectors(2048, tinyHidden, 0)},
		"a file too many": {"state.json": func([]byte) []byte { return []byte("{}") }},
	} {
		for spoiled := 1; spoiled <= 2; spoiled++ {
			l := newLocal(t)
			l.plant(whole, names[1], s)
			if spoiled == 2 {
				l.plant(whole, names[0], s)
			} else {
				l.plant(whole, names[0], nil)
			}
			got, err := embed(l)
			if err != nil {
				t.Errorf("%s: %v", what, err)
				continue
			}
			if got.Outputs["embeddings"].Digest != want.Outputs["embeddings"].Digest || got.Counts["checkpoints_passed_over"] != int64(spoiled) ||
				got.Counts["documents_resumed"] != int64(2048*(2-spoiled)) {
				t.Errorf("%s, in %d checkpoints: counts %v", what, spoiled, got.Counts)
			}
		}
	}
}

// TestCheckpointUnread: a store that does not give a checkpoint's bytes for a while
// fails the attempt, and costs nothing of what was done.
func TestCheckpointUnread(t *testing.T) {
	whole := newTraining(t, newLocal(t))
	whole.keepCheckpoints()
	errtest.None(t, errtest.Of(whole.do("train", whole.with(resumed))))
	f := newTraining(t, newLocal(t))
	names := whole.checkpointNames()
	f.plant(whole.local, names[0], nil)
	store := f.Store
	away := errors.New("the store is away")
	f.Store = artifacts.Alone(storetest.Hooked(store.Own, func(ctx context.Context, c *storetest.Call, next func() error) error {
		if err := next(); err != nil || c.Method != storetest.BlobsOpen {
			return err
		}
		begin := make([]byte, len("redsi checkpoint "))
		if _, err := io.ReadFull(c.Body, begin); err == nil && string(begin) == "redsi checkpoint " {
			return errors.Join(away, c.Body.Close())
		}
		return errors.Join(c.Body.Close(), next())
	}))
	errtest.Says(t, errtest.Of(f.do("train", f.with(resumed))), away.Error())
	f.Store = store
	if left := f.checkpointNames(); !slices.Equal(left, names[:1]) {
		t.Errorf("left are %v", left)
	}
}
