package artifacts_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/stores/mem"
	"github.com/redsi/redsi/internal/stores/storetest"
	"github.com/redsi/redsi/internal/system/errtest"
)

var errFull = errors.New("full")

// TestTransferResumes: wherever a transfer ends, the other store has no record whose blobs
// it lacks, and the next one sends only what is missing.
func TestTransferResumes(t *testing.T) {
	ctx := t.Context()
	from, to := mem.New(), mem.New()
	var keys []artifacts.Digest
	for name := range strings.SplitSeq("abcdefgh", "") {
		r := storetest.NewResult(t, from, name, map[string]string{"out": "of " + name, "same": "shared", "big": strings.Repeat(name, 5000)})
		r.Log = &artifacts.Log{Digest: storetest.Put(t, from, []byte("said "+name)), Size: 6}
		publish(t, artifacts.Alone(from), r)
		keys = append(keys, r.Key)
	}
	putRecord(t, from, "runs/1", `{"plan":"`+storetest.Put(t, from, []byte("plan")).String()+`","key":"`+keys[0].String()+`"}`)
	var room atomic.Int64 // blobs that may still be put
	to = storetest.Hooked(to, storetest.Before(func(_ context.Context, c *storetest.Call) error {
		if c.Method == storetest.BlobsPut && room.Add(-1) < 0 {
			return errFull
		}
		return nil
	}))
	var sum artifacts.Transferred
	for try := range 100 {
		room.Store(5)
		x := &artifacts.Transfer{From: from.Reader(), To: to}
		err := x.Results(ctx, keys)
		if err == nil {
			err = x.Record(ctx, "runs/1")
		}
		d := x.Done()
		sum.Blobs, sum.Bytes, sum.Results, sum.Records = sum.Blobs+d.Blobs, sum.Bytes+d.Bytes, sum.Results+d.Results, sum.Records+d.Records
		r, cerr := artifacts.Check(ctx, to, artifacts.CheckOptions{})
		if cerr != nil || len(r.Problems) > 0 {
			t.Fatal(r.Problems, cerr)
		}
		if err == nil {
			break
		}
		if !errors.Is(err, errFull) || try == 99 {
			t.Fatal(err)
		}
	}
	if want := len(blobSet(t, from)); sum.Blobs != want || sum.Results != len(keys) || sum.Records != 1 || len(blobSet(t, to)) != want {
		t.Errorf("%+v, want %d blobs", sum, want)
	}
	hits, err := artifacts.LookupMany(ctx, artifacts.Alone(to), keys)
	if err != nil || len(hits) != len(keys) || hits[keys[0]].Log == nil {
		t.Error(len(hits), err)
	}
}

// TestTransferOfWhatDiffers: of two results the first stays, a lost one is told, and a
// lost log loses nothing.
func TestTransferOfWhatDiffers(t *testing.T) {
	ctx := t.Context()
	from, to := mem.New(), mem.New()
	mine := storetest.NewResult(t, from, "a", map[string]string{"out": "mine"})
	publish(t, artifacts.Alone(from), mine)
	theirs := storetest.NewResult(t, to, "a", map[string]string{"out": "theirs"})
	publish(t, artifacts.Alone(to), theirs)
	lost := storetest.NewResult(t, from, "b", map[string]string{"out": "lost"})
	publish(t, artifacts.Alone(from), lost)
	errtest.None(t, from.Blobs.Delete(ctx, lost.Outputs["out"].Digest))
	silent := storetest.NewResult(t, from, "c", map[string]string{"out": "c"})
	silent.Log = &artifacts.Log{Digest: artifacts.Sum([]byte("gone")), Size: 4}
	publish(t, artifacts.Alone(from), silent)
	x := &artifacts.Transfer{From: from.Reader(), To: to}
	errtest.None(t, x.Results(ctx, []artifacts.Digest{mine.Key, lost.Key, silent.Key, silent.Key}))
	d := x.Done()
	if d.There != 1 || d.Results != 1 || len(d.Differs) != 1 || d.Differs[0] != mine.Key || !strings.Contains(d.Lost[lost.Key], "lost") {
		t.Errorf("%+v", d)
	}
	if r, err := artifacts.Lookup(ctx, artifacts.Alone(to), mine.Key); err != nil || r.OutputsDigest() != theirs.OutputsDigest() {
		t.Error(r, err)
	}
}

// TestTransferHold: while a transfer is at work, garbage collection keeps what has
// arrived, whatever its grace.
func TestTransferHold(t *testing.T) {
	ctx := t.Context()
	c := newClock()
	from, to := mem.New(), mem.NewAt(c.Now)
	r := storetest.NewResult(t, from, "a", map[string]string{"out": "a"})
	publish(t, artifacts.Alone(from), r)
	x := &artifacts.Transfer{From: from.Reader(), To: to}
	release, err := x.Hold(ctx, "push-1")
	errtest.None(t, err)
	c.now = c.now.Add(time.Second)
	errtest.None(t, x.Results(ctx, []artifacts.Digest{r.Key}))
	collect := func(want int) {
		t.Helper()
		c.now = c.now.Add(day)
		g, err := artifacts.Collect(ctx, to, artifacts.GCOptions{Grace: 1, Now: c.now})
		if err != nil || len(g.Results) != want {
			t.Errorf("%+v, %v", g, err)
		}
	}
	collect(0)
	errtest.None(t, release())
	collect(1)
}
