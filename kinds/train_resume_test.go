package kinds_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"go.temporal.io/sdk/temporal"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/stores/dir"
	"github.com/redsi/redsi/internal/stores/storetest"
	"github.com/redsi/redsi/internal/system/errtest"
)

// resumed is 40 updates with dropout, with a checkpoint every 10.
var resumed = map[string]any{"steps": int64(40), "evaluate_every": int64(20), "checkpoint_every": int64(10), "dropout": 0.1, "beams": int64(10)}

func newTrainingIn(t *testing.T, folder string) *training {
	t.Helper()
	l := newLocal(t)
	store, err := dir.Open(folder)
	errtest.None(t, err)
	l.Store = artifacts.Alone(store)
	return newTraining(t, l)
}

// resume trains what was interrupted after a step and wants the model of a training
// that was not.
func (f *training) resume(whole *artifacts.Result, from int64) {
	f.t.Helper()
	res, err := f.do("train", f.with(resumed))
	errtest.None(f.t, err)
	var r trained
	f.json(res.Outputs["report"], &r)
	if r.ResumedAt != from || r.Steps != 40 {
		f.t.Errorf("resumed at step %d of %d", r.ResumedAt, r.Steps)
	}
	if got, want := res.Outputs["model"], whole.Outputs["model"]; got.Digest != want.Digest {
		f.t.Errorf("the model has other bytes:\n%v\nwant\n%v", got.Files, want.Files)
	}
	for info, err := range f.Store.Own.Records.List(context.Background(), "checkpoints/") {
		f.t.Errorf("left behind: %s, %v", info.Name, err)
	}
}

// checkpointBlobs counts the store's blobs that only checkpoints name.
func (f *training) checkpointBlobs() int {
	f.t.Helper()
	n := 0
	for b, err := range f.Store.Own.Blobs.List(context.Background()) {
		if err != nil {
			f.t.Fatal(err)
		}
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
	whole, err := f.do("train", f.with(resumed))
	errtest.None(t, err)
	if n := f.checkpointBlobs(); n > 0 {
		t.Errorf("%d blobs of checkpoints are left of a training that ended", n)
	}
	folder := t.TempDir()
	cmd := exec.Command(os.Args[0], "-test.run=^TestTrainKilled$", "-test.v")
	cmd.Env = append(os.Environ(), storeOfKilled+"="+folder)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	errtest.None(t, err)
	errtest.None(t, cmd.Start())
	var said []string
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if said = append(said, lines.Text()); lines.Text() == atStep30 {
			errtest.None(t, cmd.Process.Kill())
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
	whole, err := f.do("train", f.with(resumed))
	errtest.None(t, err)
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
	_, err = f.do("train", f.with(resumed))
	if !endsFull(err, "checkpoint of step 30") {
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
	whole, err := f.do("train", f.with(resumed))
	errtest.None(t, err)
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
	var step int64
	for info, err := range store.Own.Records.List(context.Background(), "checkpoints/") {
		if err != nil {
			t.Fatal(err)
		}
		errtest.None(t, errtest.Of(fmt.Sscanf(info.Name[strings.LastIndexByte(info.Name, '/')+1:], "%d", &step)))
	}
	if step <= 10 || step >= 20 {
		t.Errorf("the newest checkpoint is of step %d", step)
	}
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
	var kept, newest int64
	what, rest, _ := strings.Cut(told[0], ": training diverged; ")
	if _, err := fmt.Sscanf(rest, "the checkpoint of step %d is kept", &kept); err != nil || kept < 2 || !strings.Contains(what, fmt.Sprintf("step %d ", kept+1)) || told[0] != told[1] {
		t.Errorf("%v: %q, then %q", err, told[0], told[1])
	}
	for info, err := range f.Store.Own.Records.List(context.Background(), "checkpoints/") {
		if err != nil {
			t.Fatal(err)
		}
		errtest.None(t, errtest.Of(fmt.Sscanf(info.Name[strings.LastIndexByte(info.Name, '/')+1:], "%d", &newest)))
	}
	if newest != kept {
		t.Errorf("the newest checkpoint is of step %d, told was %d", newest, kept)
	}
}
