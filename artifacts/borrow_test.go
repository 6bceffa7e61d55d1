package artifacts

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redsi/redsi/internal/system/testkit"
)

// shelf keeps the files of a small store that counts what is read, and may be down.
type shelf struct {
	Driver // for what nobody here asks
	down   atomic.Bool
	gets   atomic.Int64  // of records
	opens  atomic.Int64  // of blobs
	hold   chan struct{} // the reading of a blob waits for it, if it is there

	mu    sync.Mutex
	files map[string][]byte
}

var errDown = errors.New("down")

// shelfOf has some blobs, under digests that they need not have.
func shelfOf(blobs map[Digest][]byte) *shelf {
	s := &shelf{files: map[string][]byte{}}
	for d, b := range blobs {
		s.files[blobPath(d)] = b
	}
	return s
}

func (s *shelf) Where(string) string { return "shelf" }

func (s *shelf) Open(_ context.Context, path string) (io.ReadCloser, error) {
	if strings.HasPrefix(path, recordsFolder) {
		s.gets.Add(1)
	} else {
		s.opens.Add(1)
		if s.hold != nil {
			<-s.hold
		}
	}
	if s.down.Load() {
		return nil, errDown
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if b, ok := s.files[path]; ok {
		return io.NopCloser(bytes.NewReader(b)), nil
	}
	return nil, ErrNotExist
}

func (s *shelf) Has(_ context.Context, paths []string) ([]bool, error) {
	if s.down.Load() {
		return nil, errDown
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	there := make([]bool, len(paths))
	for i, p := range paths {
		_, there[i] = s.files[p]
	}
	return there, nil
}

func (s *shelf) List(context.Context, string) iter.Seq2[FileInfo, error] {
	return func(yield func(FileInfo, error) bool) { yield(FileInfo{}, ErrNoList) }
}

func (s *shelf) Ingest(_ context.Context, r io.Reader, path func(Digest) string) (Digest, int64, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return Digest{}, 0, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.files[path(Sum(data))] = data
	return Sum(data), int64(len(data)), nil
}

// resolverOver has a store of somebody else behind an empty one of our own.
func resolverOver(other Driver) (*Resolver, *shelf) {
	own := shelfOf(nil)
	return With(On(own, "own"), []Other{{Reader: On(other, "shelf").Reader(), Name: "shelf"}}, Policy{Foreign: UseUntrusted}), own
}

// TestRemembers: what others know of a key, and that one of them is down, holds for a minute.
func TestRemembers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := shelfOf(nil)
		w, _ := resolverOver(s)
		look := func() Entry {
			t.Helper()
			entries := make([]Entry, 1)
			testkit.None(t, w.fill(t.Context(), []Digest{{1}}, entries))
			return entries[0]
		}
		gets := func(want int64) {
			t.Helper()
			testkit.Is(t, s.gets.Swap(0), want)
		}
		look()
		look()
		gets(1)
		time.Sleep(memoFor)
		look()
		gets(1)
		time.Sleep(memoFor)
		s.down.Store(true)
		if e := look(); len(e.Passed) != 1 || e.Passed[0].Reason != NoAnswer || w.Others()[0].Err == nil {
			t.Errorf("%+v, %+v", e, w.Others())
		}
		look()
		gets(1)
		s.down.Store(false)
		time.Sleep(downFor)
		if e := look(); len(e.Passed) != 0 || w.Others()[0].Err != nil {
			t.Errorf("%+v, %+v", e, w.Others())
		}
		gets(1)
		for i := range byte(200) { // more than may be remembered: what is oldest may go, nothing breaks
			w.memo.put(Digest{2, i}, Entry{Result: &Result{Preimage: make([]byte, 1<<20)}})
		}
		if w.memo.bytes > memoMost {
			t.Errorf("%d bytes are remembered", w.memo.bytes)
		}
	})
}

// TestFetchOnce: of many who want a blob one fetches it; if that one is cancelled, the
// next one does.
func TestFetchOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		data := []byte("one")
		s := shelfOf(map[Digest][]byte{Sum(data): data})
		s.hold = make(chan struct{})
		w, own := resolverOver(s)
		errs := make(chan error, 8)
		for range cap(errs) {
			go func() { errs <- w.blobs.fetch(t.Context(), Sum(data), nil) }()
		}
		synctest.Wait()
		close(s.hold)
		for range cap(errs) {
			testkit.None(t, <-errs)
		}
		if s.opens.Load() != 1 || len(own.files) != 1 || len(w.blobs.coming) != 0 {
			t.Errorf("%d reads, %d blobs, %d coming", s.opens.Load(), len(own.files), len(w.blobs.coming))
		}
		clear(own.files)
		s.hold = make(chan struct{})
		ctx, cancel := context.WithCancel(t.Context())
		go func() { errs <- w.blobs.fetch(ctx, Sum(data), nil) }()
		synctest.Wait()
		go func() { errs <- w.blobs.fetch(t.Context(), Sum(data), nil) }()
		synctest.Wait()
		cancel()
		close(s.hold)
		<-errs
		<-errs
		testkit.Is(t, len(own.files), 1, "nobody fetched it")
	})
}

