package artifacts_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/stores/mem"
	"github.com/redsi/redsi/internal/stores/storetest"
	"github.com/redsi/redsi/internal/system/errtest"
)

func records(t *testing.T, s artifacts.Store, prefix string) []string {
	t.Helper()
	var names []string
	for r, err := range s.Records.List(t.Context(), prefix) {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, r.Name)
	}
	return names
}

func TestPublishRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		change func(s artifacts.Store, r *artifacts.Result)
		want   string
	}{
		"no key":        {func(_ artifacts.Store, r *artifacts.Result) { r.Key = artifacts.Digest{} }, "no key"},
		"no preimage":   {func(_ artifacts.Store, r *artifacts.Result) { r.Preimage = nil }, "preimage"},
		"bad preimage":  {func(_ artifacts.Store, r *artifacts.Result) { r.Preimage = json.RawMessage("{") }, "preimage"},
		"bad tree":      {func(_ artifacts.Store, r *artifacts.Result) { r.Outputs["records"].Files[0].Name = "x" }, "records"},
		"no digest":     {func(_ artifacts.Store, r *artifacts.Result) { r.Outputs["counts"] = artifacts.Artifact{} }, "counts"},
		"other format":  {func(_ artifacts.Store, r *artifacts.Result) { r.Format = "redsi.result/9" }, "redsi.result/9"},
		"negative time": {func(_ artifacts.Store, r *artifacts.Result) { r.Took = -1 }, "took"},
		"a blob is not stored": {func(s artifacts.Store, r *artifacts.Result) {
			s.Blobs.Delete(context.Background(), r.Outputs["records"].Files[0].Digest)
		}, "train/0.zst of output records"},
	} {
		s := mem.New()
		r := example(t, s)
		c.change(s, &r)
		won, nondet, err := artifacts.Publish(t.Context(), artifacts.Alone(s), r)
		if won != nil || nondet || err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, %v, %v; want an error about %q", name, won, nondet, err, c.want)
		}
		if got := records(t, s, ""); len(got) != 0 {
			t.Errorf("%s: left %v", name, got)
		}
	}
}

func TestPublishFirstWins(t *testing.T) {
	s := mem.New()
	first := storetest.NewResult(t, s, "k", map[string]string{"out": "one"})
	publish(t, artifacts.Alone(s), first)
	before := stored(t, s, first.Key)

	again := storetest.NewResult(t, s, "k", map[string]string{"out": "one"})
	again.Origin.RunID = "run-2"
	won, nondet, err := artifacts.Publish(t.Context(), artifacts.Alone(s), again)
	if err != nil || nondet || won.Origin.RunID != "run-1" {
		t.Fatalf("the same outputs again: %+v, %v, %v", won, nondet, err)
	}
	other := storetest.NewResult(t, s, "k", map[string]string{"out": "two"})
	for range 2 { // also when published again
		won, nondet, err = artifacts.Publish(t.Context(), artifacts.Alone(s), other)
		if err != nil || !nondet || won.OutputsDigest() != first.OutputsDigest() {
			t.Fatalf("other outputs: %+v, %v, %v", won, nondet, err)
		}
	}
	if got := stored(t, s, first.Key); string(got) != string(before) {
		t.Errorf("the first result was changed to %s", got)
	}
	want := []string{artifacts.NondeterminismName(other.Key, other.OutputsDigest())}
	if got := records(t, s, "nondeterminism/"); !slices.Equal(got, want) {
		t.Errorf("records of non-determinism %v, want %v", got, want)
	}
}

// TestPublishReplaces checks that a result that cannot be used gives way.
func TestPublishReplaces(t *testing.T) {
	for name, c := range map[string]struct {
		spoil  func(s artifacts.Store, r artifacts.Result)
		out    string
		nondet bool
	}{
		"damaged": {func(s artifacts.Store, r artifacts.Result) {
			s.Records.Put(context.Background(), artifacts.ResultName(r.Key), []byte(`{"format":"redsi.result/1"}`))
		}, "two", false},
		"lost blob": {func(s artifacts.Store, r artifacts.Result) {
			s.Blobs.Delete(context.Background(), r.Outputs["out"].Digest)
		}, "two", true},
		"lost blob, same output": {func(s artifacts.Store, r artifacts.Result) {
			s.Blobs.Delete(context.Background(), r.Outputs["out"].Digest)
		}, "one", false},
	} {
		s := mem.New()
		first := storetest.NewResult(t, s, "k", map[string]string{"out": "one"})
		publish(t, artifacts.Alone(s), first)
		c.spoil(s, first)
		second := storetest.NewResult(t, s, "k", map[string]string{"out": c.out})
		won, nondet, err := artifacts.Publish(t.Context(), artifacts.Alone(s), second)
		if err != nil || nondet != c.nondet || won.OutputsDigest() != second.OutputsDigest() {
			t.Errorf("%s: %+v, %v, %v", name, won, nondet, err)
		}
		got, err := artifacts.Lookup(t.Context(), artifacts.Alone(s), second.Key)
		if err != nil || got == nil || got.OutputsDigest() != second.OutputsDigest() {
			t.Errorf("%s: then Lookup = %+v, %v", name, got, err)
		}
	}
}

