package artifacts_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/stores/mem"
	"github.com/redsi/redsi/internal/stores/storetest"
	"github.com/redsi/redsi/internal/system/errtest"
	"github.com/redsi/redsi/internal/system/signature"
)

// TestElsewhereOfOwn: own may say where a blob is that it lacks, too.
func TestElsewhereOfOwn(t *testing.T) {
	own := mem.New()
	r := storetest.NewResult(t, own, "k", map[string]string{"out": "one"})
	d := r.Outputs["out"].Digest
	publish(t, artifacts.Alone(own), r)
	errtest.None(t, errors.Join(own.Blobs.Delete(t.Context(), d),
		artifacts.PutElsewhere(t.Context(), own, artifacts.Elsewhere{Digest: d, Size: 3, URL: "https://a.example/one"})))
	// Upkeep knows that it is not lost.
	if rep, err := artifacts.Check(t.Context(), own, artifacts.CheckOptions{Repair: true}); err != nil || len(rep.Problems) != 0 {
		t.Errorf("check: %v, %v", rep.Problems, err)
	}
	putRecord(t, own, "pins/v1", r.Key.Hex())
	other := artifacts.Digest{5}
	errtest.None(t, artifacts.PutElsewhere(t.Context(), own, artifacts.Elsewhere{Digest: other, Size: 3, URL: "https://a.example/two"}))
	collect(t, own, artifacts.GCOptions{Now: time.Now().Add(30 * day)})
	if left := records(t, own, "elsewhere/"); len(left) != 1 || left[0] != artifacts.ElsewhereName(d) {
		t.Errorf("collected: %v", left)
	}
	var asked []string
	s := artifacts.With(own, nil, artifacts.Policy{Elsewhere: func(_ context.Context, e artifacts.Elsewhere) (io.ReadCloser, error) {
		asked = append(asked, e.URL)
		return io.NopCloser(strings.NewReader("one")), nil
	}})
	if hit, err := artifacts.Lookup(t.Context(), s, r.Key); hit == nil || err != nil || len(asked) != 0 {
		t.Fatalf("%v, %v, asked for %v", hit, err, asked)
	}
	for range 2 {
		if b, err := artifacts.ReadBlob(t.Context(), s, d, 9); string(b) != "one" || err != nil || len(asked) != 1 {
			t.Errorf("%q, %v, asked for %v", b, err, asked)
		}
	}
}

// TestChangedOnTheWay: bytes that come wrong once are asked for again.
func TestChangedOnTheWay(t *testing.T) {
	theirs, faults := storetest.Faulty(mem.New())
	d := storetest.Put(t, theirs, []byte("one"))
	faults.Add(storetest.BlobsOpen, storetest.Fault{Flip: true})
	s := artifacts.With(mem.New(), []artifacts.Other{{Reader: theirs.Reader(), Name: "friend"}}, artifacts.Policy{})
	if b, err := artifacts.ReadBlob(t.Context(), s, d, 9); string(b) != "one" || err != nil || len(faults.Pending()) != 0 {
		t.Errorf("%q, %v", b, err)
	}
}

// TestLongOfNobody: the body of a long result, which may be hundreds of MiB, is read only
// if its record is believed.
func TestLongOfNobody(t *testing.T) {
	theirs, faults := storetest.Faulty(mem.New())
	r := largeResult(t, theirs)
	publish(t, artifacts.Alone(theirs), r)
	alice, err := signature.New("alice")
	errtest.None(t, err)
	s := artifacts.With(mem.New(), []artifacts.Other{{Reader: theirs.Reader(), Name: "friend"}}, artifacts.Policy{Ring: signature.Ring{Trusted: []signature.Public{alice.Public()}}})
	before := faults.Calls(storetest.BlobsOpen)
	found, err := artifacts.Inspect(t.Context(), s, []artifacts.Digest{r.Key})
	if e := found[r.Key]; err != nil || e.Hit() || len(e.Passed) != 1 || e.Passed[0].Reason != artifacts.Unsigned {
		t.Errorf("%+v, %v", e, err)
	}
	if n := faults.Calls(storetest.BlobsOpen) - before; n != 0 {
		t.Errorf("%d blobs were read", n)
	}
	errtest.None(t, errtest.Of(artifacts.SignResult(t.Context(), theirs, r.Key, alice)))
	s = artifacts.With(mem.New(), []artifacts.Other{{Reader: theirs.Reader(), Name: "friend"}}, artifacts.Policy{Ring: signature.Ring{Trusted: []signature.Public{alice.Public()}}})
	if hit, err := artifacts.Lookup(t.Context(), s, r.Key); hit == nil || err != nil {
		t.Errorf("signed by alice: %v, %v", hit, err)
	}
}

// TestOwnWithoutOthers: what has neither others nor a policy that asks for it costs no
// further request.
func TestOwnWithoutOthers(t *testing.T) {
	s, faults := storetest.Faulty(mem.New())
	r := storetest.NewResult(t, s, "k", map[string]string{"out": "one"})
	publish(t, artifacts.Alone(s), r)
	alice, err := signature.New("alice")
	errtest.None(t, err)
	before := faults.Calls(storetest.RecordsGet)
	ring := signature.Ring{Trusted: []signature.Public{alice.Public()}}
	for i, s := range []*artifacts.Resolver{artifacts.Alone(s), artifacts.With(s, nil, artifacts.Policy{}), artifacts.With(s, nil, artifacts.Policy{Ring: ring, Foreign: "verify"})} {
		for range 2 {
			errtest.None(t, errtest.Of(artifacts.LookupMany(t.Context(), s, []artifacts.Digest{r.Key, {1}})))
		}
		if n := faults.Calls(storetest.RecordsGet) - before; n != 4*(i+1) {
			t.Errorf("store %d: %d records were read so far", i, n)
		}
	}
	if n := faults.Calls(storetest.RecordsList); n != 0 {
		t.Errorf("%d listings", n)
	}
}

func TestPolicy(t *testing.T) {
	alice, err := signature.New("alice")
	errtest.None(t, err)
	revoked := signature.Ring{Revoked: []signature.Public{alice.Public()}}
	for want, p := range map[string]artifacts.Policy{
		"":                    {Foreign: artifacts.VerifyUntrusted},
		"want \"run\"":        {Foreign: "never"},
		"redsi key new":       {Own: artifacts.RunUntrusted},
		"is revoked":          {Own: artifacts.VerifyUntrusted, Signer: alice, Ring: revoked},
		"shared = \"always\"": {Own: "always"},
	} {
		if err := p.Validate(); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", p, err, want)
		}
	}
}
