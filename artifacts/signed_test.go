package artifacts_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/corpora/unpack/goldens"
	"github.com/redsi/redsi/internal/stores/mem"
	"github.com/redsi/redsi/internal/stores/storetest"
	"github.com/redsi/redsi/internal/system/signature"
	"github.com/redsi/redsi/internal/system/testkit"
)

func key(t *testing.T, name string) *signature.Private {
	t.Helper()
	k, err := signature.New(name)
	testkit.None(t, err)
	return k
}

// signing is s with a key that signs what is published.
func signing(s artifacts.Store, by *signature.Private) *artifacts.Resolver {
	return artifacts.With(s, nil, artifacts.Policy{Signer: by})
}

func signatures(t *testing.T, s artifacts.Store, key artifacts.Digest) string {
	t.Helper()
	all, err := artifacts.Signatures(t.Context(), s.Records, key)
	testkit.None(t, err)
	var said []string
	for _, one := range all {
		said = append(said, fmt.Sprint(one.By.Name, " ", one.Err == nil))
	}
	slices.Sort(said)
	return strings.Join(said, ", ")
}

// TestSignatureGolden pins what is signed.
func TestSignatureGolden(t *testing.T) {
	s, alice := mem.New(), key(t, "alice")
	r := example(t, s)
	publish(t, signing(s, alice), r)
	name := artifacts.SignatureName(r.Key, alice.Public())
	got, err := s.Records.Get(t.Context(), name)
	if err != nil || name != "signatures/"+r.Key.Hex()+"/"+alice.Public().ID() {
		t.Fatal(name, err)
	}
	var doc struct {
		Digest artifacts.Digest `json:"digest"`
	}
	if err := json.Unmarshal(got, &doc); err != nil || doc.Digest != artifacts.Sum(stored(t, s, r.Key)) {
		t.Errorf("%s, %v", got, err)
	}
	for _, v := range []struct{ is, want string }{{`"signed":"[^"]*"`, `"signed":"TIME"`}, {`"signer":"[^"]*"`, `"signer":"alice:KEY"`},
		{`"signature":"[^"]*"`, `"signature":"SIG"`}} {
		got = regexp.MustCompile(v.is).ReplaceAll(got, []byte(v.want))
	}
	goldens.Same(t, filepath.Join("testdata", "signature.json"), string(got))
}

// TestPublishSigns: who files a result signs it; who comes second does not, and one that is
// filed in the place of another leaves no signature of that.
func TestPublishSigns(t *testing.T) {
	s, alice, bob := mem.New(), key(t, "alice"), key(t, "bob")
	r := storetest.NewResult(t, s, "k", map[string]string{"out": "one"})
	publish(t, signing(s, alice), r)
	publish(t, signing(s, alice), r)
	publish(t, signing(s, bob), r)
	testkit.Is(t, signatures(t, s, r.Key), "alice true, bob true", "the same record was filed by two")
	other := storetest.NewResult(t, s, "k", map[string]string{"out": "two"})
	second := mem.New()
	publish(t, signing(second, alice), storetest.NewResult(t, second, "k", map[string]string{"out": "one"}))
	testkit.None(t, testkit.Err(artifacts.PutBytes(t.Context(), second.Blobs, []byte("two"))))
	if _, differs, err := artifacts.Publish(t.Context(), signing(second, bob), other); err != nil || !differs {
		t.Fatal(differs, err)
	}
	testkit.Is(t, signatures(t, second, r.Key), "alice true", "who lost signed")
	// The first one loses its blob: the other takes its place, and only its own signature counts.
	testkit.None(t, second.Blobs.Delete(t.Context(), r.Outputs["out"].Digest))
	if won, _, err := artifacts.Publish(t.Context(), signing(second, bob), other); err != nil || won.OutputsDigest() != other.OutputsDigest() {
		t.Fatal(won, err)
	}
	testkit.Is(t, signatures(t, second, r.Key), "bob true", "after it was replaced")
	testkit.None(t, artifacts.DropResult(t.Context(), second, r.Key))
	testkit.Is(t, len(records(t, second, "signatures/")), 0, "a result that was deleted left")
	if _, err := artifacts.SignResult(t.Context(), second, r.Key, bob); !errors.Is(err, artifacts.ErrNotExist) {
		t.Errorf("signing what is not there: %v", err)
	}
}

