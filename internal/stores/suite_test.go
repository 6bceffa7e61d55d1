package stores_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/stores/storetest"
	"github.com/redsi/redsi/internal/system/errtest"
	"github.com/redsi/redsi/internal/system/signature"
)

// check is one property of a store, tried on an empty one.
type check struct {
	name string
	test func(t *testing.T, s artifacts.Store)
}

var checks = []check{
	{"blob round trip", blobRoundTrip},
	{"blob put again", blobPutAgain},
	{"blob not there", blobNotThere},
	{"blob put that fails", blobPutFails},
	{"blob put cancelled", blobPutCancelled},
	{"blob missing in batches", blobMissing},
	{"blob list", blobList},
	{"blob delete", blobDelete},
	{"blob puts at once", blobConcurrent},
	{"blob close early", blobCloseEarly},
	{"record round trip", recordRoundTrip},
	{"record names", recordNames},
	{"record bad names", recordBadNames},
	{"record too large", recordTooLarge},
	{"record list", recordList},
	{"record put is atomic", recordPutAtomic},
	{"record create", recordCreate},
	{"record create race", func(t *testing.T, s artifacts.Store) {
		recordRace(t, s, func(name string, data []byte) error { return s.Records.Create(t.Context(), name, data) }, "")
	}},
	{"record replace", recordReplace},
	{"record delete", recordDelete},
	{"cancelled", cancelled},
	{"publish and look up", publishAndLookup},
	{"publish race", publishRace},
	{"release", release},
	{"publish race over what cannot be used", publishOverRace},
}

// suite checks that the stores which open returns, each empty, keep the contract
// of artifacts.Blobs and artifacts.Records.
func suite(t *testing.T, open func(t *testing.T) artifacts.Store) {
	run(t, open, checks)
	ofRecords := slices.DeleteFunc(slices.Clone(checks), func(c check) bool { return !strings.HasPrefix(c.name, "record ") })
	t.Run("leases", func(t *testing.T) { // are records in a place of their own
		run(t, func(t *testing.T) artifacts.Store {
			s := open(t)
			s.Records = s.Leases
			return s
		}, ofRecords)
	})
}

func run(t *testing.T, open func(t *testing.T) artifacts.Store, checks []check) {
	for _, c := range checks {
		t.Run(c.name, func(t *testing.T) { c.test(t, open(t)) })
	}
}

func put(t *testing.T, s artifacts.Store, b []byte) artifacts.Digest {
	t.Helper()
	d, n, err := s.Blobs.Put(t.Context(), bytes.NewReader(b))
	if err != nil {
		t.Fatalf("Put of %d bytes: %v", len(b), err)
	}
	if want := artifacts.Sum(b); d != want || n != int64(len(b)) {
		t.Fatalf("Put = %s, %d; want %s, %d", d, n, want, len(b))
	}
	return d
}

func listBlobs(t *testing.T, ctx context.Context, s artifacts.Store) []artifacts.BlobInfo {
	t.Helper()
	var all []artifacts.BlobInfo
	for info, err := range s.Blobs.List(ctx) {
		if err != nil {
			t.Fatalf("List: %v", err)
		}
		all = append(all, info)
	}
	slices.SortFunc(all, func(a, b artifacts.BlobInfo) int { return a.Digest.Compare(b.Digest) })
	return all
}

func listRecords(t *testing.T, s artifacts.Store, prefix string) []string {
	t.Helper()
	var names []string
	for info, err := range s.Records.List(t.Context(), prefix) {
		if err != nil {
			t.Fatalf("List(%q): %v", prefix, err)
		}
		names = append(names, info.Name)
	}
	return names
}

// maxBlob is the largest blob in a call that tests make of ReadBlob.
const maxBlob = 64 << 20