func TestPublishKeepsNewerFormats(t *testing.T) {
	s := mem.New()
	r := example(t, s)
	newer := []byte(`{"format":"redsi.result/9"`)
	newer = append(newer, `,"seal":"`+artifacts.Sum(newer).String()+`"}`...)
	errtest.None(t, s.Records.Create(t.Context(), artifacts.ResultName(r.Key), newer))
	_, _, err := artifacts.Publish(t.Context(), artifacts.Alone(s), r)
	var unknown *artifacts.FormatError
	if !errors.As(err, &unknown) || unknown.Format != "redsi.result/9" {
		t.Fatalf("Publish over a newer format: %v", err)
	}
	if got := stored(t, s, r.Key); string(got) != string(newer) {
		t.Errorf("the newer result became %s", got)
	}
}

// TestPublishFaults breaks each call that Publish makes, once before and once
// after it took effect. Whatever breaks: nothing is filed that is not whole, and
// publishing again ends as if nothing had happened.
func TestPublishFaults(t *testing.T) {
	broken := errors.New("connection reset")
	for _, c := range []struct {
		name    string
		outputs []string // published before
		blobs   bool     // the first one's blob is lost
	}{
		{name: "into nothing"},
		{name: "over the same", outputs: []string{"new"}},
		{name: "over another", outputs: []string{"old"}},
		{name: "over an incomplete one", outputs: []string{"old"}, blobs: true},
	} {
		for _, m := range []storetest.Method{storetest.BlobsMissing, storetest.RecordsGet, storetest.RecordsCreate, storetest.RecordsReplace} {
			for skip := range 3 {
				for _, done := range []bool{false, true} {
					base := mem.New()
					for _, out := range c.outputs {
						r := storetest.NewResult(t, base, "k", map[string]string{"out": out})
						publish(t, artifacts.Alone(base), r)
						if c.blobs {
							base.Blobs.Delete(t.Context(), r.Outputs["out"].Digest)
						}
					}
					r := storetest.NewResult(t, base, "k", map[string]string{"out": "new"})
					s, faults := storetest.Faulty(base)
					faults.Add(m, make([]storetest.Fault, skip)...)
					faults.Add(m, storetest.Fault{Err: broken, Done: done})
					won, _, err := artifacts.Publish(t.Context(), artifacts.Alone(s), r)
					if len(faults.Pending()) > 0 {
						continue // this path makes fewer such calls
					}
					if !errors.Is(err, broken) || won != nil {
						t.Errorf("%s, %s fails: %v, %v", c.name, m, won, err)
					}
					won, nondet, err := artifacts.Publish(t.Context(), artifacts.Alone(s), r)
					if err != nil {
						t.Fatalf("%s, %s fails, then again: %v", c.name, m, err)
					}
					got, err := artifacts.Lookup(t.Context(), artifacts.Alone(base), r.Key)
					if err != nil || got == nil || got.OutputsDigest() != won.OutputsDigest() {
						t.Errorf("%s, %s fails: Lookup = %+v, %v; won %+v", c.name, m, got, err, won)
					}
					old := len(c.outputs) > 0 && c.outputs[0] == "old"
					keeps := old && !c.blobs
					if keeps == (got.OutputsDigest() == r.OutputsDigest()) || keeps != nondet && !c.blobs {
						t.Errorf("%s, %s fails: non-deterministic %v, outputs %v", c.name, m, nondet, got.Outputs)
					}
					if n := len(records(t, base, "nondeterminism/")); old != (n == 1) {
						t.Errorf("%s, %s fails: %d records of non-determinism", c.name, m, n)
					}
				}
			}
		}
	}
}

// A result under a key of a format that this code does not make is another redsi's, not
// damaged: nothing takes it for a hit, writes over it or collects it.
func TestOtherKeyFormat(t *testing.T) {
	s := mem.New()
	r := example(t, s)
	body := fmt.Appendf(nil, `{"format":%q,"key":%q,"preimage":{"format":"redsi-key/9"},"outputs":{},"finished":"2026-11-21T12:00:00Z","origin":{},"took_s":1`, artifacts.ResultFormat, r.Key)
	record := fmt.Appendf(body, `,"seal":%q}`, artifacts.Sum(body))
	errtest.None(t, s.Records.Create(t.Context(), artifacts.ResultName(r.Key), record))
	found, err := artifacts.Inspect(t.Context(), artifacts.Alone(s), []artifacts.Digest{r.Key})
	e := found[r.Key]
	var other *artifacts.FormatError
	if err != nil || e.Hit() || !errors.As(e.Damage, &other) || other.Format != "redsi-key/9" || other.Reads != artifacts.KeyFormat {
		t.Errorf("it is looked up as %+v: %v", e, err)
	}
	if m := e.Miss(); strings.Contains(m, "damaged") || !strings.Contains(m, "redsi-key/9") {
		t.Errorf("the miss says %q", m)
	}
	if _, _, err := artifacts.Publish(t.Context(), artifacts.Alone(s), r); !errors.As(err, &other) {
		t.Errorf("it is written over: %v", err)
	}
	if _, err := artifacts.Collect(t.Context(), s, artifacts.GCOptions{}); !errors.As(err, &other) {
		t.Errorf("it is collected: %v", err)
	}
}
