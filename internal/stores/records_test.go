package stores_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/system/testkit"
)

func recordRoundTrip(t *testing.T, s artifacts.Store) {
	ctx := t.Context()
	if _, err := s.Records.Get(ctx, "runs/1"); !errors.Is(err, artifacts.ErrNotExist) {
		t.Fatalf("Get of nothing: %v", err)
	}
	for _, want := range []string{`{"a":1}`, `{}`, strings.Repeat("x", artifacts.MaxRecord)} {
		data := []byte(want)
		testkit.None(t, s.Records.Put(ctx, "runs/1", data), "Put")
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
	testkit.None(t, s.Records.Create(ctx, "results/k", []byte("first")), "Create")
	if err := s.Records.Create(ctx, "results/k", []byte("second")); !errors.Is(err, artifacts.ErrExist) {
		t.Fatalf("Create again: %v; want ErrExist", err)
	}
	if got, err := s.Records.Get(ctx, "results/k"); err != nil || string(got) != "first" {
		t.Fatalf("Get = %q, %v", got, err)
	}
	testkit.None(t, s.Records.Delete(ctx, "results/k"))
	testkit.None(t, s.Records.Create(ctx, "results/k", []byte("third")), "Create after Delete")
	testkit.None(t, s.Records.Put(ctx, "results/p", []byte("put")))
	if err := s.Records.Create(ctx, "results/p", []byte("x")); !errors.Is(err, artifacts.ErrExist) {
		t.Fatalf("Create after Put: %v; want ErrExist", err)
	}
}

func recordReplace(t *testing.T, s artifacts.Store) {
	ctx := t.Context()
	replace := func(old, data string, want error) {
		t.Helper()
		testkit.ErrIs(t, s.Records.Replace(ctx, "results/k", []byte(old), []byte(data)), want, old, data)
	}
	replace("first", "second", artifacts.ErrNotExist)
	testkit.None(t, s.Records.Create(ctx, "results/k", []byte("first")))
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
			testkit.None(t, s.Records.Put(t.Context(), name, []byte(old)))
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
		testkit.None(t, s.Records.Create(t.Context(), name, []byte(name)), "Create", name)
	}
	for _, name := range oddNames {
		if got, err := s.Records.Get(t.Context(), name); err != nil || string(got) != name {
			t.Errorf("Get(%q) = %q, %v", name, got, err)
		}
	}
	want := slices.Sorted(slices.Values(oddNames))
	testkit.Deep(t, listRecords(t, s, ""), want, "listed")
	for _, prefix := range []string{"a", "a/", "a.json/", "A", "pins/P", "runs/step", "long/long/", ".", "…", "none", "none/x", "/", "../", "a//"} {
		var want []string
		for _, n := range slices.Sorted(slices.Values(oddNames)) {
			if strings.HasPrefix(n, prefix) {
				want = append(want, n)
			}
		}
		testkit.Deep(t, listRecords(t, s, prefix), want, "List", prefix)
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
	testkit.Is(t, len(listRecords(t, s, "")), 0, "records after bad names")
}

func recordTooLarge(t *testing.T, s artifacts.Store) {
	data := make([]byte, artifacts.MaxRecord+1)
	testkit.Some(t, s.Records.Create(t.Context(), "runs/big", data), "Create took a record that is too large")
	testkit.Some(t, s.Records.Put(t.Context(), "runs/big", data), "Put took a record that is too large")
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
	testkit.Deep(t, listRecords(t, s, "results/"), want, "listed records", n)
	if got := listRecords(t, s, want[0][:12]); len(got) == 0 || got[0] != want[0] {
		t.Errorf("List of a partial hex key = %q", got)
	}
	for info, err := range s.Records.List(t.Context(), "results/") { // a caller may stop early
		testkit.That(t, err == nil && info.Size == 2 && !info.ModTime.IsZero(), "first of the list", info, err)
		break
	}
}

func recordDelete(t *testing.T, s artifacts.Store) {
	for _, name := range []string{"a", "a/b"} {
		testkit.None(t, s.Records.Create(t.Context(), name, []byte("1")))
	}
	for range 2 { // the second time it is not there
		testkit.None(t, s.Records.Delete(t.Context(), "a"), "Delete")
	}
	testkit.Deep(t, listRecords(t, s, ""), []string{"a/b"})
}

func recordPutAtomic(t *testing.T, s artifacts.Store) {
	docs := [][]byte{bytes.Repeat([]byte("a"), 70_000), bytes.Repeat([]byte("b"), 90_000)}
	testkit.None(t, s.Records.Put(t.Context(), "runs/x", docs[0]))
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