func blobRoundTrip(t *testing.T, s artifacts.Store) {
	for i, n := range []int{0, 1, 4095, 1 << 16, 1<<20 + 1, 9 << 20} {
		want := storetest.Bytes(uint64(i), n)
		d := put(t, s, want)
		got, err := artifacts.ReadBlob(t.Context(), s.Blobs, d, maxBlob)
		if err != nil {
			t.Fatalf("read %d bytes: %v", n, err)
		}
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
	if all := listBlobs(t, t.Context(), s); len(all) != 0 {
		t.Errorf("a failed Put left %v", all)
	}
}

func blobPutCancelled(t *testing.T, s artifacts.Store) {
	ctx, cancel := context.WithCancel(t.Context())
	b := storetest.Bytes(3, 9<<20)
	r := &hookReader{r: bytes.NewReader(b), after: 5 << 20, hook: cancel}
	if _, _, err := s.Blobs.Put(ctx, r); !errors.Is(err, context.Canceled) {
		t.Errorf("Put = %v, want context.Canceled", err)
	}
	if all := listBlobs(t, t.Context(), s); len(all) != 0 {
		t.Errorf("a cancelled Put left %v", all)
	}
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
	if len(all) != len(want) {
		t.Errorf("listed %d blobs, want %d", len(all), len(want))
	}
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
		if err := s.Blobs.Delete(t.Context(), d); err != nil {
			t.Fatalf("Delete: %v", err)
		}
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
	if all := listBlobs(t, t.Context(), s); len(all) != 4 {
		t.Errorf("%d blobs after 32 Puts of 4 contents", len(all))
	}
}

func blobCloseEarly(t *testing.T, s artifacts.Store) {
	d := put(t, s, storetest.Bytes(5, 2<<20))
	for range 20 {
		rc, err := s.Blobs.Open(t.Context(), d)
		errtest.None(t, err)
		errtest.None(t, errtest.Of(io.ReadFull(rc, make([]byte, 10))))
		if err := rc.Close(); err != nil {
			t.Fatalf("Close before EOF: %v", err)
		}
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
			errtest.None(t, s.Blobs.Delete(t.Context(), d))
			put(t, s, b)
			if _, err := artifacts.ReadBlob(t.Context(), s.Blobs, d, maxBlob); err != nil {
				t.Errorf("stored anew: %v", err)
			}
		})
	}
}

func recordRoundTrip(t *testing.T, s artifacts.Store) {
	ctx := t.Context()
	if _, err := s.Records.Get(ctx, "runs/1"); !errors.Is(err, artifacts.ErrNotExist) {
		t.Fatalf("Get of nothing: %v", err)
	}
	for _, want := range []string{`{"a":1}`, `{}`, strings.Repeat("x", artifacts.MaxRecord)} {
		data := []byte(want)
		if err := s.Records.Put(ctx, "runs/1", data); err != nil {
			t.Fatalf("Put: %v", err)
		}
		data[0] = '!' // the store has its own copy
		got, err := s.Records.Get(ctx, "runs/1")
		if err != nil || string(got) != want {
			t.Fatalf("Get = %.40q, %v; want %.40q", got, err, want)
		}
		got[0] = '?'
	}
}

func recordCreate(t *testing.T, s artifacts.Store) {
	ctx := t.Context()
	if err := s.Records.Create(ctx, "results/k", []byte("first")); err != nil {
		t.Fatalf("Create: %v", err)
	}
	if err := s.Records.Create(ctx, "results/k", []byte("second")); !errors.Is(err, artifacts.ErrExist) {
		t.Fatalf("Create again: %v; want ErrExist", err)
	}
	if got, err := s.Records.Get(ctx, "results/k"); err != nil || string(got) != "first" {
		t.Fatalf("Get = %q, %v", got, err)
	}
	errtest.None(t, s.Records.Delete(ctx, "results/k"))
	if err := s.Records.Create(ctx, "results/k", []byte("third")); err != nil {
		t.Fatalf("Create after Delete: %v", err)
	}
	errtest.None(t, s.Records.Put(ctx, "results/p", []byte("put")))
	if err := s.Records.Create(ctx, "results/p", []byte("x")); !errors.Is(err, artifacts.ErrExist) {
		t.Fatalf("Create after Put: %v; want ErrExist", err)
	}
}

