package kinds_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.temporal.io/sdk/temporal"

	"github.com/redsi/redsi/activities"
	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/corpora/docid"
	"github.com/redsi/redsi/internal/corpora/npy"
	"github.com/redsi/redsi/internal/model/train"
	"github.com/redsi/redsi/internal/stores/dir"
	"github.com/redsi/redsi/internal/stores/storetest"
	"github.com/redsi/redsi/internal/system/testkit"
	"github.com/redsi/redsi/step"
)

// resumed is 40 updates with dropout, with a checkpoint every 10.
var resumed = map[string]any{"steps": int64(40), "evaluate_every": int64(20), "checkpoint_every": int64(10), "dropout": 0.1, "beams": int64(10)}

func newTrainingIn(t *testing.T, folder string) *training {
	t.Helper()
	l := newLocal(t)
	store := testkit.Value(dir.Open(folder))(t)
	l.Store = artifacts.Alone(store)
	return newTraining(t, l)
}

// resume trains what was interrupted after a step and wants the model of a training
// that was not.
func (f *training) resume(whole *artifacts.Result, from int64) {
	f.t.Helper()
	res := f.made("train", f.with(resumed))
	var r trained
	f.json(res.Outputs["report"], &r)
	testkit.Is(f.t, r.ResumedAt, from)
	testkit.Is(f.t, r.Steps, 40)
	if got, want := res.Outputs["model"], whole.Outputs["model"]; got.Digest != want.Digest {
		f.t.Errorf("the model has other bytes:\n%v\nwant\n%v", got.Files, want.Files)
	}
	f.leaves(0)
}

// checkpointBlobs counts the store's blobs that only checkpoints name.
func (f *training) checkpointBlobs() int {
	f.t.Helper()
	n := 0
	for b, err := range f.Store.Own.Blobs.List(context.Background()) {
		testkit.None(f.t, err)
		if strings.HasPrefix(f.text(b.Digest), "redsi checkpoint ") {
			n++
		}
	}
	return n
}

const storeOfKilled = "REDSI_TEST_TRAIN_STORE"

// TestTrainKilled: a training whose process is killed before its checkpoint of step
// 30 is recorded continues in another process at step 20, to the same parameters as
// one that was left alone. The killed process is this test, started again.
func TestTrainKilled(t *testing.T) {
	if folder := os.Getenv(storeOfKilled); folder != "" {
		f := newTrainingIn(t, folder)
		f.Store = artifacts.Alone(storetest.Hooked(f.Store.Own, dying))
		_, err := f.do("train", f.with(resumed))
		t.Fatalf("the training ended: %v", err)
	}
	f := newTrainingIn(t, t.TempDir())
	whole := f.made("train", f.with(resumed))
	if n := f.checkpointBlobs(); n > 0 {
		t.Errorf("%d blobs of checkpoints are left of a training that ended", n)
	}
	folder := t.TempDir()
	cmd := exec.Command(os.Args[0], "-test.run=^TestTrainKilled$", "-test.v")
	cmd.Env = append(os.Environ(), storeOfKilled+"="+folder)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	testkit.None(t, err)
	testkit.None(t, cmd.Start())
	var said []string
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if said = append(said, lines.Text()); lines.Text() == atStep30 {
			testkit.None(t, cmd.Process.Kill())
		}
	}
	err = cmd.Wait()
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGKILL {
		t.Fatalf("the training was not killed: %v\n%s", err, strings.Join(said, "\n"))
	}
	newTrainingIn(t, folder).resume(whole, 20)
}

const atStep30 = "at step 30"

// dying is a store that never gets the checkpoint of step 30: who files it says so
// and waits for the end.
var dying = storetest.Before(func(_ context.Context, c *storetest.Call) error {
	if checkpointOf(c, 30) {
		fmt.Println(atStep30)
		select {}
	}
	return nil
})

// checkpointOf reports whether a call files the checkpoint of a step.
func checkpointOf(c *storetest.Call, step int) bool {
	return c.Method == storetest.RecordsPut && strings.HasPrefix(c.Name, "checkpoints/") && strings.HasSuffix(c.Name, fmt.Sprintf("/%016d", step))
}

// TestTrainDiskFull: a disk that is full ends the training with what to do, and leaves
// the checkpoint before for the next run.
func TestTrainDiskFull(t *testing.T) {
	f := newTrainingIn(t, t.TempDir())
	whole := f.made("train", f.with(resumed))
	f = newTrainingIn(t, t.TempDir())
	store := f.Store
	full := false // once the checkpoint of step 20 is recorded
	f.Store = artifacts.Alone(storetest.Hooked(store.Own, func(_ context.Context, c *storetest.Call, next func() error) error {
		if full && c.Method == storetest.BlobsPut {
			return fmt.Errorf("write: %w", syscall.ENOSPC)
		}
		err := next()
		full = full || checkpointOf(c, 20)
		return err
	}))
	if _, err := f.do("train", f.with(resumed)); !endsFull(err, "checkpoint of step 30") {
		t.Errorf("error %v", err)
	}
	f.Store = store
	f.resume(whole, 20)
}

