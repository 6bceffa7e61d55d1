package artifacts_test

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/stores/mem"
	"github.com/redsi/redsi/internal/stores/storetest"
	"github.com/redsi/redsi/internal/system/signature"
	"github.com/redsi/redsi/internal/system/testkit"
)

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
	testkit.None(t, err)
	s := artifacts.With(mem.New(), []artifacts.Other{{Reader: theirs.Reader(), Name: "friend"}}, artifacts.Policy{Ring: signature.Ring{Trusted: []signature.Public{alice.Public()}}})
	before := faults.Calls(storetest.BlobsOpen)
	found, err := artifacts.Inspect(t.Context(), s, []artifacts.Digest{r.Key})
	if e := found[r.Key]; err != nil || e.Hit() || len(e.Passed) != 1 || e.Passed[0].Reason != artifacts.Unsigned {
		t.Errorf("%+v, %v", e, err)
	}
	testkit.Is(t, faults.Calls(storetest.BlobsOpen)-before, 0, "blobs were read")
	testkit.None(t, testkit.Err(artifacts.SignResult(t.Context(), theirs, r.Key, alice)))
	s = artifacts.With(mem.New(), []artifacts.Other{{Reader: theirs.Reader(), Name: "friend"}}, artifacts.Policy{Ring: signature.Ring{Trusted: []signature.Public{alice.Public()}}})
	if hit, err := artifacts.Lookup(t.Context(), s, r.Key); hit == nil || err != nil {
		t.Errorf("signed by alice: %v, %v", hit, err)
	}
}

// TestOwnWithoutOthers: what has neither others nor a policy that asks for it costs no
// further request, nor does following where blobs lie for what is whole.
func TestOwnWithoutOthers(t *testing.T) {
	s, faults := storetest.Faulty(mem.New())
	r := storetest.NewResult(t, s, "k", map[string]string{"out": "one"})
	publish(t, artifacts.Alone(s), r)
	alice, err := signature.New("alice")
	testkit.None(t, err)
	before := faults.Calls(storetest.RecordsGet)
	ring := signature.Ring{Trusted: []signature.Public{alice.Public()}}
	for i, s := range []*artifacts.Resolver{artifacts.Alone(s), artifacts.With(s, nil, artifacts.Policy{}), artifacts.With(s, nil, artifacts.Policy{Ring: ring, Foreign: "verify"}), artifacts.With(s, nil, from(nil))} {
		for range 2 {
			testkit.None(t, testkit.Err(artifacts.LookupMany(t.Context(), s, []artifacts.Digest{r.Key, {1}})))
		}
		testkit.Is(t, faults.Calls(storetest.RecordsGet)-before, 4*(i+1), i)
	}
	testkit.Is(t, faults.Calls(storetest.RecordsList), 0, "listings")
}