// TestOwnIsJudged: of a shared store that others can write to, only what trusted people
// signed counts, and what nobody did can be compared with.
func TestOwnIsJudged(t *testing.T) {
	s, alice, bob := mem.New(), key(t, "alice"), key(t, "bob")
	signed := storetest.NewResult(t, s, "signed", map[string]string{"out": "one"})
	publish(t, signing(s, alice), signed)
	foreign := storetest.NewResult(t, s, "foreign", map[string]string{"out": "two"})
	publish(t, signing(s, bob), foreign)
	lost := storetest.NewResult(t, s, "lost", map[string]string{"out": "three"})
	publish(t, artifacts.Alone(s), lost)
	testkit.None(t, s.Blobs.Delete(t.Context(), lost.Outputs["out"].Digest))
	keys := []artifacts.Digest{signed.Key, foreign.Key, lost.Key}
	for _, c := range []struct {
		own  artifacts.Untrusted
		ring signature.Ring
		want string // signed, foreign, lost: hit, to be compared with
	}{
		{artifacts.UseUntrusted, signature.Ring{}, "true false true false false false"},
		{artifacts.RunUntrusted, signature.Ring{}, "true false false false false false"},
		{artifacts.VerifyUntrusted, signature.Ring{}, "true false false true false false"},
		{artifacts.VerifyUntrusted, signature.Ring{Trusted: []signature.Public{bob.Public()}}, "true false true false false false"},
		{artifacts.RunUntrusted, signature.Ring{Trusted: []signature.Public{bob.Public()}, Revoked: []signature.Public{bob.Public()}}, "true false false false false false"},
	} {
		with := artifacts.With(s, nil, artifacts.Policy{Own: c.own, Ring: c.ring, Signer: alice})
		found, err := artifacts.Inspect(t.Context(), with, keys)
		testkit.None(t, err)
		var got []string
		for _, k := range keys {
			got = append(got, fmt.Sprint(found[k].Hit(), " ", found[k].Foreign != nil))
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s, %+v: %v, want %s", c.own, c.ring, got, c.want)
		}
		// Upkeep goes by what is there.
		if rep, err := artifacts.Check(t.Context(), s, artifacts.CheckOptions{}); err != nil || len(rep.Problems) != 1 {
			t.Errorf("check: %v, %v", rep.Problems, err)
		}
		if g, err := artifacts.Collect(t.Context(), s, artifacts.GCOptions{DryRun: true}); err != nil || len(g.Blobs) != 0 {
			t.Errorf("collect: %v, %v", g.Blobs, err)
		}
	}
}

// TestCheckSignatures: a record that is not the one that was signed is a problem.
func TestCheckSignatures(t *testing.T) {
	s, alice, bob := mem.New(), key(t, "alice"), key(t, "bob")
	r := storetest.NewResult(t, s, "k", map[string]string{"out": "one"})
	publish(t, signing(s, alice), r)
	if rep, err := artifacts.Check(t.Context(), s, artifacts.CheckOptions{}); err != nil || len(rep.Problems) != 0 {
		t.Fatalf("%v, %v", rep.Problems, err)
	}
	r.Counts = map[string]int64{"records": 8}
	aside := mem.New()
	testkit.None(t, testkit.Err(artifacts.PutBytes(t.Context(), aside.Blobs, []byte("one"))))
	publish(t, artifacts.Alone(aside), r)
	putRecord(t, s, artifacts.ResultName(r.Key), string(stored(t, aside, r.Key)))
	putRecord(t, s, artifacts.SignatureName(r.Key, bob.Public()), `{"format":"redsi-signature/1"}`)
	for _, repair := range []bool{false, true} {
		rep, err := artifacts.Check(t.Context(), s, artifacts.CheckOptions{Repair: repair})
		if err != nil || len(rep.Problems) != 2 {
			t.Fatalf("%v, %v", rep.Problems, err)
		}
		all := rep.Problems[0].String() + "\n" + rep.Problems[1].String()
		if !strings.Contains(all, "signed by alice: the signature is for a different version of this record") || !strings.Contains(all, "it is not signed") ||
			rep.Problems[0].Repaired != repair {
			t.Errorf("repair %v: %s", repair, all)
		}
	}
	if rep, err := artifacts.Check(t.Context(), s, artifacts.CheckOptions{}); err != nil || len(rep.Problems) != 0 || rep.Results != 1 {
		t.Errorf("afterwards: %+v, %v", rep, err)
	}
}

