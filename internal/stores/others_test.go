package stores_test

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/stores/local"
	"github.com/redsi/redsi/internal/stores/mem"
	"github.com/redsi/redsi/internal/stores/storetest"
	"github.com/redsi/redsi/internal/system/signature"
	"github.com/redsi/redsi/internal/system/testkit"
)

// Theirs is an empty store of somebody else, and how we see it.
type Theirs struct {
	Store   artifacts.Store                       // as they write to it
	Other   artifacts.Other                       // as it is read
	Rewrite func(d artifacts.Digest, data []byte) // puts bytes in the place of a blob
}

// people have keys: alice is trusted, bob is not known, eve is trusted and revoked.
type people struct {
	alice, bob, eve *signature.Private
	ring            signature.Ring
}

func newPeople(t *testing.T) people {
	t.Helper()
	key := func(name string) *signature.Private {
		k, err := signature.New(name)
		testkit.None(t, err)
		return k
	}
	p := people{alice: key("alice"), bob: key("bob"), eve: key("eve")}
	p.ring = signature.Ring{Trusted: []signature.Public{p.alice.Public(), p.eve.Public()}, Revoked: []signature.Public{p.eve.Public()}}
	return p
}

// others checks that results of the stores which open returns are served if the policy
// believes them and never otherwise, and that what is served is whole.
func others(t *testing.T, open func(t *testing.T) Theirs) {
	for _, c := range []struct {
		name string
		test func(t *testing.T, theirs Theirs, p people)
	}{
		{"served", served},
		{"brought", brought},
		{"planted", planted},
		{"unsigned", unsigned},
		{"flipped byte", flippedByte},
		{"lost blob", lostBlob},
		{"long result", longResult},
		{"never written to", neverWritten},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, open(t), newPeople(t)) })
	}
}

func publish(t *testing.T, s artifacts.Store, by *signature.Private, r artifacts.Result) {
	t.Helper()
	publishInto(t, artifacts.With(s, nil, artifacts.Policy{Signer: by}), r)
}

func lookUp(t *testing.T, s *artifacts.Resolver, key artifacts.Digest) artifacts.Entry {
	t.Helper()
	found, err := artifacts.Inspect(t.Context(), s, []artifacts.Digest{key})
	testkit.None(t, err)
	if hit, err := artifacts.Lookup(t.Context(), s, key); err != nil || (hit != nil) != found[key].Hit() {
		t.Fatalf("Lookup says %v, %v where Inspect says %q", hit, err, found[key].Miss())
	}
	return found[key]
}

// read is what is given for a blob, and the error at its end.
func read(t *testing.T, blobs artifacts.BlobReader, d artifacts.Digest) (string, error) {
	t.Helper()
	rc, err := blobs.Open(t.Context(), d)
	if err != nil {
		return "", err
	}
	defer rc.Close()
	b, err := io.ReadAll(rc)
	return string(b), err
}

// served: what a trusted key signed is a hit, whose blobs are copied when they are read.
func served(t *testing.T, theirs Theirs, p people) {
	r := storetest.NewResult(t, theirs.Store, "k", map[string]string{"train": "one", "dev": "two"})
	publish(t, theirs.Store, p.alice, r)
	own := mem.New()
	s := artifacts.With(own, []artifacts.Other{theirs.Other}, artifacts.Policy{Ring: p.ring})
	e := lookUp(t, s, r.Key)
	if !e.Hit() || e.Result.From != theirs.Other.Name || e.Result.Signer != p.alice.Public().String() || e.Result.OutputsDigest() != r.OutputsDigest() {
		t.Fatalf("%+v, %q", e.Result, e.Miss())
	}
	testkit.Is(t, len(listBlobs(t, t.Context(), own))+len(listRecords(t, own, "")), 0)
	testkit.Of(t, "two")(read(t, s, r.Outputs["dev"].Digest))
	if missing, err := own.Blobs.Missing(t.Context(), []artifacts.Digest{r.Outputs["dev"].Digest, r.Outputs["train"].Digest}); err != nil || len(missing) != 1 {
		t.Errorf("own lacks %v, %v after one blob was read", missing, err)
	}
	none := artifacts.Sum([]byte("nobody has this"))
	testkit.ErrIs(t, testkit.Err(s.Open(t.Context(), none)), artifacts.ErrNotExist, "a blob that nobody")
	if e := lookUp(t, s, none); e.Hit() || e.Miss() != "no result" {
		t.Errorf("a result that nobody has: %q", e.Miss())
	}
	if st := s.Others(); len(st) != 1 || st[0].Err != nil {
		t.Errorf("the other store is %+v", st)
	}
	// What follows from it is filed with all blobs, whoever had them.
	next := storetest.NewResult(t, own, "next", map[string]string{"more": "three"})
	next.Outputs["same"] = r.Outputs["train"]
	publishInto(t, s, next)
	if e := lookUp(t, artifacts.Alone(own), next.Key); !e.Hit() || e.Result.From != "" {
		t.Errorf("own has of what was published: %q", e.Miss())
	}
}