func recordReplace(t *testing.T, s artifacts.Store) {
	ctx := t.Context()
	replace := func(old, data string, want error) {
		t.Helper()
		if err := s.Records.Replace(ctx, "results/k", []byte(old), []byte(data)); !errors.Is(err, want) {
			t.Errorf("Replace %.20q by %.20q: %v, want %v", old, data, err, want)
		}
	}
	replace("first", "second", artifacts.ErrNotExist)
	errtest.None(t, s.Records.Create(ctx, "results/k", []byte("first")))
	replace("other", "second", artifacts.ErrExist)
	replace("first", "second", nil)
	replace("first", "third", artifacts.ErrExist)
	replace("second", "second", nil)
	if got, err := s.Records.Get(ctx, "results/k"); err != nil || string(got) != "second" {
		t.Errorf("Get = %q, %v", got, err)
	}
	if err := s.Records.Replace(ctx, "results/k", []byte("second"), make([]byte, artifacts.MaxRecord+1)); err == nil {
		t.Error("Replace took a record that is too large")
	}
	recordRace(t, s, func(name string, data []byte) error {
		return s.Records.Replace(ctx, name, []byte("old"), data)
	}, "old")
}

// recordRace has many write under one name, one of which may succeed, five times. old, if it
// is not empty, is there before.
func recordRace(t *testing.T, s artifacts.Store, write func(name string, data []byte) error, old string) {
	for round := range 5 {
		name := fmt.Sprintf("results/race-%d", round)
		if old != "" {
			errtest.None(t, s.Records.Put(t.Context(), name, []byte(old)))
		}
		var winners atomic.Int32
		var won atomic.Value
		start := make(chan struct{})
		var wg sync.WaitGroup
		for i := range 16 {
			wg.Go(func() {
				data := fmt.Appendf(nil, "writer %d of %s", i, strings.Repeat("x", 1000*i))
				<-start
				switch err := write(name, data); {
				case err == nil:
					winners.Add(1)
					won.Store(data)
				case !errors.Is(err, artifacts.ErrExist):
					t.Errorf("one of many writers: %v", err)
				}
			})
		}
		close(start)
		wg.Wait()
		got, err := s.Records.Get(t.Context(), name)
		if winners.Load() != 1 || err != nil || !bytes.Equal(got, won.Load().([]byte)) {
			t.Fatalf("round %d: %d winners, and %.20q is stored, %v", round, winners.Load(), got, err)
		}
	}
}

var oddNames = []string{
	"a", "a/b", "a.json", "a.json/b", "A", "A/b", "a!b", "!a", "%41", "a b", "a:b", ".hidden", "a/.b", "x..", "…",
	`runs/step.train.dsi["tiny/atomic/42"]`, "pins/Paper, as submitted", "pins/日本", "CON", "a/b/c/d/e/f",
	"seg/" + strings.Repeat("Z", 110), strings.Repeat("long/", 100) + "name",
}

func recordNames(t *testing.T, s artifacts.Store) {
	for _, name := range oddNames {
		if err := s.Records.Create(t.Context(), name, []byte(name)); err != nil {
			t.Errorf("Create(%q): %v", name, err)
		}
	}
	for _, name := range oddNames {
		if got, err := s.Records.Get(t.Context(), name); err != nil || string(got) != name {
			t.Errorf("Get(%q) = %q, %v", name, got, err)
		}
	}
	want := slices.Sorted(slices.Values(oddNames))
	if got := listRecords(t, s, ""); !slices.Equal(got, want) {
		t.Errorf("listed\n%q\nwant\n%q", got, want)
	}
	for _, prefix := range []string{"a", "a/", "a.json/", "A", "pins/P", "runs/step", "long/long/", ".", "…", "none", "none/x", "/", "../", "a//"} {
		var want []string
		for _, n := range slices.Sorted(slices.Values(oddNames)) {
			if strings.HasPrefix(n, prefix) {
				want = append(want, n)
			}
		}
		if got := listRecords(t, s, prefix); !slices.Equal(got, want) {
			t.Errorf("List(%q) = %q, want %q", prefix, got, want)
		}
	}
}