// TestNoMoreThanTold: of a blob no more is read than the result says it has.
func TestNoMoreThanTold(t *testing.T) {
	d := Sum([]byte("one"))
	w, own := resolverOver(shelfOf(map[Digest][]byte{d: bytes.Repeat([]byte("x"), 1<<20)}))
	w.blobs.expect(&Result{Outputs: map[string]Artifact{"out": {Digest: d, Size: 3}}})
	var read int64
	err := w.blobs.fetch(t.Context(), d, func(n int64) { read += n })
	var bad *IntegrityError
	if !errors.As(err, &bad) || !bad.Other || read > 64<<10 || len(own.files) != 0 {
		t.Errorf("%v after %d bytes, own has %d blobs", err, read, len(own.files))
	}
}

// TestNoMoreThanToldElsewhere: what a record says of the length of a blob does not take
// the place of what the result says; and a record that lies about an address does not
// make wrong what another one says of it.
func TestNoMoreThanToldElsewhere(t *testing.T) {
	d, right := Sum([]byte("one")), Sum([]byte("two"))
	w, own := resolverOver(shelfOf(nil))
	text := strings.Repeat("x", 1<<20)
	w.blobs.elsewhere = func(context.Context, Elsewhere) (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader(text)), nil
	}
	w.blobs.expect(&Result{Outputs: map[string]Artifact{"out": {Digest: d, Size: 3}}})
	var read int64
	from := func(d Digest, size int64) error {
		says, err := json.Marshal(Elsewhere{Format: ElsewhereFormat, Digest: d, Size: size, URL: "https://a.example/x"})
		testkit.None(t, err)
		pages := &shelf{files: map[string][]byte{recordsFolder + RecordPath(ElsewhereName(d)): says}}
		return w.blobs.follow(t.Context(), ownTier(ReadOn(pages, "pages")), d, func(n int64) { read += n })
	}
	var bad *IntegrityError
	if err := from(d, 1<<40); !errors.As(err, &bad) || !bad.Other || read > 64<<10 || len(own.files) != 0 {
		t.Errorf("%v after %d bytes, own has %d blobs", err, read, len(own.files))
	}
	testkit.ErrIs(t, from(d, 1<<40), ErrNotExist, "a record that is known to be wrong")
	text = "two"
	if err := from(right, 3); err != nil || string(own.files[blobPath(right)]) != "two" {
		t.Errorf("%v, %q", err, own.files[blobPath(right)])
	}
}

// everywhere has the same bytes under each record's name, and says that it has each blob, as a
// host of anybody may.
type everywhere struct {
	*shelf
	record []byte
}

func (e everywhere) Open(ctx context.Context, path string) (io.ReadCloser, error) {
	if !strings.HasPrefix(path, recordsFolder) {
		return nil, ErrNotExist
	}
	return io.NopCloser(bytes.NewReader(e.record)), nil
}

func (e everywhere) Has(_ context.Context, paths []string) ([]bool, error) {
	return slices.Repeat([]bool{true}, len(paths)), nil
}

// FuzzOthers: whatever a host answers, nobody's signature makes nothing a result, and what is
// said to be about a key is named like that.
func FuzzOthers(f *testing.F) {
	key := Sum([]byte("key"))
	for _, seed := range []string{"", "{}", `{"format":"redsi-signature/1","signer":"a:AAAA","signature":"x"}`,
		`{"format":"redsi-about/1","records":["signatures/` + key.Hex() + `/0","results/x","signatures/../x"]}`,
		`{"format":"redsi.result/2","key":"` + key.String() + `","body":"` + key.String() + `","seal":"x"}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, record []byte) {
		key := keyIn(record)
		if key.IsZero() {
			key = Sum([]byte("key"))
		}
		host := everywhere{shelfOf(nil), record}
		w, own := resolverOver(host)
		w.policy = Policy{}
		entries := make([]Entry, 1)
		if err := w.fill(t.Context(), []Digest{key}, entries); err != nil || entries[0].Hit() || len(own.files) > 0 {
			t.Errorf("%+v, %v", entries[0], err)
		}
		for _, name := range w.tiers[1].about(t.Context(), key) {
			if k, ok := isAbout(name); !ok || k != key || checkRecordName(name) != nil {
				t.Errorf("%q is about %s", name, key)
			}
		}
		if e, ok, err := elsewhere(t.Context(), On(host, "host").Records, key, false); err != nil || ok && e.validate(key) != nil {
			t.Errorf("%+v, %v", e, err)
		}
	})
}
