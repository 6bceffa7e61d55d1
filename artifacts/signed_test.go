package artifacts_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/corpora/unpack/goldens"
	"github.com/redsi/redsi/internal/stores/mem"
	"github.com/redsi/redsi/internal/stores/storetest"
	"github.com/redsi/redsi/internal/system/errtest"
	"github.com/redsi/redsi/internal/system/signature"
)

func key(t *testing.T, name string) *signature.Private {
	t.Helper()
	k, err := signature.New(name)
	errtest.None(t, err)
	return k
}

// signing is s with a key that signs what is published.
func signing(s artifacts.Store, by *signature.Private) *artifacts.Resolver {
	return artifacts.With(s, nil, artifacts.Policy{Signer: by})
}

func signatures(t *testing.T, s artifacts.Store, key artifacts.Digest) string {
	t.Helper()
	all, err := artifacts.Signatures(t.Context(), s.Records, key)
	errtest.None(t, err)
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
	if got := signatures(t, s, r.Key); got != "alice true, bob true" {
		t.Errorf("the same record was filed by two: %s", got)
	}
	other := storetest.NewResult(t, s, "k", map[string]string{"out": "two"})
	second := mem.New()
	publish(t, signing(second, alice), storetest.NewResult(t, second, "k", map[string]string{"out": "one"}))
	errtest.None(t, errtest.Of(artifacts.PutBytes(t.Context(), second.Blobs, []byte("two"))))
	if _, differs, err := artifacts.Publish(t.Context(), signing(second, bob), other); err != nil || !differs {
		t.Fatal(differs, err)
	}
	if got := signatures(t, second, r.Key); got != "alice true" {
		t.Errorf("who lost signed: %s", got)
	}
	// The first one loses its blob: the other takes its place, and only its own signature counts.
	errtest.None(t, second.Blobs.Delete(t.Context(), r.Outputs["out"].Digest))
	if won, _, err := artifacts.Publish(t.Context(), signing(second, bob), other); err != nil || won.OutputsDigest() != other.OutputsDigest() {
		t.Fatal(won, err)
	}
	if got := signatures(t, second, r.Key); got != "bob true" {
		t.Errorf("after it was replaced: %s", got)
	}
	errtest.None(t, artifacts.DropResult(t.Context(), second, r.Key))
	if left := records(t, second, "signatures/"); len(left) != 0 {
		t.Errorf("a result that was deleted left %v", left)
	}
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
	errtest.None(t, s.Blobs.Delete(t.Context(), lost.Outputs["out"].Digest))
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
		errtest.None(t, err)
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
	errtest.None(t, errtest.Of(artifacts.PutBytes(t.Context(), aside.Blobs, []byte("one"))))
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
		errtest.None(t, x.Results(ctx, []artifacts.Digest{r.Key}))
		return x.Done()
	}
	if d := send(to); d.Results != 1 || d.Records != 3 {
		t.Errorf("%+v", d)
	}
	if got := stored(t, to, r.Key); !bytes.Equal(got, odd) {
		t.Errorf("it came as %s", got)
	}
	if got := signatures(t, to, r.Key); got != "alice true" {
		t.Errorf("signed by %q", got)
	}
	if got := len(records(t, to, "")); got != 4 {
		t.Errorf("%d records came: %v", got, records(t, to, ""))
	}
	// What is signed later goes after it.
	bob := key(t, "bob")
	errtest.None(t, errtest.Of(artifacts.SignResult(ctx, from, r.Key, bob)))
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
	errtest.None(t, x.Results(t.Context(), keys))
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
	if steps(g) != "E D" {
		t.Errorf("go %q", steps(g))
	}
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