func recordBadNames(t *testing.T, s artifacts.Store) {
	ctx := t.Context()
	for _, name := range []string{
		"", "/", "/a", "a/", "a//b", ".", "..", "../a", "a/../b", "a/.", "a\nb", "a\x00b", "\xff",
		strings.Repeat("s", 241), strings.Repeat("Z", 120), strings.Repeat("s/", 400) + "s",
	} {
		_, gerr := s.Records.Get(ctx, name)
		for what, err := range map[string]error{
			"Get": gerr, "Create": s.Records.Create(ctx, name, nil),
			"Put": s.Records.Put(ctx, name, nil), "Delete": s.Records.Delete(ctx, name),
		} {
			if err == nil || errors.Is(err, artifacts.ErrNotExist) || errors.Is(err, artifacts.ErrExist) {
				t.Errorf("%s(%.20q) = %v; want a complaint about the name", what, name, err)
			}
		}
	}
	if got := listRecords(t, s, ""); len(got) != 0 {
		t.Errorf("records after bad names: %q", got)
	}
}

func recordTooLarge(t *testing.T, s artifacts.Store) {
	data := make([]byte, artifacts.MaxRecord+1)
	if err := s.Records.Create(t.Context(), "runs/big", data); err == nil {
		t.Error("Create took a record that is too large")
	}
	if err := s.Records.Put(t.Context(), "runs/big", data); err == nil {
		t.Error("Put took a record that is too large")
	}
}

// recordList has more records than a page of an S3 listing.
func recordList(t *testing.T, s artifacts.Store) {
	const n = 1200
	var want []string
	var wg sync.WaitGroup
	work := make(chan string)
	for range 16 {
		wg.Go(func() {
			for name := range work {
				if err := s.Records.Create(t.Context(), name, []byte("{}")); err != nil {
					t.Errorf("Create(%s): %v", name, err)
				}
			}
		})
	}
	for i := range n {
		name := "results/" + artifacts.Sum(fmt.Append(nil, i)).Hex()
		want = append(want, name)
		work <- name
	}
	close(work)
	wg.Wait()
	slices.Sort(want)
	if got := listRecords(t, s, "results/"); !slices.Equal(got, want) {
		t.Errorf("listed %d records, want %d", len(got), n)
	}
	if got := listRecords(t, s, want[0][:12]); len(got) == 0 || got[0] != want[0] {
		t.Errorf("List of a partial hex key = %q", got)
	}
	for info, err := range s.Records.List(t.Context(), "results/") { // a caller may stop early
		if err != nil || info.Size != 2 || info.ModTime.IsZero() {
			t.Errorf("first of the list: %+v, %v", info, err)
		}
		break
	}
}

func recordDelete(t *testing.T, s artifacts.Store) {
	for _, name := range []string{"a", "a/b"} {
		errtest.None(t, s.Records.Create(t.Context(), name, []byte("1")))
	}
	for range 2 { // the second time it is not there
		if err := s.Records.Delete(t.Context(), "a"); err != nil {
			t.Fatalf("Delete: %v", err)
		}
	}
	if got := listRecords(t, s, ""); !slices.Equal(got, []string{"a/b"}) {
		t.Errorf("left after Delete(a): %q", got)
	}
}

func recordPutAtomic(t *testing.T, s artifacts.Store) {
	docs := [][]byte{bytes.Repeat([]byte("a"), 70_000), bytes.Repeat([]byte("b"), 90_000)}
	errtest.None(t, s.Records.Put(t.Context(), "runs/x", docs[0]))
	var writers sync.WaitGroup
	for _, doc := range docs {
		writers.Go(func() {
			for range 10 {
				if err := s.Records.Put(t.Context(), "runs/x", doc); err != nil {
					t.Errorf("Put: %v", err)
				}
			}
		})
	}
	done := make(chan struct{})
	go func() { writers.Wait(); close(done) }()
	for running := true; running; {
		select {
		case <-done:
			running = false
		default:
		}
		got, err := s.Records.Get(t.Context(), "runs/x")
		if err != nil || !bytes.Equal(got, docs[0]) && !bytes.Equal(got, docs[1]) {
			t.Errorf("Get during Puts: %d bytes, %v", len(got), err)
			running = false // and the writers end
		}
	}
	<-done
}

