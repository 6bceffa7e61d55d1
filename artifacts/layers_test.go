package artifacts

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// shelf is a small store of somebody else that counts what it is asked, and may be down.
type shelf struct {
	blobs   map[Digest][]byte
	records map[string][]byte
	down    atomic.Bool
	gets    atomic.Int64
	opens   atomic.Int64
	hold    chan struct{} // Open waits for it, if it is there
}

var errDown = errors.New("down")

func (s *shelf) Get(_ context.Context, name string) ([]byte, error) {
	s.gets.Add(1)
	if s.down.Load() {
		return nil, errDown
	}
	if b, ok := s.records[name]; ok {
		return b, nil
	}
	return nil, ErrNotExist
}

func (s *shelf) Open(_ context.Context, d Digest) (io.ReadCloser, error) {
	s.opens.Add(1)
	if s.hold != nil {
		<-s.hold
	}
	if s.down.Load() {
		return nil, errDown
	}
	if b, ok := s.blobs[d]; ok {
		return VerifyReader(io.NopCloser(bytes.NewReader(b)), d, "shelf"), nil
	}
	return nil, ErrNotExist
}

func (s *shelf) Missing(_ context.Context, ds []Digest) (gone []Digest, err error) {
	if s.down.Load() {
		return nil, errDown
	}
	for _, d := range ds {
		if _, ok := s.blobs[d]; !ok {
			gone = append(gone, d)
		}
	}
	return gone, nil
}

func (s *shelf) List(context.Context, string) iter.Seq2[RecordInfo, error] {
	return func(yield func(RecordInfo, error) bool) { yield(RecordInfo{}, ErrNoList) }
}

// box is a store of our own with blobs and without records.
type box struct {
	mu sync.Mutex
	m  map[Digest][]byte
}

func (b *box) Put(_ context.Context, r io.Reader) (Digest, int64, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return Digest{}, 0, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.m[Sum(data)] = data
	return Sum(data), int64(len(data)), nil
}

func (b *box) Open(_ context.Context, d Digest) (io.ReadCloser, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if data, ok := b.m[d]; ok {
		return io.NopCloser(bytes.NewReader(data)), nil
	}
	return nil, ErrNotExist
}

func (b *box) Missing(_ context.Context, ds []Digest) (gone []Digest, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, d := range ds {
		if _, ok := b.m[d]; !ok {
			gone = append(gone, d)
		}
	}
	return gone, nil
}

func (b *box) List(context.Context) iter.Seq2[BlobInfo, error] { return nil }

func (b *box) Delete(context.Context, Digest) error { return nil }

func layersOver(s *shelf, now func() time.Time) (*layers, *box) {
	own := &box{m: map[Digest][]byte{}}
	l := newLayers(Store{Blobs: own, Records: nil}, nil, Policy{Foreign: UseUntrusted})
	l.now = now
	l.tiers = append(l.tiers, &tier{name: "shelf", blobs: s, records: s, lister: s, now: now, bad: map[Digest]error{}})
	return l, own
}

// TestRemembers: what others know of a key, and that one of them is down, holds for a minute.
func TestRemembers(t *testing.T) {
	now := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	s := &shelf{}
	l, _ := layersOver(s, func() time.Time { return now })
	look := func() Entry {
		t.Helper()
		entries := make([]Entry, 1)
		if err := l.fill(t.Context(), []Digest{{1}}, entries); err != nil {
			t.Fatal(err)
		}
		return entries[0]
	}
	gets := func(want int64) {
		t.Helper()
		if n := s.gets.Swap(0); n != want {
			t.Errorf("%d records were asked for, want %d", n, want)
		}
	}
	look()
	look()
	gets(1)
	now = now.Add(memoFor)
	look()
	gets(1)
	now = now.Add(memoFor)
	s.down.Store(true)
	if e := look(); len(e.Passed) != 1 || e.Passed[0].Reason != NoAnswer || l.states()[0].Err == nil {
		t.Errorf("%+v, %+v", e, l.states())
	}
	look()
	gets(1)
	s.down.Store(false)
	now = now.Add(downFor)
	if e := look(); len(e.Passed) != 0 || l.states()[0].Err != nil {
		t.Errorf("%+v, %+v", e, l.states())
	}
	gets(1)
	for i := range byte(200) { // more than may be remembered: what is oldest may go, nothing breaks
		l.known.put(Digest{2, i}, Entry{Result: &Result{Preimage: make([]byte, 1<<20)}})
	}
	if l.known.bytes > memoMost {
		t.Errorf("%d bytes are remembered", l.known.bytes)
	}
}

