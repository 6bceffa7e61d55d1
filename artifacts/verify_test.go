package artifacts_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/stores/dir"
	"github.com/redsi/redsi/internal/stores/mem"
	"github.com/redsi/redsi/internal/stores/storetest"
	"github.com/redsi/redsi/internal/system/testkit"
)

// brokenStore is a directory with one of every kind of harm, and the key that
// is sound.
func brokenStore(t *testing.T) (s artifacts.Store, root string, sound artifacts.Digest) {
	t.Helper()
	root = t.TempDir()
	s, err := dir.Open(root)
	testkit.None(t, err)
	keys := map[string]artifacts.Digest{}
	for _, name := range []string{"sound", "flipped", "short", "lost", "damaged", "newer"} {
		r := storetest.NewResult(t, s, name, map[string]string{"out": "output of " + name, "log": "log of " + name})
		publish(t, artifacts.Alone(s), r)
		keys[name] = r.Key
	}
	path := func(content string) string {
		p, ok := s.Blobs.(artifacts.Local).LocalPath(artifacts.Sum([]byte(content)))
		if !ok {
			t.Fatalf("no blob of %q", content)
		}
		return p
	}
	flipped, short := path("output of flipped"), path("output of short")
	testkit.None(t, errors.Join(os.Chmod(flipped, 0o644), os.WriteFile(flipped, []byte("output of flopped"), 0o644),
		os.Chmod(short, 0o644), os.WriteFile(short, []byte("outp"), 0o644), os.Remove(path("log of lost"))))
	putRecord(t, s, artifacts.ResultName(keys["damaged"]), "{}")
	newer := `{"format":"redsi.result/9"`
	putRecord(t, s, artifacts.ResultName(keys["newer"]), newer+`,"seal":"`+artifacts.Sum([]byte(newer)).String()+`"}`)
	for n, content := range []string{"output of sound", "output of flipped"} {
		putRecord(t, s, artifacts.CheckpointName(keys["sound"], int64(n+1)),
			fmt.Sprintf(`{"a":{"name":"a","digest":%q,"size":1}}`, artifacts.Sum([]byte(content))))
	}
	putRecord(t, s, artifacts.CheckpointName(keys["sound"], 3), `{"../a":{"name":"../a","digest":"`+artifacts.Sum([]byte("output of sound")).String()+`","size":1}}`)
	putRecord(t, s, "results/README", "{}")
	return s, root, keys["sound"]
}

func TestCheck(t *testing.T) {
	s, _, sound := brokenStore(t)
	problems := func(r artifacts.Report) (names []string, repaired int) {
		for _, p := range r.Problems {
			what, _, _ := strings.Cut(p.Record, "/")
			if p.Record == "" {
				what = "blob"
			}
			if names = append(names, what); p.Repaired {
				repaired++
			}
		}
		slices.Sort(names)
		return names, repaired
	}
	all := []string{"blob", "blob", "checkpoints", "checkpoints", "results", "results", "results", "results", "results", "results"}
	for range 2 { // looking changes nothing
		r, err := artifacts.Check(t.Context(), s, artifacts.CheckOptions{})
		if err != nil || r.Results != 6 || r.Blobs != 11 {
			t.Fatalf("Check = %+v, %v", r, err)
		}
		if names, repaired := problems(r); !slices.Equal(names, all) || repaired != 0 {
			t.Errorf("problems %v, %d repaired; want %v", names, repaired, all)
		}
	}
	var seen atomic.Int64
	r, err := artifacts.Check(t.Context(), s, artifacts.CheckOptions{Repair: true, Tell: func(what string, done, _ int64, unit string) {
		if unit == "bytes" {
			for old := seen.Load(); done > old && !seen.CompareAndSwap(old, done); old = seen.Load() {
			}
		}
	}})
	if err != nil || seen.Load() != r.Bytes {
		t.Fatalf("repair: %v, told of %d bytes of %d", err, seen.Load(), r.Bytes)
	}
	if names, repaired := problems(r); !slices.Equal(names, all) || repaired != len(all)-1 {
		t.Errorf("problems %v, %d repaired; want all but the newer format", names, repaired)
	}
	r, err = artifacts.Check(t.Context(), s, artifacts.CheckOptions{Repair: true})
	if names, _ := problems(r); err != nil || !slices.Equal(names, []string{"results"}) || r.Results != 2 {
		t.Errorf("after the repair: %+v, %v", r, err)
	}
	if hit, err := artifacts.Lookup(t.Context(), artifacts.Alone(s), sound); hit == nil || err != nil {
		t.Errorf("the sound result is gone: %v", err)
	}
	if got := records(t, s, "checkpoints/"); len(got) != 1 || !strings.HasSuffix(got[0], "/0000000000000001") {
		t.Errorf("checkpoints left: %v", got)
	}
}