func publishInto(t *testing.T, s *artifacts.Resolver, r artifacts.Result) {
	t.Helper()
	if _, _, err := artifacts.Publish(t.Context(), s, r); err != nil {
		t.Fatal(err)
	}
}

// brought: a result is copied whole, its record byte by byte and its signatures with it.
func brought(t *testing.T, theirs Theirs, p people) {
	r := storetest.NewResult(t, theirs.Store, "k", map[string]string{"train": "one", "dev": "two"})
	r.Log = &artifacts.Log{Digest: put(t, theirs.Store, []byte("said")), Size: 4}
	r.Kept = []artifacts.File{{Name: "libraries", Digest: put(t, theirs.Store, []byte("list")), Size: 4}}
	publish(t, theirs.Store, p.alice, r)
	said := "attestations/" + r.Key.Hex() + "/1"
	testkit.None(t, theirs.Store.Records.Create(t.Context(), said, []byte(`{"format":"redsi-attestation/1"}`)))
	testkit.None(t, artifacts.ListAbout(t.Context(), theirs.Store, []artifacts.Digest{r.Key}))
	own := mem.New()
	s := artifacts.With(own, []artifacts.Other{theirs.Other}, artifacts.Policy{Ring: p.ring})
	e := lookUp(t, s, r.Key)
	if !e.Hit() {
		t.Fatal(e.Miss())
	}
	for range 2 {
		testkit.None(t, artifacts.Bring(t.Context(), s, e.Result, nil))
	}
	for _, name := range []string{artifacts.ResultName(r.Key), artifacts.SignatureName(r.Key, p.alice.Public()), said} {
		want, err := theirs.Store.Records.Get(t.Context(), name)
		got, gerr := own.Records.Get(t.Context(), name)
		if err != nil || gerr != nil || !bytes.Equal(got, want) {
			t.Errorf("%s came as %q, %v; theirs is %q, %v", name, got, gerr, want, err)
		}
	}
	testkit.Of(t, "said")(read(t, own.Blobs, r.Log.Digest))
	testkit.Of(t, "list")(read(t, own.Blobs, r.Kept[0].Digest))
	alone := artifacts.With(own, nil, artifacts.Policy{Ring: p.ring, Own: artifacts.RunUntrusted, Signer: p.bob})
	if e := lookUp(t, alone, r.Key); !e.Hit() || e.Result.From != "" || e.Result.Signer != p.alice.Public().String() {
		t.Errorf("by itself: %q", e.Miss())
	}
	if signed, err := artifacts.Signatures(t.Context(), own.Records, r.Key); err != nil || len(signed) != 1 || signed[0].Err != nil {
		t.Errorf("signatures: %v, %v", signed, err)
	}
}