// TestTransferIsExact: records go as they are, so that what was signed stays what is there.
func TestTransferIsExact(t *testing.T) {
	ctx := t.Context()
	from, to, alice := mem.New(), mem.New(), key(t, "alice")
	r := storetest.NewResult(t, from, "k", map[string]string{"out": "one"})
	odd := sealed(t, map[string]any{"format": artifacts.ResultFormat, "key": r.Key, "preimage": r.Preimage, "outputs": r.Outputs, "took_s": 1,
		"finished": r.Finished, "origin": r.Origin, "of_a_newer_release": "not known here"})
	putRecord(t, from, artifacts.ResultName(r.Key), string(odd))
	if done, err := artifacts.SignResult(ctx, from, r.Key, alice); !done || err != nil {
		t.Fatal(done, err)
	}
	about := []string{"attestations/" + r.Key.Hex() + "/1", "accepted/" + r.Key.Hex() + "/1"}
	for _, name := range about {
		putRecord(t, from, name, `{}`)
	}
	putRecord(t, from, "attestations/"+artifacts.Digest{9}.Hex()+"/1", `{}`)
	send := func(to artifacts.Store) artifacts.Transferred {
		t.Helper()
		x := &artifacts.Transfer{From: from.Reader(), To: to}
		testkit.None(t, x.Results(ctx, []artifacts.Digest{r.Key}))
		return x.Done()
	}
	if d := send(to); d.Results != 1 || d.Records != 3 {
		t.Errorf("%+v", d)
	}
	if got := stored(t, to, r.Key); !bytes.Equal(got, odd) {
		t.Errorf("it came as %s", got)
	}
	testkit.Is(t, signatures(t, to, r.Key), "alice true")
	testkit.Is(t, len(records(t, to, "")), 4, "records came", records(t, to, ""))
	// What is signed later goes after it.
	bob := key(t, "bob")
	testkit.None(t, testkit.Err(artifacts.SignResult(ctx, from, r.Key, bob)))
	if d := send(to); d.There != 1 || d.Records != 1 || signatures(t, to, r.Key) != "alice true, bob true" {
		t.Errorf("%+v, %s", d, signatures(t, to, r.Key))
	}
	// Where another record is there, it stays, and signatures are not of that.
	there := mem.New()
	publish(t, artifacts.Alone(there), storetest.NewResult(t, there, "k", map[string]string{"out": "one"}))
	if d := send(there); d.There != 1 || len(records(t, there, "signatures/")) != 0 || len(records(t, there, "attestations/")) != 1 {
		t.Errorf("%+v, %v", d, records(t, there, ""))
	}
}