// cancelled checks that no method reports success, or a miss, to a caller whose
// ctx is over.
func cancelled(t *testing.T, s artifacts.Store) {
	d := put(t, s, []byte("x"))
	errtest.None(t, s.Records.Put(t.Context(), "runs/x", []byte("{}")))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	errs := map[string]error{
		"Blobs.Delete":    s.Blobs.Delete(ctx, d),
		"Records.Put":     s.Records.Put(ctx, "runs/x", []byte("!")),
		"Records.Create":  s.Records.Create(ctx, "runs/y", []byte("!")),
		"Records.Replace": s.Records.Replace(ctx, "runs/x", []byte("{}"), []byte("!")),
		"Records.Delete":  s.Records.Delete(ctx, "runs/x"),
	}
	_, _, errs["Blobs.Put"] = s.Blobs.Put(ctx, strings.NewReader("y"))
	_, errs["Blobs.Open"] = s.Blobs.Open(ctx, d)
	_, errs["Blobs.Missing"] = s.Blobs.Missing(ctx, []artifacts.Digest{d})
	_, errs["Records.Get"] = s.Records.Get(ctx, "runs/x")
	for _, err := range s.Blobs.List(ctx) {
		errs["Blobs.List"] = err
	}
	for _, err := range s.Records.List(ctx, "") {
		errs["Records.List"] = err
	}
	if len(errs) != 11 {
		t.Errorf("%d methods answered", len(errs))
	}
	for method, err := range errs {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s with a cancelled context: %v", method, err)
		}
	}
	if got, err := s.Records.Get(t.Context(), "runs/x"); err != nil || string(got) != "{}" {
		t.Errorf("afterwards runs/x = %q, %v", got, err)
	}
	if len(listBlobs(t, t.Context(), s)) != 1 {
		t.Error("a cancelled call changed the blobs")
	}
}

func publishAndLookup(t *testing.T, s artifacts.Store) {
	ctx := t.Context()
	r := storetest.NewResult(t, s, "k", map[string]string{"train": "one", "dev": "two"})
	if got, err := artifacts.Lookup(ctx, artifacts.Alone(s), r.Key); got != nil || err != nil {
		t.Fatalf("Lookup before: %v, %v", got, err)
	}
	if _, nondet, err := artifacts.Publish(ctx, artifacts.Alone(s), r); err != nil || nondet {
		t.Fatalf("Publish: %v, %v", nondet, err)
	}
	got, err := artifacts.Lookup(ctx, artifacts.Alone(s), r.Key)
	if err != nil || got == nil || got.OutputsDigest() != r.OutputsDigest() || got.Took != r.Took {
		t.Fatalf("Lookup = %+v, %v", got, err)
	}
	errtest.None(t, s.Blobs.Delete(ctx, r.Outputs["dev"].Digest))
	if got, err := artifacts.Lookup(ctx, artifacts.Alone(s), r.Key); got != nil || err != nil {
		t.Fatalf("Lookup with a lost blob = %+v, %v; want a miss", got, err)
	}
}

func publishRace(t *testing.T, s artifacts.Store) {
	raceToPublish(t, s, artifacts.Alone(s), "raced")
	key := storetest.NewResult(t, s, "raced", nil).Key
	if got := listRecords(t, s, "nondeterminism/"+key.Hex()+"/"); len(got) != 7 {
		t.Errorf("%d non-determinism records, want 7", len(got))
	}
}