// unsigned: what nobody signed is a matter of the policy.
func unsigned(t *testing.T, theirs Theirs, p people) {
	r := storetest.NewResult(t, theirs.Store, "k", map[string]string{"out": "one"})
	publish(t, theirs.Store, nil, r)
	for _, c := range []struct {
		policy       artifacts.Policy
		hit, foreign bool
	}{
		{artifacts.Policy{}, false, false},
		{artifacts.Policy{Foreign: artifacts.RunUntrusted}, false, false},
		{artifacts.Policy{Foreign: artifacts.VerifyUntrusted}, false, true},
		{artifacts.Policy{Foreign: artifacts.UseUntrusted}, true, false},
		{artifacts.Policy{Foreign: artifacts.UseUntrusted, Ring: p.ring}, true, false},
	} {
		s := artifacts.With(mem.New(), []artifacts.Other{theirs.Other}, c.policy)
		e := lookUp(t, s, r.Key)
		if e.Hit() != c.hit || (e.Foreign != nil) != c.foreign {
			t.Errorf("%+v: %+v, foreign %+v, %q", c.policy, e.Result, e.Foreign, e.Miss())
		}
		if e.Hit() && (e.Result.From != theirs.Other.Name || e.Result.Signer != "") {
			t.Errorf("%+v: from %q, signed by %q", c.policy, e.Result.From, e.Result.Signer)
		}
		if c.foreign && e.Foreign.From != theirs.Other.Name {
			t.Errorf("%+v: from %q", c.policy, e.Foreign.From)
		}
		if c.hit {
			testkit.None(t, artifacts.Bring(t.Context(), s, e.Result, nil))
		}
	}
	done, err := artifacts.SignResult(t.Context(), theirs.Store, r.Key, p.alice)
	if again, aerr := artifacts.SignResult(t.Context(), theirs.Store, r.Key, p.alice); !done || again || err != nil || aerr != nil {
		t.Errorf("signed %v, %v, then %v, %v", done, err, again, aerr)
	}
	s := artifacts.With(mem.New(), []artifacts.Other{theirs.Other}, artifacts.Policy{Ring: p.ring})
	if e := lookUp(t, s, r.Key); !e.Hit() {
		t.Errorf("signed: %q", e.Miss())
	}
}

// flippedByte: a blob that differs is named and not served, and from then on it is lost;
// the next store is asked for it.
func flippedByte(t *testing.T, theirs Theirs, p people) {
	r := storetest.NewResult(t, theirs.Store, "k", map[string]string{"out": "one"})
	publish(t, theirs.Store, p.alice, r)
	d := r.Outputs["out"].Digest
	theirs.Rewrite(d, []byte("onf"))
	own := mem.New()
	s := artifacts.With(own, []artifacts.Other{theirs.Other}, artifacts.Policy{Ring: p.ring})
	if e := lookUp(t, s, r.Key); !e.Hit() {
		t.Fatal(e.Miss())
	}
	for _, do := range []func() error{
		func() error { _, err := read(t, s, d); return err },
		func() error { _, err := local.Fetch(t.Context(), s, d, t.TempDir()); return err },
	} {
		err := do()
		var bad *artifacts.IntegrityError
		if !errors.As(err, &bad) || !bad.Other || !strings.Contains(err.Error(), theirs.Other.Name) || !strings.Contains(err.Error(), d.String()) {
			t.Errorf("read: %v", err)
		}
	}
	testkit.Is(t, len(listBlobs(t, t.Context(), own)), 0, "own")
	if dropped, err := artifacts.DropCorrupt(t.Context(), s.Own, d); dropped || err != nil {
		t.Errorf("DropCorrupt: %v, %v", dropped, err)
	}
	if e := lookUp(t, s, r.Key); e.Hit() || len(e.Passed) != 1 || e.Passed[0].Reason != artifacts.Incomplete {
		t.Errorf("after that: %q", e.Miss())
	}
	second := mem.New()
	put(t, second, []byte("one"))
	s = artifacts.With(own, []artifacts.Other{theirs.Other, {Reader: second.Reader(), Name: "second"}}, artifacts.Policy{Ring: p.ring})
	testkit.Of(t, "one")(read(t, s, d))
}