// TestTransferOfMany: what is said about many results takes one listing of each sort.
func TestTransferOfMany(t *testing.T) {
	s, faults := storetest.Faulty(mem.New())
	to, alice := mem.New(), key(t, "alice")
	var keys []artifacts.Digest
	for i := range 40 {
		r := storetest.NewResult(t, s, fmt.Sprint(i), map[string]string{"out": "one"})
		publish(t, signing(s, alice), r)
		keys = append(keys, r.Key)
	}
	before := faults.Calls(storetest.RecordsList)
	x := &artifacts.Transfer{From: s.Reader(), To: to}
	testkit.None(t, x.Results(t.Context(), keys))
	if n := faults.Calls(storetest.RecordsList) - before; n != 3 || x.Done().Records != 40 {
		t.Errorf("%d listings, %+v", n, x.Done())
	}
}

// TestCollectAbout: what is said about a result keeps nothing, and goes when that goes.
func TestCollectAbout(t *testing.T) {
	c := newClock()
	s, rs := garbageStore(t, c)
	said := func(sort string, key artifacts.Digest, text string) string {
		name := sort + "/" + key.Hex() + "/1"
		putRecord(t, s, name, text)
		return name
	}
	made := storetest.Put(t, s, []byte("what a rebuild left"))
	x := artifacts.Sum([]byte("X")) // a run names it, and it has no result
	kept := []string{
		said("signatures", rs["B"].Key, rs["E"].Key.Hex()),
		said("attestations", rs["B"].Key, `"`+made.String()+`" `+rs["D"].Key.Hex()),
		said("accepted", x, "{}"),
	}
	gone := []string{
		said("signatures", rs["E"].Key, "{}"),
		said("accepted", rs["D"].Key, rs["D"].Key.Hex()),
		said("attestations", artifacts.Digest{7}, "{}"),
		said("about", rs["D"].Key, "{}"),
	}
	c.now = c.now.Add(30 * day)
	// Of two that may go one stays, with what is said about it.
	g := collect(t, s, artifacts.GCOptions{Now: c.now, Free: 50, DryRun: true})
	if steps(g) != "E" {
		t.Fatalf("with little to free goes %q", steps(g))
	}
	var names []string
	for _, r := range g.Records {
		names = append(names, r.Name)
	}
	if slices.Contains(names, gone[1]) || !slices.Contains(names, gone[0]) || !slices.Contains(names, gone[2]) {
		t.Errorf("go: %v", names)
	}
	g = collect(t, s, artifacts.GCOptions{Now: c.now})
	testkit.Is(t, steps(g), "E D", "go")
	left := records(t, s, "")
	for _, name := range kept {
		if !slices.Contains(left, name) {
			t.Errorf("%s is gone", name)
		}
	}
	for _, name := range gone {
		if slices.Contains(left, name) {
			t.Errorf("%s is left", name)
		}
	}
	if !blobSet(t, s)[made] {
		t.Error("what an attestation of a result names is gone")
	}
}

// accepted is a store with a result, and what accepts it for another key.
func accepted(t *testing.T, by *signature.Private) (s artifacts.Store, of *artifacts.Result, preimage []byte, a *artifacts.Acceptance) {
	t.Helper()
	s = mem.New()
	d, n, err := s.Blobs.Put(t.Context(), strings.NewReader("out"))
	testkit.None(t, err)
	old := []byte(`{"config":{"argv":"a"},"format":"redsi-key/1","kind":"k","version":1}`)
	of, _, err = artifacts.Publish(t.Context(), artifacts.Alone(s), artifacts.Result{Key: artifacts.KeyOf(old), Preimage: old, Took: time.Hour, Finished: time.Now(),
		Outputs: map[string]artifacts.Artifact{"out": {Type: "text", Digest: d, Size: n}}, Origin: artifacts.Origin{RunID: "r", Step: "step.k.x"}})
	testkit.None(t, err)
	preimage = bytes.Replace(old, []byte(`"a"`), []byte(`"a # <b>"`), 1)
	a, err = artifacts.NewAcceptance(artifacts.Acceptance{Key: artifacts.KeyOf(preimage), Of: of.Key, Step: "step.k.x", Outputs: of.OutputsDigest(),
		Changes: []artifacts.AcceptedChange{{Path: "config.argv", Old: `"a"`, New: `"a # <b>"`}}, Reason: "a comment", By: "alice", When: time.Unix(1e9, 0).UTC()}, by)
	testkit.None(t, err)
	return s, of, preimage, a
}

