package corpus

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/system/testkit"
)

func write(t *testing.T, docs ...int32) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := NewWriter(&b)
	testkit.None(t, err)
	for _, d := range docs {
		testkit.None(t, w.Write(Document{Doc: d, Title: "t", Text: fmt.Sprintf("text <%d>\n", d)}))
	}
	testkit.None(t, w.Close())
	return b.Bytes()
}

func reader(t *testing.T, b []byte) *Reader {
	t.Helper()
	r, err := NewReader(bytes.NewReader(b))
	testkit.None(t, err)
	t.Cleanup(r.Close)
	return r
}

func TestMerge(t *testing.T) {
	var b bytes.Buffer
	w, err := NewWriter(&b)
	testkit.None(t, err)
	err = Merge(w, []*Reader{reader(t, write(t, 1, 4, 9)), reader(t, write(t)), reader(t, write(t, 0, 5))})
	testkit.None(t, errors.Join(err, w.Close()))
	if !bytes.Equal(b.Bytes(), write(t, 0, 1, 4, 5, 9)) {
		t.Error("the merged stream is not the stream of all documents in order")
	}
	testkit.ErrSays(t, Merge(w, []*Reader{reader(t, write(t, 3)), reader(t, write(t, 3))}), "document 3 after document")
}

// TestMergeMemory: streams one behind another are decompressed one after another.
func TestMergeMemory(t *testing.T) {
	var long bytes.Buffer // more than a block of the compression has, so that a reader needs its window of 8 MiB
	for i := range 40_000 {
		fmt.Fprint(&long, i)
	}
	live := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	const n = 12
	var streams []*Reader
	for i := range int32(n) {
		var b bytes.Buffer
		w, err := NewWriter(&b)
		testkit.None(t, err)
		for k := range int32(2) {
			testkit.None(t, w.Write(Document{Doc: 2*i + k, Text: long.String()}))
		}
		testkit.None(t, w.Close())
		streams = append(streams, reader(t, b.Bytes()))
	}
	before, most := live(), uint64(0)
	w, err := NewWriter(writing(func() { most = max(most, live()) }))
	testkit.None(t, err)
	testkit.None(t, errors.Join(Merge(w, streams), w.Close()))
	testkit.That(t, w.Len() == 2*n && most-before <= n/2*8<<20, w.Len(), "documents by", (most-before)>>20, "MB more")
}

// writing is called at each Write.
type writing func()

func (f writing) Write(p []byte) (int, error) {
	f()
	return len(p), nil
}

func TestDamage(t *testing.T) {
	whole := write(t, 0, 1, 2, 3)
	for name, b := range map[string][]byte{"truncated": whole[:len(whole)-5], "flipped": append(append([]byte{}, whole[:20]...), append([]byte{whole[20] ^ 1}, whole[21:]...)...)} {
		r := reader(t, b)
		var err error
		for err == nil {
			_, err = r.Next()
		}
		if errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%s: read to a clean end", name)
		}
	}
	w, _ := NewWriter(io.Discard)
	w.Write(Document{Doc: 2})
	testkit.ErrSays(t, w.Write(Document{Doc: 2}), "document 2 after document 2")
}

// TestLongDocument: what the writer takes the reader gives back, however long.
func TestLongDocument(t *testing.T) {
	var b bytes.Buffer
	w, err := NewWriter(&b)
	testkit.None(t, err)
	text := strings.Repeat("a page of text ", 5<<20) // 75 MiB
	testkit.None(t, errors.Join(w.Write(Document{Doc: 0, Text: text}), w.Write(Document{Doc: 1, Text: "b"}), w.Close()))
	r := reader(t, b.Bytes())
	for _, want := range []string{text, "b"} {
		if d, err := r.Next(); err != nil || d.Text != want {
			t.Fatalf("%d bytes of %d, %v", len(d.Text), len(want), err)
		}
	}
}