func lostBlob(t *testing.T, theirs Theirs, p people) {
	r := storetest.NewResult(t, theirs.Store, "k", map[string]string{"out": "one", "log": "two"})
	publish(t, theirs.Store, p.alice, r)
	testkit.None(t, theirs.Store.Blobs.Delete(t.Context(), r.Outputs["out"].Digest))
	own := mem.New()
	others := []artifacts.Other{theirs.Other}
	s := artifacts.With(own, others, artifacts.Policy{Ring: p.ring})
	if e := lookUp(t, s, r.Key); e.Hit() || len(e.Passed) != 1 || !strings.Contains(e.Miss(), "output out") || s.Others()[0].Err != nil {
		t.Errorf("%+v, %q", e.Result, e.Miss())
	}
	put(t, own, []byte("one"))
	if e := lookUp(t, artifacts.With(own, others, artifacts.Policy{Ring: p.ring}), r.Key); !e.Hit() {
		t.Errorf("own has that blob: %q", e.Miss())
	}
}

// longResult: a record that names its body is signed by what it says, which is the body's digest.
func longResult(t *testing.T, theirs Theirs, p people) {
	r := storetest.NewResult(t, theirs.Store, "k", map[string]string{"out": "one"})
	r.Env["text"] = strings.Repeat("long ", 150_000)
	publish(t, theirs.Store, p.alice, r)
	s := artifacts.With(mem.New(), []artifacts.Other{theirs.Other}, artifacts.Policy{Ring: p.ring})
	e := lookUp(t, s, r.Key)
	if !e.Hit() || e.Result.Env["text"] != r.Env["text"] {
		t.Fatal(e.Miss())
	}
	testkit.None(t, artifacts.Bring(t.Context(), s, e.Result, nil))
	if e := lookUp(t, s.Alone(), r.Key); !e.Hit() {
		t.Error(e.Miss())
	}
	record, err := theirs.Store.Records.Get(t.Context(), artifacts.ResultName(r.Key))
	testkit.None(t, err)
	_, after, _ := strings.Cut(string(record), `"body":"sha256:`)
	body, err := artifacts.ParseHex(after[:64])
	testkit.None(t, err, record)
	theirs.Rewrite(body, []byte("{}"))
	s = artifacts.With(mem.New(), []artifacts.Other{theirs.Other}, artifacts.Policy{Ring: p.ring})
	if e := lookUp(t, s, r.Key); e.Hit() || len(e.Passed) != 1 || e.Passed[0].Reason != artifacts.Damaged {
		t.Errorf("with another body: %q", e.Miss())
	}
}

// neverWritten: whatever is done with a store that has others, they stay as they are.
func neverWritten(t *testing.T, theirs Theirs, p people) {
	r := storetest.NewResult(t, theirs.Store, "k", map[string]string{"out": "one"})
	publish(t, theirs.Store, p.alice, r)
	records, blobs := listRecords(t, theirs.Store, ""), listBlobs(t, t.Context(), theirs.Store)
	s := artifacts.With(mem.New(), []artifacts.Other{theirs.Other}, artifacts.Policy{Ring: p.ring, Signer: p.alice})
	e := lookUp(t, s, r.Key)
	testkit.None(t, errors.Join(artifacts.Bring(t.Context(), s, e.Result, nil), s.Own.Blobs.Delete(t.Context(), r.Outputs["out"].Digest),
		artifacts.DropResult(t.Context(), s.Own, r.Key)))
	publishInto(t, s, storetest.NewResult(t, s.Own, "new", map[string]string{"out": "two"}))
	testkit.None(t, testkit.Err(artifacts.Collect(t.Context(), s.Own, artifacts.GCOptions{Grace: 1})))
	now := listBlobs(t, t.Context(), theirs.Store)
	if !slices.Equal(listRecords(t, theirs.Store, ""), records) || !maps.Equal(ages(now), ages(blobs)) {
		t.Errorf("they have %v and %v", listRecords(t, theirs.Store, ""), now)
	}
}

func ages(blobs []artifacts.BlobInfo) map[artifacts.Digest]string {
	all := map[artifacts.Digest]string{}
	for _, b := range blobs {
		all[b.Digest] = b.ModTime.String()
	}
	return all
}