// endsFull reports the error of a full disk at a place: it is not tried again, and says
// what a person has to do.
func endsFull(err error, place string) bool {
	var told *temporal.ApplicationError
	if !errors.As(err, &told) || !told.NonRetryable() {
		return false
	}
	for _, want := range []string{place, syscall.ENOSPC.Error(), "free space"} {
		if !strings.Contains(told.Message(), want) {
			return false
		}
	}
	return true
}

// TestTrainCancelled: a training that is cancelled leaves a checkpoint of the update
// that it has made, although its context is over.
func TestTrainCancelled(t *testing.T) {
	t.Run("t5", func(t *testing.T) { testTrainCancelled(t, newTraining) })
	t.Run("bart", func(t *testing.T) { testTrainCancelled(t, newBARTTraining) })
}

func testTrainCancelled(t *testing.T, start func(*testing.T, *local) *training) {
	f := start(t, newLocal(t))
	whole := f.made("train", f.with(resumed))
	f = start(t, newLocal(t))
	ctx := &ending{}
	ctx.Context, ctx.cancel = context.WithCancel(context.Background())
	store := f.Store
	f.Store = artifacts.Alone(storetest.Hooked(store.Own, func(_ context.Context, c *storetest.Call, next func() error) error {
		err := next()
		if checkpointOf(c, 10) {
			ctx.left.Store(7)
		}
		return err
	}))
	if _, err := f.doUntil(ctx, "train", f.with(resumed)); !temporal.IsCanceledError(err) {
		t.Errorf("error %v", err)
	}
	f.Store = store
	step := f.newestCheckpoint()
	testkit.That(t, step > 10 && step < 20, "the newest checkpoint is of step", step)
	f.resume(whole, step)
}

// ending is a context that is cancelled a little after the checkpoint of step 10:
// training asks it once per update.
type ending struct {
	context.Context
	cancel context.CancelFunc
	left   atomic.Int64
}

func (c *ending) Err() error {
	if c.left.Add(-1) == 0 {
		c.cancel()
	}
	return c.Context.Err()
}

// TestTrainDiverged: a training that diverges names the step and keeps the checkpoint
// before it: the next one goes on there, and comes to the same end.
func TestTrainDiverged(t *testing.T) {
	f := newTraining(t, newLocal(t))
	wild := map[string]any{"steps": int64(40), "evaluate_every": int64(40), "checkpoint_every": int64(1), "learning_rate": 1e5, "warmup": int64(100), "scale_parameter": false}
	var told [2]string
	for i := range told {
		_, err := f.do("train", f.with(wild))
		if err == nil {
			t.Fatal("the training did not diverge")
		}
		told[i] = err.Error()
	}
	var kept int64
	what, rest, _ := strings.Cut(told[0], ": training diverged; ")
	if _, err := fmt.Sscanf(rest, "the checkpoint of step %d is kept", &kept); err != nil || kept < 2 || !strings.Contains(what, fmt.Sprintf("step %d ", kept+1)) || told[0] != told[1] {
		t.Errorf("%v: %q, then %q", err, told[0], told[1])
	}
	testkit.Is(t, f.newestCheckpoint(), kept)
}

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
	record := testkit.Value(l.Store.Own.Records.Get(context.Background(), name))(l.t)
	files := testkit.Value(artifacts.DecodeCheckpoint(record))(l.t)
	return []byte(strings.TrimPrefix(l.text(files[file].Digest), checkpointLine(name)))
}

// plant files a checkpoint of another store, with other content under right digests.
func (l *local) plant(from *local, name string, s spoils) {
	l.t.Helper()
	ctx := context.Background()
	record := testkit.Value(from.Store.Own.Records.Get(ctx, name))(l.t)
	files, err := artifacts.DecodeCheckpoint(record)
	testkit.None(l.t, err)
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
			testkit.None(l.t, err)
			data = testkit.Value(io.ReadAll(r))(l.t)
			data = bytes.TrimPrefix(data, []byte(line))
		}
		if spoil := s[file]; spoil != nil {
			if data = spoil(data); data == nil {
				delete(files, file)
				continue
			}
		}
		f.Digest, f.Size, err = l.Store.Own.Blobs.Put(ctx, io.MultiReader(strings.NewReader(line), bytes.NewReader(data)))
		testkit.None(l.t, err)
		files[file] = f
	}
	if record, err = json.Marshal(files); err == nil {
		err = l.Store.Own.Records.Put(ctx, name, record)
	}
	testkit.None(l.t, err)
}

