package spool

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/redsi/redsi/internal/system/testkit"
)

// TestList: what was written is read anywhere, of a list with a file and of one without.
func TestList(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, size := range []int{0, 1, most, most + 1, 5 * most} {
		dir := t.TempDir()
		l := New(func() (string, error) { return dir, nil })
		all := make([]byte, size)
		for i := range all {
			all[i] = byte(rng.Uint32())
		}
		for at := 0; at < size; {
			n := min(size-at, 1+rng.IntN([]int{100, 2 * most}[rng.IntN(2)]))
			l.Write(all[at:][:n])
			at += n
		}
		testkit.None(t, l.End())
		if files, _ := os.ReadDir(dir); l.Size() != int64(size) || size > 2*most && len(files) != 1 || size <= 1 && len(files) > 0 {
			t.Errorf("%d bytes: %d in %d files", size, l.Size(), len(files))
		}
		for range 300 {
			from := rng.IntN(size + 1)
			n := rng.IntN(min(size-from, 1000) + 1)
			if got := l.Read(int64(from), n, rng.IntN(5000)); !bytes.Equal(got, all[from:][:n]) {
				t.Fatalf("%d bytes: %d from %d differ", size, n, from)
			}
		}
		testkit.None(t, l.Err())
		if got := l.Read(int64(size), 3, 100); !bytes.Equal(got, make([]byte, 3)) || l.Err() == nil {
			t.Errorf("behind the end: %v, %v", got, l.Err())
		}
	}
}

// TestErrorStays: a list whose file cannot be made takes what is written, says so at its end, and gives zeros for what it could not keep.
func TestErrorStays(t *testing.T) {
	full := errors.New("full")
	l := New(func() (string, error) { return "", full })
	for range 100 {
		l.Write(bytes.Repeat([]byte{1}, 1000))
	}
	testkit.ErrIs(t, l.End(), full)
	if got := l.Read(1000, 2, 10); !bytes.Equal(got, []byte{0, 0}) || !errors.Is(l.Err(), full) {
		t.Errorf("%v, %v", got, l.Err())
	}
}