// planted: under the right key, with a right seal, lie other outputs.
func planted(t *testing.T, theirs Theirs, p people) {
	honest := func(name string) artifacts.Result {
		return storetest.NewResult(t, theirs.Store, name, map[string]string{"out": "right"})
	}
	forged := func(name string) artifacts.Result {
		return storetest.NewResult(t, theirs.Store, name, map[string]string{"out": "planted"})
	}
	// over puts the record of a forged result in the place of another.
	over := func(r artifacts.Result) {
		aside := mem.New()
		put(t, aside, []byte("planted"))
		publish(t, aside, nil, r)
		b, err := aside.Records.Get(t.Context(), artifacts.ResultName(r.Key))
		if err == nil {
			err = theirs.Store.Records.Put(t.Context(), artifacts.ResultName(r.Key), b)
		}
		testkit.None(t, err)
	}
	publish(t, theirs.Store, nil, forged("unsigned"))
	publish(t, theirs.Store, p.bob, forged("unknown"))
	publish(t, theirs.Store, p.eve, forged("revoked"))
	publish(t, theirs.Store, p.alice, honest("older"))
	over(forged("older"))
	publish(t, theirs.Store, p.alice, honest("moved from"))
	publish(t, theirs.Store, nil, forged("moved to"))
	from, to := honest("moved from").Key, forged("moved to").Key
	b, err := theirs.Store.Records.Get(t.Context(), artifacts.SignatureName(from, p.alice.Public()))
	if err == nil {
		err = theirs.Store.Records.Put(t.Context(), artifacts.SignatureName(to, p.alice.Public()), b)
	}
	testkit.None(t, err)
	reasons := map[string]artifacts.Reason{"unsigned": artifacts.Unsigned, "unknown": artifacts.UnknownKey, "revoked": artifacts.RevokedKey,
		"older": artifacts.NotSigned, "moved to": artifacts.NotSigned}
	for _, names := range []bool{false, true} {
		for name, want := range reasons {
			key := forged(name).Key
			if names {
				testkit.None(t, artifacts.ListAbout(t.Context(), theirs.Store, []artifacts.Digest{key}))
			} else if name == "unknown" {
				continue // who it is, a static host tells only then
			}
			s := artifacts.With(mem.New(), []artifacts.Other{theirs.Other}, artifacts.Policy{Ring: p.ring})
			e := lookUp(t, s, key)
			if e.Hit() || e.Foreign != nil || len(e.Passed) != 1 || e.Passed[0].Reason != want || e.Passed[0].From != theirs.Other.Name {
				t.Errorf("%s: %+v, %q", name, e.Result, e.Miss())
				continue
			}
			if !strings.Contains(e.Miss(), theirs.Other.Name+" has a result") {
				t.Errorf("%s: %q", name, e.Miss())
			}
			// Nor is it brought by someone who holds on to it.
			r := forged(name)
			r.From = theirs.Other.Name
			testkit.Some(t, artifacts.Bring(t.Context(), s, &r, nil), name)
		}
	}
	// In a store of our own that others write to, it is not believed, and gives way.
	s := artifacts.With(theirs.Store, nil, artifacts.Policy{Ring: p.ring, Own: artifacts.RunUntrusted, Signer: p.alice})
	var all sync.WaitGroup // each waits for those who may yet sign what lies there
	for name, want := range reasons {
		right := honest(name)
		if e := lookUp(t, s, right.Key); e.Hit() || len(e.Passed) != 1 || e.Passed[0].Reason != want || e.Passed[0].From != "" {
			t.Errorf("%s in the store itself: %+v, %q", name, e.Result, e.Miss())
		}
		all.Go(func() {
			won, differs, err := artifacts.Publish(t.Context(), s, right)
			if err != nil || !differs || won.OutputsDigest() != right.OutputsDigest() {
				t.Errorf("%s: published %v, %v, %v", name, won, differs, err)
			}
		})
	}
	all.Wait()
	for name := range reasons {
		right := honest(name)
		if e := lookUp(t, s, right.Key); !e.Hit() || e.Result.OutputsDigest() != right.OutputsDigest() {
			t.Errorf("%s, done again: %+v, %q", name, e.Result, e.Miss())
		}
	}
}
