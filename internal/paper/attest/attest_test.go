package attest

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/corpora/unpack/goldens"
	"github.com/redsi/redsi/internal/paper/alike"
	"github.com/redsi/redsi/internal/stores/mem"
	"github.com/redsi/redsi/internal/system/signature"
	"github.com/redsi/redsi/internal/system/testkit"
)

var (
	key    = artifacts.Sum([]byte("key"))
	stands = artifacts.Sum([]byte("outputs"))
	made   = artifacts.Sum([]byte("others"))
)

func newKey(t *testing.T, name string) *signature.Private {
	t.Helper()
	k, err := signature.New(name)
	testkit.None(t, err)
	return k
}

func attestation(verdict alike.Verdict, cpu string, day int) Attestation {
	by, allowed := 0.5, 1.0
	return Attestation{Key: key, Step: "step.train.dsi", Stands: stands, Made: made, Verdict: verdict, TookS: 1.5,
		Outputs: []alike.Found{{Output: "report", Verdict: verdict, Rule: "numbers within 1", Worst: &alike.Difference{
			Output: "report", Path: "loss", Stands: "1", Made: "1.5", By: &by, Allowed: &allowed}}},
		Machine:   Machine{OS: "linux", Arch: "amd64", CPU: cpu, Instructions: "AVX2", Processors: 2, Threads: 1},
		Libraries: map[string]string{"libtorch": "2.11.0"}, When: time.Date(2026, 11, day, 12, 0, 0, 0, time.UTC)}
}

func file(t *testing.T, s artifacts.Store, a Attestation, k *signature.Private) string {
	t.Helper()
	id, err := File(context.Background(), s, a, k)
	testkit.None(t, err)
	return id
}

// TestGolden holds the document to its format.
func TestGolden(t *testing.T) {
	s := mem.New()
	a := attestation(alike.Within, "A CPU", 1)
	a.By = "A. Reader"
	id := file(t, s, a, nil)
	got, err := s.Records.Get(context.Background(), "attestations/"+key.Hex()+"/"+id)
	testkit.None(t, err)
	goldens.Same(t, "testdata/attestation.json", string(got)+"\n")
}

// TestCount: one person counts once on a platform, by their newest word, and only about the outputs that stand.
func TestCount(t *testing.T) {
	alice, bob, eve := newKey(t, "alice"), newKey(t, "bob"), newKey(t, "eve")
	s := mem.New()
	file(t, s, attestation(alike.Differs, "X", 1), alice) // and thought better of it
	file(t, s, attestation(alike.Within, "X", 2), alice)
	file(t, s, attestation(alike.Same, "Y", 2), alice)
	file(t, s, attestation(alike.Same, "X", 3), bob)
	file(t, s, attestation(alike.Same, "X", 4), eve)
	file(t, s, attestation(alike.Same, "X", 5), nil)
	file(t, s, attestation(alike.Same, "X", 6), nil) // unsigned a second time
	named := attestation(alike.Differs, "X", 6)
	named.By = "bob" // who did not sign
	file(t, s, named, nil)
	other := attestation(alike.Differs, "X", 7)
	other.Stands = made
	file(t, s, other, bob)

	all, bad, err := Of(context.Background(), s, key)
	if err != nil || len(bad) != 0 || len(all) != 9 {
		t.Fatalf("%d, %v, %v", len(all), bad, err)
	}
	for name, c := range map[string]struct {
		ring signature.Ring
		want string
	}{
		"nobody is known": {signature.Ring{}, "rebuilt by 3 people on 2 platforms: 3 same bytes, 1 within; unsigned: 1 same bytes, 1 differs"},
		"one is trusted, one revoked": {signature.Ring{Trusted: []signature.Public{alice.Public()}, Revoked: []signature.Public{eve.Public()}},
			"rebuilt by 2 people, 1 of them trusted, on 2 platforms: 2 same bytes, 1 within; unsigned: 1 same bytes, 1 differs; 1 signed by a revoked key, not counted"},
	} {
		testkit.Is(t, Count(all, stands, c.ring).String(), c.want, name)
	}
	if got := Count(all, artifacts.Sum(nil), signature.Ring{}); got.Any() || got.Others != 9 || got.String() != "" {
		t.Errorf("of outputs that nobody made: %+v", got)
	}
}