// TestFetchOnce: of many who want a blob one fetches it; if that one is cancelled, the
// next one does.
func TestFetchOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		data := []byte("one")
		s := &shelf{blobs: map[Digest][]byte{Sum(data): data}, hold: make(chan struct{})}
		l, own := layersOver(s, time.Now)
		errs := make(chan error, 8)
		for range cap(errs) {
			go func() { errs <- l.fetch(t.Context(), Sum(data), nil) }()
		}
		synctest.Wait()
		close(s.hold)
		for range cap(errs) {
			if err := <-errs; err != nil {
				t.Error(err)
			}
		}
		if s.opens.Load() != 1 || len(own.m) != 1 || len(l.coming) != 0 {
			t.Errorf("%d reads, %d blobs, %d coming", s.opens.Load(), len(own.m), len(l.coming))
		}
		clear(own.m)
		s.hold = make(chan struct{})
		ctx, cancel := context.WithCancel(t.Context())
		go func() { errs <- l.fetch(ctx, Sum(data), nil) }()
		synctest.Wait()
		go func() { errs <- l.fetch(t.Context(), Sum(data), nil) }()
		synctest.Wait()
		cancel()
		close(s.hold)
		<-errs
		<-errs
		if len(own.m) != 1 {
			t.Error("nobody fetched it")
		}
	})
}

// TestNoMoreThanTold: of a blob no more is read than the result says it has.
func TestNoMoreThanTold(t *testing.T) {
	d := Sum([]byte("one"))
	s := &shelf{blobs: map[Digest][]byte{d: bytes.Repeat([]byte("x"), 1<<20)}}
	l, own := layersOver(s, time.Now)
	l.expect(&Result{Outputs: map[string]Artifact{"out": {Digest: d, Size: 3}}})
	var read int64
	err := l.fetch(t.Context(), d, func(n int64) { read += n })
	var bad *IntegrityError
	if !errors.As(err, &bad) || !bad.Other || read > 64<<10 || len(own.m) != 0 {
		t.Errorf("%v after %d bytes, own has %d blobs", err, read, len(own.m))
	}
}

// pages says of one blob that it lies elsewhere.
type pages struct {
	shelf
	says Elsewhere
}

func (p *pages) Get(_ context.Context, name string) ([]byte, error) {
	if name != ElsewhereName(p.says.Digest) {
		return nil, ErrNotExist
	}
	return json.Marshal(p.says)
}

// TestNoMoreThanToldElsewhere: what a record says of the length of a blob does not take
// the place of what the result says; and a record that lies about an address does not
// make wrong what another one says of it.
func TestNoMoreThanToldElsewhere(t *testing.T) {
	d, right := Sum([]byte("one")), Sum([]byte("two"))
	l, own := layersOver(&shelf{}, time.Now)
	text := strings.Repeat("x", 1<<20)
	l.policy.Elsewhere = func(context.Context, Elsewhere) (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader(text)), nil
	}
	l.expect(&Result{Outputs: map[string]Artifact{"out": {Digest: d, Size: 3}}})
	var read int64
	from := func(d Digest, size int64) error {
		return l.follow(t.Context(), &tier{own: true, records: &pages{says: Elsewhere{Format: ElsewhereFormat, Digest: d, Size: size, URL: "https://a.example/x"}}}, d, func(n int64) { read += n })
	}
	var bad *IntegrityError
	if err := from(d, 1<<40); !errors.As(err, &bad) || !bad.Other || read > 64<<10 || len(own.m) != 0 {
		t.Errorf("%v after %d bytes, own has %d blobs", err, read, len(own.m))
	}
	if err := from(d, 1<<40); !errors.Is(err, ErrNotExist) {
		t.Errorf("a record that is known to be wrong: %v", err)
	}
	text = "two"
	if err := from(right, 3); err != nil || string(own.m[right]) != "two" {
		t.Errorf("%v, %q", err, own.m[right])
	}
}

// everywhere answers each name with the same bytes, as a host of anybody may.
type everywhere struct {
	shelf
	record []byte
}

func (e *everywhere) Get(context.Context, string) ([]byte, error) { return e.record, nil }

func (e *everywhere) Missing(context.Context, []Digest) ([]Digest, error) { return nil, nil }

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
		host := &everywhere{record: record}
		l, own := layersOver(&host.shelf, time.Now)
		l.policy = Policy{}
		l.tiers[1].records, l.tiers[1].blobs = host, host
		entries := make([]Entry, 1)
		if err := l.fill(t.Context(), []Digest{key}, entries); err != nil || entries[0].Hit() || len(own.m) > 0 {
			t.Errorf("%+v, %v", entries[0], err)
		}
		for _, name := range l.tiers[1].about(t.Context(), key) {
			if k, ok := isAbout(name); !ok || k != key || checkRecordName(name) != nil {
				t.Errorf("%q is about %s", name, key)
			}
		}
		if e, ok, err := elsewhere(t.Context(), host, key); err != nil || ok && e.validate(key) != nil {
			t.Errorf("%+v, %v", e, err)
		}
	})
}