func TestPolicy(t *testing.T) {
	alice, err := signature.New("alice")
	testkit.None(t, err)
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

const farAway = "https://far.example/data"

// leftOut is a store with a result without one of its blobs, which lies at an address.
func leftOut(t *testing.T, url string) (artifacts.Store, artifacts.Result) {
	s := mem.New()
	r := storetest.NewResult(t, s, "k", map[string]string{"far": "far", "near": "near"})
	publish(t, artifacts.Alone(s), r)
	drop(t, s, r)
	testkit.None(t, artifacts.PutElsewhere(t.Context(), s, artifacts.Elsewhere{Digest: r.Outputs["far"].Digest, Size: 3, URL: url}))
	return s, r
}

func drop(t *testing.T, s artifacts.Store, r artifacts.Result) {
	testkit.None(t, s.Blobs.Delete(t.Context(), r.Outputs["far"].Digest))
}

// from serves what lies elsewhere; nil is gone.
func from(what *string) artifacts.Policy {
	return artifacts.Policy{Elsewhere: func(_ context.Context, e artifacts.Elsewhere) (io.ReadCloser, error) {
		if e.From != "" || what == nil {
			return nil, artifacts.ErrNotExist
		}
		return io.NopCloser(strings.NewReader(*what)), nil
	}}
}

func isHit(t *testing.T, s *artifacts.Resolver, key artifacts.Digest) bool {
	found, err := artifacts.Inspect(t.Context(), s, []artifacts.Digest{key})
	testkit.None(t, err)
	return found[key].Hit()
}

// TestOwnElsewhere: a store follows its own records of where blobs are, and says which
// address failed it.
func TestOwnElsewhere(t *testing.T) {
	ctx := t.Context()
	s, r := leftOut(t, farAway)
	far := r.Outputs["far"].Digest
	if isHit(t, artifacts.Alone(s), r.Key) {
		t.Error("a hit where nobody follows records")
	}
	gone := artifacts.With(s, nil, from(nil))
	if !isHit(t, gone, r.Key) {
		t.Error("no hit")
	}
	for range 2 {
		if _, err := gone.Open(ctx, far); !errors.Is(err, artifacts.ErrNotExist) || !strings.Contains(err.Error(), farAway) {
			t.Errorf("from a dead address: %v", err)
		}
	}
	if isHit(t, gone, r.Key) {
		t.Error("a hit whose address is known to be dead")
	}
	var bad *artifacts.IntegrityError
	if _, err := artifacts.With(s, nil, from(new("for"))).Open(ctx, far); !errors.As(err, &bad) || !strings.Contains(err.Error(), farAway) {
		t.Errorf("other bytes: %v", err)
	}
	fine := artifacts.With(s, nil, from(new("far")))
	if got, err := artifacts.ReadBlob(ctx, fine, far, 9); string(got) != "far" || err != nil {
		t.Errorf("read %q, %v", got, err)
	}
	if !isHit(t, artifacts.Alone(s), r.Key) {
		t.Error("what was fetched is not kept")
	}
	// Nobody's records make us ask programs of this machine, or over a wire that anybody reads.
	s, r = leftOut(t, "http://127.0.0.1/data")
	if isHit(t, artifacts.With(s, nil, from(new("far"))), r.Key) {
		t.Error("a hit by plain http")
	}
}

// TestPublishFetches: a result is never filed without its blobs, wherever they lie.
func TestPublishFetches(t *testing.T) {
	s, r := leftOut(t, farAway)
	testkit.None(t, artifacts.DropResult(t.Context(), s, r.Key))
	if _, _, err := artifacts.Publish(t.Context(), artifacts.With(s, nil, from(nil)), r); err == nil {
		t.Error("filed without its blob")
	}
	if _, _, err := artifacts.Publish(t.Context(), artifacts.With(s, nil, from(new("far"))), r); err != nil || !isHit(t, artifacts.Alone(s), r.Key) {
		t.Errorf("%v, or it has not all of its blobs", err)
	}
}

// TestTransferElsewhere: a result whose blob lies elsewhere goes with the record that says
// where, and the blob itself once somebody has it.
func TestTransferElsewhere(t *testing.T) {
	ctx := t.Context()
	s, r := leftOut(t, farAway)
	send := func(from, to artifacts.Store, dry bool) artifacts.Transferred {
		t.Helper()
		x := &artifacts.Transfer{From: from.Reader(), To: to, DryRun: dry}
		testkit.None(t, x.Results(ctx, []artifacts.Digest{r.Key}))
		return x.Done()
	}
	to := mem.New()
	for _, dry := range []bool{true, false} {
		if d := send(s, to, dry); d.Results != 1 || d.Blobs != 1 || d.Bytes != 4 || d.Elsewhere != 1 || len(d.Lost) > 0 {
			t.Errorf("dry %v: %+v", dry, d)
		}
	}
	if d := send(s, to, false); d.There != 1 || d.Results+d.Blobs+d.Elsewhere > 0 {
		t.Errorf("again: %+v", d)
	}
	if !isHit(t, artifacts.With(to, nil, from(nil)), r.Key) {
		t.Error("no hit")
	}
	// How much may be fetched is what the result says.
	testkit.None(t, artifacts.PutElsewhere(ctx, s, artifacts.Elsewhere{Digest: r.Outputs["far"].Digest, Size: 1 << 40, URL: farAway}))
	other := mem.New()
	send(s, other, false)
	if away, _, err := other.Away(ctx, []artifacts.Digest{r.Outputs["far"].Digest}); err != nil || len(away) != 1 || away[0].Size != 3 {
		t.Errorf("%+v, %v", away, err)
	}
	whole := mem.New()
	storetest.NewResult(t, whole, "k", map[string]string{"far": "far", "near": "near"})
	publish(t, artifacts.Alone(whole), r)
	if d := send(whole, to, false); d.Blobs != 1 || !isHit(t, artifacts.Alone(to), r.Key) {
		t.Errorf("of one that has the blob: %+v", d)
	}
	if d := send(s, whole, false); d.There != 1 || d.Blobs+d.Elsewhere > 0 {
		t.Errorf("to one that has the blob: %+v", d)
	}
	// Without the record, or with one that nobody would follow, it is lost.
	s, r = leftOut(t, "http://127.0.0.1/data")
	if d := send(s, mem.New(), false); len(d.Lost) != 1 || d.Results > 0 {
		t.Errorf("of a store that lost a blob: %+v", d)
	}
}

// TestUpkeepElsewhere: verify tells what lies elsewhere and finds nothing wrong, and garbage
// collection keeps the record as long as a result that needs it.
func TestUpkeepElsewhere(t *testing.T) {
	ctx := t.Context()
	s, r := leftOut(t, farAway)
	putRecord(t, s, "pins/p", `{"results":["`+r.Key.String()+`"]}`)
	rep, err := artifacts.Check(ctx, s, artifacts.CheckOptions{Repair: true})
	if err != nil || len(rep.Problems) > 0 || len(rep.Elsewhere) != 1 || rep.Elsewhere[0].URL != farAway {
		t.Errorf("%+v, %v", rep, err)
	}
	lost := artifacts.Sum([]byte("lost"))
	away, gone, err := s.Away(ctx, []artifacts.Digest{lost, r.Outputs["far"].Digest, r.Outputs["near"].Digest})
	if err != nil || !slices.Equal(away, rep.Elsewhere) || !slices.Equal(gone, []artifacts.Digest{lost}) {
		t.Errorf("away %v, gone %v, %v", away, gone, err)
	}
	later := artifacts.GCOptions{Now: time.Now().Add(999 * time.Hour)}
	if g, err := artifacts.Collect(ctx, s, later); err != nil || len(g.Results)+len(g.Records)+len(g.Blobs) > 0 {
		t.Errorf("deleted %+v, %v", g, err)
	}
	if !isHit(t, artifacts.With(s, nil, from(nil)), r.Key) {
		t.Error("garbage collection lost a hit")
	}
	testkit.None(t, s.Records.Delete(ctx, "pins/p"))
	if g, err := artifacts.Collect(ctx, s, later); err != nil || len(g.Results) != 1 {
		t.Errorf("%+v, %v", g, err)
	}
	testkit.None(t, testkit.Err(artifacts.Collect(ctx, s, later)))
	if _, err := s.Records.Get(ctx, artifacts.ElsewhereName(r.Outputs["far"].Digest)); !errors.Is(err, artifacts.ErrNotExist) {
		t.Errorf("a record about nothing: %v", err)
	}
}