// TestCheckGoesOn checks that a read that fails is reported, is not taken for
// corruption, and does not end the check.
func TestCheckGoesOn(t *testing.T) {
	base, _, _ := brokenStore(t)
	s, faults := storetest.Faulty(base)
	broken := errors.New("input/output error")
	for range 3 {
		faults.Add(storetest.BlobsOpen, storetest.Fault{Err: broken})
	}
	r, err := artifacts.Check(t.Context(), s, artifacts.CheckOptions{Repair: true})
	if err != nil || r.Blobs != 11 {
		t.Fatalf("Check = %+v, %v", r, err)
	}
	failed := 0
	for _, p := range r.Problems {
		if errors.Is(p.Err, broken) {
			if failed++; p.Repaired {
				t.Errorf("deleted what could not be read: %s", p)
			}
		}
	}
	testkit.Is(t, failed, 3, "failed reads reported 3")
	// A record that cannot be read hides no other's problem, and stays.
	base, _, sound := brokenStore(t)
	for _, name := range []string{artifacts.ResultName(sound), artifacts.CheckpointName(sound, 1)} {
		s := storetest.Hooked(base, storetest.Before(func(_ context.Context, c *storetest.Call) error {
			if c.Method == storetest.RecordsGet && c.Name == name {
				return broken
			}
			return nil
		}))
		r, err := artifacts.Check(t.Context(), s, artifacts.CheckOptions{})
		if err != nil || len(r.Problems) != 11 {
			t.Fatalf("Check with %s unreadable = %+v, %v", name, r, err)
		}
		for _, p := range r.Problems {
			if errors.Is(p.Err, broken) && (p.Repaired || p.Record != name) {
				t.Errorf("%s unreadable: %s", name, p)
			}
		}
	}
	faults.Add(storetest.BlobsList, storetest.Fault{Err: broken})
	if _, err := artifacts.Check(t.Context(), s, artifacts.CheckOptions{}); !errors.Is(err, broken) {
		t.Errorf("a store that cannot be listed: %v", err)
	}
}

func TestDropCorrupt(t *testing.T) {
	s, root, _ := brokenStore(t)
	for content, want := range map[string]bool{"output of sound": false, "output of flipped": true, "log of lost": false} {
		testkit.Of(t, want, content)(artifacts.DropCorrupt(t.Context(), s, artifacts.Sum([]byte(content))))
	}
	testkit.None(t, os.RemoveAll(filepath.Join(root, "blobs")))
	if _, err := artifacts.DropCorrupt(t.Context(), s, artifacts.Sum(nil)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a store whose folder is gone: %v", err)
	}
}

// TestDropCorruptOnTheWay keeps a blob whose bytes are other ones at a reading: they were changed on the way. One of five
// bytes must be wrong in the same way seven times.
func TestDropCorruptOnTheWay(t *testing.T) {
	s := mem.New()
	d := storetest.Put(t, s, []byte("whole"))
	for bits, want := range map[string]bool{"\x01\x02": false, "\x00\x04": false, "\x01\x00": false, "\x08\x08\x08\x08\x08\x08": false, "\x08\x08\x08\x08\x08\x08\x08": true} {
		testkit.None(t, testkit.Err(artifacts.PutBytes(t.Context(), s.Blobs, []byte("whole"))))
		dropped, err := artifacts.DropCorrupt(t.Context(), flipping(s, []byte(bits)), d)
		testkit.None(t, err, bits)
		testkit.Is(t, dropped, want, bits)
	}
}

// flipping changes the first byte of each blob that is read, at each reading by the next
// of bits.
func flipping(s artifacts.Store, bits []byte) artifacts.Store {
	return storetest.Hooked(s, func(_ context.Context, c *storetest.Call, next func() error) error {
		err := next()
		if err != nil || len(bits) == 0 || c.Method != storetest.BlobsOpen {
			return err
		}
		b, err := io.ReadAll(c.Body)
		if err != nil {
			return err
		}
		b[0] ^= bits[0]
		bits = bits[1:]
		c.Body = artifacts.VerifyReader(io.NopCloser(bytes.NewReader(b)), c.Digest, "test")
		return nil
	})
}

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
	testkit.That(t, err == nil && len(hits) == len(keys) && hits[keys[0]].Log != nil, len(hits), err)
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
	testkit.None(t, from.Blobs.Delete(ctx, lost.Outputs["out"].Digest))
	silent := storetest.NewResult(t, from, "c", map[string]string{"out": "c"})
	silent.Log = &artifacts.Log{Digest: artifacts.Sum([]byte("gone")), Size: 4}
	publish(t, artifacts.Alone(from), silent)
	x := &artifacts.Transfer{From: from.Reader(), To: to}
	testkit.None(t, x.Results(ctx, []artifacts.Digest{mine.Key, lost.Key, silent.Key, silent.Key}))
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
	testkit.None(t, err)
	c.now = c.now.Add(time.Second)
	testkit.None(t, x.Results(ctx, []artifacts.Digest{r.Key}))
	collect := func(want int) {
		t.Helper()
		c.now = c.now.Add(day)
		g, err := artifacts.Collect(ctx, to, artifacts.GCOptions{Grace: 1, Now: c.now})
		testkit.None(t, err, g)
		testkit.Is(t, len(g.Results), want, g)
	}
	collect(0)
	testkit.None(t, release())
	collect(1)
}