// TestPlanted: what was changed, or lies under another name, does not count and is told.
func TestPlanted(t *testing.T) {
	ctx := context.Background()
	alice := newKey(t, "alice")
	s := mem.New()
	id := file(t, s, attestation(alike.Differs, "X", 1), alice)
	doc, err := s.Records.Get(ctx, name(key, id))
	testkit.None(t, err)
	put := func(key artifacts.Digest, id string, doc []byte) {
		t.Helper()
		testkit.None(t, s.Records.Put(ctx, name(key, id), doc))
	}
	better := bytes.Replace(doc, []byte(`"differs"`), []byte(`"same bytes"`), 1)
	put(key, idOf(better), better)                // signed over other bytes
	put(key, strings.Repeat("0", idLength), doc)  // twice
	put(stands, id, doc)                          // of another key
	put(key, "x", []byte(`{"format":"other/1"}`)) // of another format
	put(key, "y", []byte("x"))
	forged := attestation(alike.Same, "X", 2)
	forged.Format, forged.By = Format, "bob" // signed by alice, who says to be bob
	b, err := json.Marshal(forged)
	testkit.None(t, err)
	if b, err = alice.Sign(b); err != nil {
		t.Fatal(err)
	}
	put(key, idOf(b), b)

	all, bad, err := Of(ctx, s, key)
	testkit.That(t, err == nil && len(all) == 1 && all[0].Verdict == alike.Differs && len(bad) == 5, all, bad, err)
	if all, bad, err := Of(ctx, s, stands); err != nil || len(all) != 0 || len(bad) != 1 {
		t.Errorf("of another key: %+v, %v, %v", all, bad, err)
	}
	book, err := Open(ctx, s, signature.Ring{})
	testkit.None(t, err)
	told, err := book.Of(ctx, key, stands)
	if err != nil || told.String() != "rebuilt by 1 person on 1 platform: 1 differs; 5 damaged, not counted" || len(told.List) != 1 {
		t.Errorf("%v, %v", told, err)
	}
	if told, err := book.Of(ctx, made, stands); told != nil || err != nil {
		t.Errorf("of a key without: %v, %v", told, err)
	}
	var total Total
	total.Add(told)
	total.Add(nil)
	testkit.Is(t, total.Steps, 1, total)
	testkit.Is(t, total.String(), "rebuilt by 1 person on 1 platform: 1 differs", total)
}

func TestRefused(t *testing.T) {
	for name, change := range map[string]func(*Attestation){
		"no key":        func(a *Attestation) { a.Key = artifacts.Digest{} },
		"no outputs":    func(a *Attestation) { a.Stands = artifacts.Digest{} },
		"not a verdict": func(a *Attestation) { a.Verdict = "fine" },
		"two lines":     func(a *Attestation) { a.By = "a\nb" },
		"a long story":  func(a *Attestation) { a.Machine.CPU = strings.Repeat("x", 301) },
	} {
		a := attestation(alike.Same, "X", 1)
		change(&a)
		s := mem.New()
		testkit.Some(t, testkit.Err(File(context.Background(), s, a, nil)), name)
		for r := range s.Records.List(context.Background(), "") {
			t.Errorf("%s: %s is there", name, r.Name)
		}
	}
}

func TestMachine(t *testing.T) {
	if m := ThisMachine(); m.OS == "" || m.Arch == "" || m.Processors < 1 {
		t.Errorf("%+v", m)
	}
	testkit.Is(t, attestation(alike.Same, "X", 1).Machine.String(), "linux/amd64, X, AVX2, 2 processors, 1 thread")
}
