package nq

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"testing"

	"github.com/redsi/redsi/internal/corpora/unpack/goldens"
	"github.com/redsi/redsi/internal/system/testkit"
)

// realRecords are all records of the real files: full, simplified and one merged.
func realRecords(t *testing.T) []*Record {
	t.Helper()
	var all []*Record
	for _, f := range []struct {
		name  string
		split Split
	}{
		{"nq-full-walking-dead", Train}, {"nq-simplified-walking-dead", Train},
		{"real-pages-train-full", Train}, {"real-pages-train-simplified", Train},
		{"real-pages-dev-full", Dev},
	} {
		rs, _ := readAll(t, f.name+".jsonl.gz", Options{Split: f.split})
		all = append(all, rs...)
	}
	merged := all[0].Clone()
	merged.Text = all[1].Text
	return append(all, merged)
}

// sameRecord compares all fields; nil and empty are the same.
func sameRecord(a, b *Record) bool {
	return a.ExampleID == b.ExampleID && a.Split == b.Split && a.Question == b.Question && a.URL == b.URL &&
		a.Title == b.Title && a.Text == b.Text && bytes.Equal(a.HTML, b.HTML) && slices.Equal(a.Tokens, b.Tokens)
}

func compact(t *testing.T, records []*Record) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := NewRecordWriter(&out)
	testkit.None(t, err)
	for _, r := range records {
		testkit.None(t, w.Write(r))
	}
	testkit.None(t, w.Close())
	return out.Bytes()
}

// TestStreamsMemory: what compresses is not each stream's own.
func TestStreamsMemory(t *testing.T) {
	live := func() int {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int(m.HeapAlloc)
	}
	at := runtime.GOMAXPROCS(0) + 1 // blocks of a stream
	block := &Record{HTML: bytes.Repeat([]byte("a page"), blockTarget/6+1)}
	var open []*RecordWriter
	write := func() {
		w, err := NewRecordWriter(io.Discard)
		testkit.None(t, err)
		for range 2 * at {
			testkit.None(t, w.Write(block))
		}
		open = append(open, w)
	}
	write()
	before := live()
	for range 3 {
		write()
	}
	if each, blocks := (live()-before)/3, at*(blockTarget*3/2); each > blocks {
		t.Errorf("a stream holds %d bytes, more than those of its blocks, %d", each, blocks)
	}
	for _, w := range open {
		testkit.None(t, w.Close())
	}
}

func TestRecordStreamRoundTrip(t *testing.T) {
	records := append(realRecords(t), &Record{ExampleID: -1 << 63}, &Record{Split: "other", Text: "a  b"})
	packed := compact(t, records)
	compact(t, records[:3]) // buffers and encoders are reused
	if !bytes.Equal(packed, compact(t, records)) {
		t.Error("two writers gave different bytes")
	}
	rd := NewRecordReader(bytes.NewReader(packed))
	defer rd.Close()
	var got Record
	for i, want := range records {
		testkit.None(t, rd.Next(&got), i)
		if !sameRecord(want, &got) {
			t.Fatalf("record %d differs from the one written", i)
		}
	}
	for range 2 {
		if err := rd.Next(&got); err != io.EOF {
			t.Fatal(err)
		}
	}
}

// TestStreamGolden guards the format: other bytes for the same records need a new
// version in the magic and in the kinds that write it.
func TestStreamGolden(t *testing.T) {
	records := realRecords(t)
	var headers bytes.Buffer
	hw, err := NewHeaderWriter(&headers)
	testkit.None(t, err)
	for _, r := range records {
		h := HeaderOf(r)
		h.Text4K = [16]byte{1, 2, byte(len(h.Question))}
		h.Text4KCased = [16]byte{3}
		testkit.None(t, hw.Write(&h))
	}
	testkit.None(t, hw.Close())
	hr := NewHeaderReader(bytes.NewReader(headers.Bytes()))
	defer hr.Close()
	for i, r := range records {
		want := HeaderOf(r)
		want.Text4K = [16]byte{1, 2, byte(len(want.Question))}
		want.Text4KCased = [16]byte{3}
		var got Header
		testkit.None(t, hr.Next(&got))
		testkit.Is(t, got, want, "header", i)
	}
	var last Header
	testkit.Is(t, hr.Next(&last), io.EOF)
	sum := func(b []byte) string { s := sha256.Sum256(b); return hex.EncodeToString(s[:]) }
	goldens.Same(t, "testdata/streams.golden", "records@1 "+sum(compact(t, records))+"\nheaders@1 "+sum(headers.Bytes())+"\n")
}

func TestRecordAt(t *testing.T) {
	records := realRecords(t)
	packed := compact(t, records)
	n := len(records)
	for _, i := range []int{0, 1, 7, 40, n - 1} {
		r, err := RecordAt(bytes.NewReader(packed), int64(len(packed)), int64(i))
		testkit.That(t, err == nil && sameRecord(records[i], r), "record", i, "is not the one written", err)
	}
	for _, i := range []int{-1, n} {
		testkit.ErrSays(t, testkit.Err(RecordAt(bytes.NewReader(packed), int64(len(packed)), int64(i))), fmt.Sprintf("there is no record %d", i))
	}
}

func TestDamagedStreams(t *testing.T) {
	records := realRecords(t)[:12]
	packed := compact(t, records)
	readAll := func(b []byte) (n int, err error) {
		rd := NewRecordReader(bytes.NewReader(b))
		defer rd.Close()
		var r Record
		for {
			if err := rd.Next(&r); err == io.EOF {
				return n, nil
			} else if err != nil {
				return n, err
			}
			n++
		}
	}
	starts, err := readSeekTable(bytes.NewReader(packed), int64(len(packed)))
	testkit.None(t, err)
	starts = starts[1 : len(starts)-1] // of the blocks, and of the end
	cuts := append([]int64{0, 1, 3, 20, int64(len(packed)) - 1, int64(len(packed)) / 2}, starts...)
	for _, cut := range cuts {
		if n, err := readAll(packed[:cut]); err == nil {
			t.Errorf("cut at %d of %d: %d records and no error", cut, len(packed), n)
		} else if cut >= starts[0] && !errors.Is(err, ErrTruncated) {
			t.Errorf("cut at %d: %v", cut, err)
		}
		testkit.Some(t, testkit.Err(RecordAt(bytes.NewReader(packed[:cut]), cut, 0)), cut)
	}
	for at := 0; at < len(packed); at += 9973 {
		bad := bytes.Clone(packed)
		bad[at] ^= 0x10
		n, err := readAll(bad)
		if err == nil && at < int(starts[len(starts)-1]) {
			t.Errorf("byte %d flipped: %d records and no error", at, n)
		}
	}
	testkit.ErrSays(t, testkit.Err(readAll([]byte("{}\n"))), "records@1")
}

type failingWriter struct{ left int }

func (w *failingWriter) Write(p []byte) (int, error) {
	if w.left -= len(p); w.left < 0 {
		return 0, errors.New("disk full")
	}
	return len(p), nil
}

func TestWriterErrors(t *testing.T) {
	records := realRecords(t)
	w, err := NewRecordWriter(&failingWriter{left: 300_000})
	testkit.None(t, err)
	bad := records[0].Clone()
	bad.Tokens[3].Start = 1
	testkit.ErrSays(t, w.Write(bad), "example_id 4549465242785278785")
	for _, r := range records {
		if err = w.Write(r); err != nil {
			break
		}
	}
	testkit.ErrSays(t, w.Close(), "disk full")
}
