package stores_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/stores/storetest"
	"github.com/redsi/redsi/internal/system/testkit"
)

// maxBlob is the largest blob in a call that tests make of ReadBlob.
const maxBlob = 64 << 20

func blobRoundTrip(t *testing.T, s artifacts.Store) {
	for i, n := range []int{0, 1, 4095, 1 << 16, 1<<20 + 1, 9 << 20} {
		want := storetest.Bytes(uint64(i), n)
		d := put(t, s, want)
		got, err := artifacts.ReadBlob(t.Context(), s.Blobs, d, maxBlob)
		testkit.None(t, err, n)
		if !bytes.Equal(got, want) {
			t.Fatalf("%d bytes came back as %d others", n, len(got))
		}
	}
	// A reader that gives a byte at a time, and its EOF with the last one.
	want := storetest.Bytes(9, 3000)
	d, n, err := s.Blobs.Put(t.Context(), iotest.DataErrReader(iotest.OneByteReader(bytes.NewReader(want))))
	if err != nil || d != artifacts.Sum(want) || n != 3000 {
		t.Fatalf("Put byte by byte = %s, %d, %v", d, n, err)
	}
}

func blobPutAgain(t *testing.T, s artifacts.Store) {
	before := time.Now().Add(-time.Minute) // a server's clock may be in whole seconds
	b := storetest.Bytes(1, 1000)
	d := put(t, s, b)
	put(t, s, b)
	all := listBlobs(t, t.Context(), s)
	if len(all) != 1 || all[0].Digest != d || all[0].Size != 1000 {
		t.Fatalf("after two Puts of the same bytes: %v", all)
	}
	if all[0].ModTime.Before(before) {
		t.Errorf("ModTime %v is before the Put", all[0].ModTime)
	}
}

func blobNotThere(t *testing.T, s artifacts.Store) {
	d := artifacts.Sum([]byte("never stored"))
	rc, err := s.Blobs.Open(t.Context(), d)
	if !errors.Is(err, artifacts.ErrNotExist) || rc != nil {
		t.Fatalf("Open = %v, %v; want ErrNotExist", rc, err)
	}
	if !strings.Contains(err.Error(), d.String()) {
		t.Errorf("the error does not name the blob: %v", err)
	}
}

func blobPutFails(t *testing.T, s artifacts.Store) {
	broken := errors.New("the cable fell out")
	for _, n := range []int{0, 10, 9 << 20} {
		r := io.MultiReader(bytes.NewReader(storetest.Bytes(2, n)), iotest.ErrReader(broken))
		if _, _, err := s.Blobs.Put(t.Context(), r); !errors.Is(err, broken) {
			t.Errorf("Put that breaks after %d bytes: %v", n, err)
		}
	}
	testkit.Is(t, len(listBlobs(t, t.Context(), s)), 0, "a failed Put left")
}

func blobPutCancelled(t *testing.T, s artifacts.Store) {
	ctx, cancel := context.WithCancel(t.Context())
	b := storetest.Bytes(3, 9<<20)
	r := &hookReader{r: bytes.NewReader(b), after: 5 << 20, hook: cancel}
	if _, _, err := s.Blobs.Put(ctx, r); !errors.Is(err, context.Canceled) {
		t.Errorf("Put = %v, want context.Canceled", err)
	}
	testkit.Is(t, len(listBlobs(t, t.Context(), s)), 0, "a cancelled Put left")
	put(t, s, b) // and it can be done again
}

// hookReader calls hook once, after that many bytes.
type hookReader struct {
	r     io.Reader
	after int
	hook  func()
}

func (h *hookReader) Read(p []byte) (int, error) {
	n, err := h.r.Read(p)
	if h.after -= n; h.after <= 0 && h.hook != nil {
		h.hook()
		h.hook = nil
	}
	return n, err
}

func blobMissing(t *testing.T, s artifacts.Store) {
	have := put(t, s, []byte("here"))
	if got, err := s.Blobs.Missing(t.Context(), nil); err != nil || len(got) != 0 {
		t.Fatalf("Missing(none) = %v, %v", got, err)
	}
	var ask, want []artifacts.Digest
	for i := range 300 {
		d := artifacts.Sum([]byte{byte(i), byte(i >> 8)})
		ask = append(ask, d, have, d)
		want = append(want, d)
	}
	got, err := s.Blobs.Missing(t.Context(), ask)
	if err != nil || !slices.Equal(got, want) {
		t.Fatalf("Missing gave %d digests, %v; want %d in order, each once", len(got), err, len(want))
	}
}