// checkpointNames are those of a store, oldest first.
func (l *local) checkpointNames() []string {
	l.t.Helper()
	var names []string
	for info, err := range l.Store.Own.Records.List(context.Background(), "checkpoints/") {
		testkit.None(l.t, err)
		names = append(names, info.Name)
	}
	return names
}

// leaves wants so many checkpoints in the store.
func (l *local) leaves(n int) {
	l.t.Helper()
	if names := l.checkpointNames(); len(names) != n {
		l.t.Errorf("left behind: %v, want %d", names, n)
	}
}

// newestCheckpoint is the number of the newest one.
func (l *local) newestCheckpoint() (n int64) {
	l.t.Helper()
	names := l.checkpointNames()
	name := names[len(names)-1]
	testkit.None(l.t, testkit.Err(fmt.Sscanf(name[strings.LastIndexByte(name, '/')+1:], "%d", &n)))
	return n
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
	want := whole.made("train", whole.with(resumed))
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
	f.leaves(0)
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
	want := testkit.Value(embed(whole))(t)
	names := whole.checkpointNames()
	if len(names) != 2 {
		t.Fatalf("checkpoints %v", names)
	}
	vectors := func(rows, cols int, v float64) func([]byte) []byte {
		return func([]byte) []byte {
			var b bytes.Buffer
			testkit.None(t, npy.Write(&b, npy.Matrix{Rows: rows, Cols: cols, Data: slices.Repeat([]float32{float32(v)}, rows*cols)}))
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
			l.plant(whole, names[0], []spoils{nil, s}[spoiled-1])
			got := testkit.Value(embed(l))(t)
			l.counted(got, map[string]int64{"checkpoints_passed_over": int64(spoiled), "documents_resumed": int64(2048 * (2 - spoiled))})
			testkit.Is(t, got.Outputs["embeddings"].Digest, want.Outputs["embeddings"].Digest, what, spoiled)
		}
	}
}

// TestCheckpointUnread: a store that does not give a checkpoint's bytes for a while
// fails the attempt, and costs nothing of what was done.
func TestCheckpointUnread(t *testing.T) {
	whole := newTraining(t, newLocal(t))
	whole.keepCheckpoints()
	testkit.None(t, testkit.Err(whole.do("train", whole.with(resumed))))
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
	testkit.ErrSays(t, testkit.Err(f.do("train", f.with(resumed))), away.Error())
	f.Store = store
	testkit.Deep(t, f.checkpointNames(), names[:1], "left")
}

// onward is what a report says of where training came from and ended.
type onward struct {
	Steps         int64
	ContinuedFrom int64 `json:"continued_from"`
	Stopped       string
}

// options are all that training can do beside the paper's, with dropout.
var options = map[string]any{
	"optimizer": "adamw", "schedule": "inverse_sqrt", "warmup": int64(5), "accumulate": int64(3), "clip_norm": 1.0, "label_smoothing": 0.1,
	"weight_decay": 0.01, "beta2": 0.99, "epsilon": 1e-7, "learning_rate": 3e-3, "select": "Hits@10", "dropout": 0.1, "beams": int64(10), "evaluate_every": int64(8),
}

// longer trains for some steps and wants a report.
func (f *training) longer(want onward, changes ...map[string]any) *artifacts.Result {
	f.t.Helper()
	res := f.made("train", f.with(append(changes, options)...))
	var r onward
	f.json(res.Outputs["report"], &r)
	testkit.Is(f.t, r, want)
	return res
}

// TestTrainMoreSteps: training with more steps continues from what a shorter one kept, with
// every option, to the model that it would have left by itself; keeping has no part in a key.
func TestTrainMoreSteps(t *testing.T) {
	steps := func(n int64) map[string]any { return map[string]any{"steps": n} }
	keep := map[string]any{"keep_state": true}
	alone, f := newTraining(t, newLocal(t)), newTraining(t, newLocal(t))
	whole := alone.longer(onward{Steps: 24}, steps(24))
	f.longer(onward{Steps: 12}, steps(12)) // which keeps nothing
	short := f.longer(onward{Steps: 11}, steps(11), keep)
	long := f.longer(onward{Steps: 24, ContinuedFrom: 11}, steps(24), map[string]any{"checkpoint_activations": true}) // which changes no bit
	if long.Outputs["model"].Digest != whole.Outputs["model"].Digest {
		t.Error("the model is not the one of 24 steps at once")
	}
	testkit.Is(t, long.Env[step.NotePrefix+"went on from"], "step 11 of a run with fewer steps", "notes", long.Env)
	testkit.Is(t, short.Env[step.NotePrefix+"went on from"], "", "notes", long.Env)
	curve := func(f *training, r *artifacts.Result) (c train.Curve) {
		f.json(r.Outputs["curve"], &c)
		for i := range c.Points {
			c.Points[i].Seconds = 0
		}
		return c
	}
	if got, want := curve(f, long), curve(alone, whole); len(got.Points) != 3 || !cmp.Equal(got, want) {
		t.Errorf("curve %+v, want %+v", got, want)
	}
	task := testkit.Value(step.NewTask(f.Registry.Lookup("train"), f.with(steps(24), options)))(t)
	again := testkit.Value(f.Rebuild(context.Background(), "train", long.Key, task, activities.RebuildOptions{}))(t)
	if again.Made.Env[step.NotePrefix+"went on from"] != "" || again.Made.Outputs["model"].Digest != long.Outputs["model"].Digest {
		t.Errorf("a rebuild went on from what was kept, or made another model: %v", again.Made.Env)
	}
	f.longer(onward{Steps: 26, ContinuedFrom: 11}, steps(26), map[string]any{"patience": int64(9)})
	f.longer(onward{Steps: 24}, steps(24), map[string]any{"clip_norm": 2.0})
	f.longer(onward{Steps: 16}, steps(16), map[string]any{"schedule": "linear"}, keep)
	f.longer(onward{Steps: 24}, steps(24), map[string]any{"schedule": "linear"}, keep)
	f.leaves(1) // the state of 11 steps
}