func TestAccept(t *testing.T) {
	s, of, preimage, a := accepted(t, key(t, "alice"))
	testkit.None(t, artifacts.Accept(t.Context(), artifacts.Alone(s), of, preimage, a))
	r, err := artifacts.Lookup(t.Context(), artifacts.Alone(s), a.Key)
	if err != nil || r == nil {
		t.Fatal(r, err)
	}
	back, err := r.Acceptance()
	if err != nil || back.Reason != "a comment" || back.Of != of.Key || back.ID() != a.ID() || strings.Contains(back.Sentence(), "not signed") || r.Took != time.Hour || r.OutputsDigest() != of.OutputsDigest() {
		t.Errorf("%+v %v of %+v", back, err, r)
	}
	if again, err := artifacts.Lookup(t.Context(), artifacts.Alone(s), of.Key); err != nil || again == nil || again.Origin.Accepted != "" {
		t.Errorf("the result that was accepted is now %+v, %v", again, err)
	}
	// It is kept: no run names it.
	g, err := artifacts.Collect(t.Context(), s, artifacts.GCOptions{Grace: time.Nanosecond, Now: time.Now().Add(time.Hour)})
	testkit.None(t, err)
	if r, err := artifacts.Lookup(t.Context(), artifacts.Alone(s), a.Key); err != nil || r == nil {
		t.Errorf("collected: %+v, %v", g, err)
	}
	list, err := artifacts.Acceptances(t.Context(), s)
	testkit.That(t, err == nil && len(list) == 1 && list[0].Ended == nil && list[0].ID() == a.ID(), list, err)
	their := mem.New()
	testkit.None(t, (&artifacts.Transfer{From: s.Reader(), To: their}).Results(t.Context(), []artifacts.Digest{a.Key}))
	testkit.None(t, testkit.Err(artifacts.SignResult(t.Context(), s, a.Key, key(t, "alice"))))
	testkit.None(t, artifacts.Withdraw(t.Context(), s, a, "bob", time.Unix(2e9, 0).UTC()))
	if r, err := artifacts.Lookup(t.Context(), artifacts.Alone(s), a.Key); err != nil || r != nil {
		t.Errorf("after it was withdrawn: %+v, %v", r, err)
	}
	if left := records(t, s, "signatures/"+a.Key.Hex()+"/"); len(left) != 0 {
		t.Errorf("after it was withdrawn its signatures are there: %v", left)
	}
	testkit.None(t, s.Records.Put(t.Context(), "pins/bytes", []byte(of.Outputs["out"].Digest.Hex())))
	// That it was withdrawn is known for good: a copy from elsewhere never counts again.
	for _, name := range []string{"no result", "gc", "a result of a run, and gc"} {
		if strings.HasPrefix(name, "a result") {
			made := *of
			made.Key, made.Preimage = a.Key, preimage
			storetest.Publish(t, s, made)
		}
		if strings.HasSuffix(name, "gc") {
			testkit.None(t, testkit.Err(artifacts.Collect(t.Context(), s, artifacts.GCOptions{Now: time.Now().Add(100 * time.Hour)})))
		}
		if list, err = artifacts.Acceptances(t.Context(), s); err != nil || len(list) != 1 || list[0].Ended == nil || list[0].Ended.By != "bob" {
			t.Errorf("%s: %+v, %v", name, list, err)
		}
		if r, err := artifacts.Lookup(t.Context(), artifacts.Alone(s), a.Key); err != nil || r != nil {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
		both := artifacts.With(s, []artifacts.Other{{Reader: their.Reader(), Name: "theirs"}}, artifacts.Policy{Foreign: artifacts.UseUntrusted})
		found, err := artifacts.Inspect(t.Context(), both, []artifacts.Digest{a.Key})
		if e := found[a.Key]; err != nil || e.Hit() || len(e.Passed) != 1 || e.Passed[0].Reason != artifacts.Withdrawn {
			t.Errorf("%s: the copy of another store: hit %v, %+v, %v", name, e.Hit(), e.Passed, err)
		}
		x := &artifacts.Transfer{From: their.Reader(), To: s}
		if err := x.Results(t.Context(), []artifacts.Digest{a.Key}); err != nil || x.Done().Results != 0 || !strings.Contains(x.Done().Lost[a.Key], "withdrawn") {
			t.Errorf("%s: a copy is sent: %+v, %v", name, x.Done(), err)
		}
	}
}

// TestAcceptedByWhom: who signed it decides whether it counts, in the store itself and in
// those of others.
func TestAcceptedByWhom(t *testing.T) { synctest.Test(t, acceptedByWhom) } // what nobody signs is waited for

func acceptedByWhom(t *testing.T) {
	alice, bob := key(t, "alice"), key(t, "bob")
	for name, c := range map[string]struct {
		by      *signature.Private
		policy  artifacts.Policy
		foreign bool
		why     artifacts.Reason // "" if it is a hit
	}{
		"nobody, and nobody is trusted":  {nil, artifacts.Policy{}, false, ""},
		"somebody, and nobody's trusted": {bob, artifacts.Policy{}, false, ""},
		"trusted":                        {alice, artifacts.Policy{Ring: signature.Ring{Trusted: []signature.Public{alice.Public()}}}, false, ""},
		"own":                            {bob, artifacts.Policy{Signer: bob, Ring: signature.Ring{Trusted: []signature.Public{alice.Public()}}}, false, ""},
		"unsigned":                       {nil, artifacts.Policy{Ring: signature.Ring{Trusted: []signature.Public{alice.Public()}}}, false, artifacts.Unsigned},
		"unknown":                        {bob, artifacts.Policy{Ring: signature.Ring{Trusted: []signature.Public{alice.Public()}}}, false, artifacts.UnknownKey},
		"revoked":                        {bob, artifacts.Policy{Ring: signature.Ring{Revoked: []signature.Public{bob.Public()}}}, false, artifacts.RevokedKey},
		"of another store, trusted":      {alice, artifacts.Policy{Foreign: artifacts.UseUntrusted, Ring: signature.Ring{Trusted: []signature.Public{alice.Public()}}}, true, ""},
		"of another store, unknown":      {bob, artifacts.Policy{Foreign: artifacts.UseUntrusted, Ring: signature.Ring{Trusted: []signature.Public{alice.Public()}}}, true, artifacts.UnknownKey},
		"of another store, revoked":      {bob, artifacts.Policy{Foreign: artifacts.UseUntrusted, Ring: signature.Ring{Revoked: []signature.Public{bob.Public()}}}, true, artifacts.RevokedKey},
	} {
		own, of, preimage, a := accepted(t, c.by)
		testkit.None(t, artifacts.Accept(t.Context(), artifacts.Alone(own), of, preimage, a))
		s := artifacts.With(own, nil, c.policy)
		if c.foreign {
			s = artifacts.With(mem.New(), []artifacts.Other{{Reader: own.Reader(), Name: "theirs"}}, c.policy)
		}
		found, err := artifacts.Inspect(t.Context(), s, []artifacts.Digest{a.Key})
		testkit.None(t, err)
		e := found[a.Key]
		if c.why == "" && !e.Hit() || c.why != "" && (e.Hit() || len(e.Passed) != 1 || e.Passed[0].Reason != c.why) {
			t.Errorf("%s: hit %v, %s", name, e.Hit(), e.Miss())
		}
		if c.why == "" || c.foreign {
			continue
		}
		// A run's own result takes its place.
		made := *of
		made.Key, made.Preimage = a.Key, preimage
		if won, _, err := artifacts.Publish(t.Context(), s, made); err != nil || won.Origin.Accepted != "" {
			t.Errorf("%s: %+v, %v", name, won, err)
		}
		if r, err := artifacts.Lookup(t.Context(), s, a.Key); err != nil || r == nil || r.Origin.Accepted != "" {
			t.Errorf("%s: after a run %+v, %v", name, r, err)
		}
	}
}

// TestAcceptedMeanwhile: a result that came in the place of the one that was looked up is
// not copied if it stands by the word of somebody who is not believed.
func TestAcceptedMeanwhile(t *testing.T) {
	alice := key(t, "alice")
	theirs, of, preimage, a := accepted(t, key(t, "bob"))
	made := *of
	made.Key, made.Preimage = a.Key, preimage
	storetest.Publish(t, theirs, made)
	own := mem.New()
	s := artifacts.With(own, []artifacts.Other{{Reader: theirs.Reader(), Name: "theirs"}},
		artifacts.Policy{Foreign: artifacts.UseUntrusted, Ring: signature.Ring{Trusted: []signature.Public{alice.Public()}}})
	hit, err := artifacts.Lookup(t.Context(), s, a.Key)
	if err != nil || hit == nil {
		t.Fatal(hit, err)
	}
	testkit.None(t, theirs.Records.Delete(t.Context(), artifacts.ResultName(a.Key)))
	testkit.None(t, artifacts.Accept(t.Context(), artifacts.Alone(theirs), of, preimage, a))
	testkit.ErrSays(t, artifacts.Bring(t.Context(), s, hit, nil), "bob")
	if r, err := artifacts.Lookup(t.Context(), artifacts.Alone(own), a.Key); err != nil || r != nil {
		t.Errorf("own has %+v, %v", r, err)
	}
}

// TestPlantedAcceptance: a text that is about another key, other outputs, or was changed
// after it was signed is not an acceptance.
func TestPlantedAcceptance(t *testing.T) {
	ctx := context.Background()
	from, result, preimage, a := accepted(t, key(t, "alice"))
	testkit.None(t, artifacts.Accept(ctx, artifacts.Alone(from), result, preimage, a))
	r, err := artifacts.Lookup(ctx, artifacts.Alone(from), a.Key)
	testkit.None(t, err)
	text := r.Origin.Accepted
	for name, plant := range map[string]func(r *artifacts.Result){
		"changed": func(r *artifacts.Result) { r.Origin.Accepted = strings.Replace(text, "a comment", "a Comment", 1) },
		"outputs": func(r *artifacts.Result) {
			r.Outputs["out"] = artifacts.Artifact{Type: "other", Digest: r.Outputs["out"].Digest, Size: 3}
		},
		"no JSON": func(r *artifacts.Result) { r.Origin.Accepted = "{" },
		"format":  func(r *artifacts.Result) { r.Origin.Accepted = `{"format":"redsi-accepted/2"}` },
		"key":     func(r *artifacts.Result) { r.Preimage = []byte(`{"x":1}`); r.Key = artifacts.KeyOf(r.Preimage) },
	} {
		s, of, preimage, _ := accepted(t, nil)
		r := *of
		r.Outputs = map[string]artifacts.Artifact{"out": of.Outputs["out"]}
		r.Key, r.Preimage, r.Origin.Accepted = a.Key, preimage, text
		plant(&r)
		storetest.Publish(t, s, r)
		found, err := artifacts.Inspect(ctx, artifacts.Alone(s), []artifacts.Digest{r.Key})
		if e := found[r.Key]; err != nil || e.Hit() || len(e.Passed) != 1 || e.Passed[0].Reason != artifacts.Damaged {
			t.Errorf("%s: hit %v, %s, %v", name, e.Hit(), e.Miss(), err)
		}
	}
	for _, bad := range []artifacts.Acceptance{{By: "a"}, {Reason: "r"}, {By: "a", Reason: strings.Repeat("r", 5000)}} {
		testkit.Some(t, testkit.Err(artifacts.NewAcceptance(bad, nil)), bad)
	}
}