func blobList(t *testing.T, s artifacts.Store) {
	if all := listBlobs(t, t.Context(), s); len(all) != 0 {
		t.Fatalf("an empty store lists %v", all)
	}
	want := map[artifacts.Digest]int64{}
	for i := range 40 {
		want[put(t, s, storetest.Bytes(uint64(i), i))] = int64(i)
	}
	all := listBlobs(t, t.Context(), s)
	for _, info := range all {
		if n, ok := want[info.Digest]; !ok || n != info.Size {
			t.Errorf("listed %s with %d bytes, want %d", info.Digest, info.Size, n)
		}
	}
	testkit.Is(t, len(all), len(want), "listed blobs")
	n := 0
	for range s.Blobs.List(t.Context()) { // a caller may stop early
		if n++; n == 3 {
			break
		}
	}
}

func blobDelete(t *testing.T, s artifacts.Store) {
	d := put(t, s, []byte("short-lived"))
	for range 2 { // the second time it is not there
		testkit.None(t, s.Blobs.Delete(t.Context(), d), "Delete")
		if _, err := s.Blobs.Open(t.Context(), d); !errors.Is(err, artifacts.ErrNotExist) {
			t.Fatalf("Open after Delete: %v", err)
		}
	}
	put(t, s, []byte("short-lived"))
}

func blobConcurrent(t *testing.T, s artifacts.Store) {
	var wg sync.WaitGroup
	for i := range 32 {
		wg.Go(func() {
			b := storetest.Bytes(uint64(i%4), 100_000) // four contents, eight writers each
			d, _, err := s.Blobs.Put(t.Context(), bytes.NewReader(b))
			if err != nil {
				t.Errorf("Put: %v", err)
				return
			}
			got, err := artifacts.ReadBlob(t.Context(), s.Blobs, d, maxBlob)
			if err != nil || !bytes.Equal(got, b) {
				t.Errorf("read %s while others write it: %d bytes, %v", d, len(got), err)
			}
		})
	}
	wg.Wait()
	testkit.Is(t, len(listBlobs(t, t.Context(), s)), 4, "blobs after 32 Puts of 4 contents")
}

func blobCloseEarly(t *testing.T, s artifacts.Store) {
	d := put(t, s, storetest.Bytes(5, 2<<20))
	for range 20 {
		rc, err := s.Blobs.Open(t.Context(), d)
		testkit.None(t, err)
		testkit.None(t, testkit.Err(io.ReadFull(rc, make([]byte, 10))))
		testkit.None(t, rc.Close(), "Close before EOF")
	}
}

// integrity checks that reads of s find blobs that were changed behind its back.
// rewrite replaces the stored bytes of d.
func integrity(t *testing.T, s artifacts.Store, rewrite func(d artifacts.Digest, data []byte)) {
	const n = 100_000
	for i, c := range []struct {
		name   string
		change func(b []byte) []byte
	}{
		{"a flipped bit", func(b []byte) []byte { b[n/2] ^= 1; return b }},
		{"a flipped last bit", func(b []byte) []byte { b[n-1] ^= 0x80; return b }},
		{"cut short", func(b []byte) []byte { return b[:n-1] }},
		{"cut to nothing", func(b []byte) []byte { return nil }},
		{"longer", func(b []byte) []byte { return append(b, 0) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := storetest.Bytes(uint64(100+i), n)
			d := put(t, s, b)
			rewrite(d, c.change(bytes.Clone(b)))
			got, err := artifacts.ReadBlob(t.Context(), s.Blobs, d, maxBlob)
			var bad *artifacts.IntegrityError
			if !errors.As(err, &bad) || bad.Want != d {
				t.Fatalf("read %d bytes, %v; want an IntegrityError", len(got), err)
			}
			testkit.None(t, s.Blobs.Delete(t.Context(), d))
			put(t, s, b)
			testkit.None(t, testkit.Err(artifacts.ReadBlob(t.Context(), s.Blobs, d, maxBlob)), "stored anew")
		})
	}
}