// TestTrainPatience: the report says why there are fewer steps, and the model is the best one's.
func TestTrainPatience(t *testing.T) {
	f := newTraining(t, newLocal(t))
	still := map[string]any{"steps": int64(100), "patience": int64(2), "learning_rate": 1e-60} // moves no float32, so nothing gets better
	why := "patience: 2 evaluations in a row with no better Hits@10 than at step 8"
	f.longer(onward{Steps: 24, Stopped: why}, still, map[string]any{"weight_decay": 0.0})
}

// TestTwoStages: a trained model is trained on, with the rows of its documents, which are
// not added again; redsi.json is of the second stage.
func TestTwoStages(t *testing.T) {
	f := newTraining(t, newLocal(t))
	atomic := f.set(f.ids(docid.KindAtomic))
	stage := func(steps int64, changes map[string]any) (*artifacts.Result, trained, error) {
		t.Helper()
		res, err := f.do("train", f.with(changes, map[string]any{"steps": steps, "ids": atomic, "evaluate_every": int64(20), "beams": int64(10)}))
		var r trained
		if err == nil {
			f.json(res.Outputs["report"], &r)
		}
		return res, r, err
	}
	first, was, err := stage(40, map[string]any{"query_prefix": "ask:"})
	testkit.None(t, err)
	model := step.In(first.Outputs["model"])
	same, is, err := stage(1, map[string]any{"model": model, "learning_rate": 1e-60})
	testkit.None(t, err)
	if is.Parameters != was.Parameters || digestOf(same.Outputs["model"], "model.safetensors") != digestOf(first.Outputs["model"], "model.safetensors") {
		t.Errorf("%d parameters after %d, or other ones", is.Parameters, was.Parameters)
	}
	if text := f.text(digestOf(same.Outputs["model"], "redsi.json")); !strings.Contains(text, `"query:"`) || strings.Contains(text, "ask:") {
		t.Errorf("redsi.json is of the first stage:\n%s", text)
	}
	second, is, err := stage(40, map[string]any{"model": model, "ratio": "0:1"})
	testkit.None(t, err)
	if is.Metrics["MRR@10"] <= was.Metrics["MRR@10"] {
		t.Errorf("MRR@10 %.3f after a second stage, %.3f before it", is.Metrics["MRR@10"], was.Metrics["MRR@10"])
	}
	f.checkEvaluation(f.ids(docid.KindAtomic), is, second)
	_, _, err = stage(1, map[string]any{"model": model, "ids": f.set(f.atomic(f.rows + 1))})
	testkit.ErrSays(t, err, "model: its atomic identifiers are rows of its vocabulary, and others would be taken for them: the model was trained on another assignment of atomic identifiers to 20 documents: give the ids that its train step was given, or start from the model that its train step started from")
	_, _, err = stage(1, map[string]any{"model": model, "ids": f.set(f.ids(docid.KindNaive))})
	testkit.ErrSays(t, err, "ids are naive identifiers of 20")
	if _, r, err := stage(1, map[string]any{"model": model, "ids": f.set(f.ids(docid.KindNaive)), "init": "random"}); err != nil || r.Steps != 1 {
		t.Errorf("of random weights: %v", err)
	}
	naive, _, err := stage(1, map[string]any{"ids": f.set(f.ids(docid.KindNaive))})
	testkit.None(t, err)
	if _, r, err := stage(1, map[string]any{"model": step.In(naive.Outputs["model"])}); err != nil || r.Parameters != was.Parameters {
		t.Errorf("atomic after naive identifiers: %d parameters, %v", r.Parameters, err)
	}
}