// raceToPublish has eight publish a result of one key at once and returns the outputs of the
// one who won.
func raceToPublish(t *testing.T, s artifacts.Store, l *artifacts.Resolver, keyName string) (winner artifacts.Digest) {
	t.Helper()
	results := make([]artifacts.Result, 8)
	for i := range results {
		results[i] = storetest.NewResult(t, s, keyName, map[string]string{"out": fmt.Sprint("version ", i)})
	}
	var mu sync.Mutex
	winners := map[artifacts.Digest]bool{}
	var wg sync.WaitGroup
	for _, r := range results {
		wg.Go(func() {
			won, nondet, err := artifacts.Publish(t.Context(), l, r)
			if err != nil {
				t.Errorf("Publish: %v", err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			winners[won.OutputsDigest()] = true
			if won.OutputsDigest() != r.OutputsDigest() && !nondet {
				t.Errorf("%s: one lost and was not told that outputs differ", keyName)
			}
		})
	}
	wg.Wait()
	if len(winners) != 1 {
		t.Errorf("%s: %d outputs won, want 1", keyName, len(winners))
	}
	for winner = range winners {
	}
	return winner
}

// publishOverRace: a result that cannot be used gives way to exactly one of those who
// publish at once, and each of the others is kept as what lost.
func publishOverRace(t *testing.T, s artifacts.Store) {
	signer, err := signature.New("alice")
	errtest.None(t, err)
	unbelieved := artifacts.With(s, nil, artifacts.Policy{Own: artifacts.RunUntrusted, Signer: signer})
	for name, c := range map[string]struct {
		s     *artifacts.Resolver // that is published to
		spoil func(first artifacts.Result) error
		kept  int // outputs that are recorded in the end
	}{
		"damaged": {artifacts.Alone(s), func(first artifacts.Result) error {
			return s.Records.Put(t.Context(), artifacts.ResultName(first.Key), []byte(`{"format":"redsi.result/1"}`))
		}, 7},
		"incomplete": {artifacts.Alone(s), func(first artifacts.Result) error {
			return s.Blobs.Delete(t.Context(), first.Outputs["out"].Digest)
		}, 8},
		"not believed": {unbelieved, func(artifacts.Result) error { return nil }, 8},
	} {
		first := storetest.NewResult(t, s, name, map[string]string{"out": "first of " + name})
		publishInto(t, artifacts.Alone(s), first)
		errtest.None(t, c.spoil(first))
		winner := raceToPublish(t, s, c.s, name)
		if got, err := artifacts.Lookup(t.Context(), c.s, first.Key); err != nil || got == nil || got.OutputsDigest() != winner {
			t.Errorf("%s: then Lookup = %+v, %v", name, got, err)
		}
		if got := listRecords(t, s, "nondeterminism/"+first.Key.Hex()+"/"); len(got) != c.kept {
			t.Errorf("%s: %d non-determinism records, want %d", name, len(got), c.kept)
		}
	}
}

// release: the bytes of a result that nothing else names go, its record stays, and publishing
// it again makes it what it was.
func release(t *testing.T, s artifacts.Store) {
	ctx := t.Context()
	big := func(c byte) string { return string(bytes.Repeat([]byte{c}, 5000)) }
	mine := storetest.NewResult(t, s, "mine", map[string]string{"a": big('a'), "b": big('b'), "small": "s"})
	kept := storetest.NewResult(t, s, "kept", map[string]string{"b": big('b')})
	kept.Origin.Step = "step.kept"
	for _, r := range []artifacts.Result{mine, kept} {
		if _, _, err := artifacts.Publish(ctx, artifacts.Alone(s), r); err != nil {
			t.Fatal(err)
		}
	}
	whole := func(key artifacts.Digest) bool {
		r, err := artifacts.Lookup(ctx, artifacts.Alone(s), key)
		errtest.None(t, err)
		return r != nil
	}
	let := func() artifacts.Freed {
		freed, err := artifacts.Release(ctx, s, []artifacts.Digest{mine.Key}, nil, func(string, []byte) bool { return false })
		errtest.None(t, err)
		return freed
	}
	if freed := let(); freed != (artifacts.Freed{Results: 1, Bytes: 5000}) || whole(mine.Key) || !whole(kept.Key) {
		t.Fatalf("%+v; kept is whole: %v", freed, whole(kept.Key))
	}
	known, err := artifacts.LookupKnown(ctx, artifacts.Alone(s), []artifacts.Digest{mine.Key})
	if r := known[mine.Key]; err != nil || r == nil || !r.Released || r.OutputsDigest() != mine.OutputsDigest() {
		t.Fatalf("%+v, %v", r, err)
	}
	if freed := let(); freed != (artifacts.Freed{}) {
		t.Fatalf("again: %+v", freed)
	}
	put(t, s, []byte(big('a')))
	if _, differs, err := artifacts.Publish(ctx, artifacts.Alone(s), mine); err != nil || differs || !whole(mine.Key) {
		t.Fatal(differs, err)
	}
	if _, err := s.Records.Get(ctx, artifacts.ReleasedName(mine.Key)); !errors.Is(err, artifacts.ErrNotExist) {
		t.Fatalf("the record that says that it was released: %v", err)
	}
	if freed := let(); freed.Bytes != 5000 {
		t.Fatalf("once more: %+v", freed)
	}
}
