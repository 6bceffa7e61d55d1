package artifacts_test

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/stores/mem"
	"github.com/redsi/redsi/internal/stores/storetest"
	"github.com/redsi/redsi/internal/system/errtest"
	"github.com/redsi/redsi/internal/system/signature"
)

// accepted is a store with a result, and what accepts it for another key.
func accepted(t *testing.T, by *signature.Private) (s artifacts.Store, of *artifacts.Result, preimage []byte, a *artifacts.Acceptance) {
	t.Helper()
	s = mem.New()
	d, n, err := s.Blobs.Put(t.Context(), strings.NewReader("out"))
	errtest.None(t, err)
	old := []byte(`{"config":{"argv":"a"},"format":"redsi-key/1","kind":"k","version":1}`)
	of, _, err = artifacts.Publish(t.Context(), artifacts.Alone(s), artifacts.Result{Key: artifacts.KeyOf(old), Preimage: old, Took: time.Hour, Finished: time.Now(),
		Outputs: map[string]artifacts.Artifact{"out": {Type: "text", Digest: d, Size: n}}, Origin: artifacts.Origin{RunID: "r", Step: "step.k.x"}})
	errtest.None(t, err)
	preimage = bytes.Replace(old, []byte(`"a"`), []byte(`"a # <b>"`), 1)
	a, err = artifacts.NewAcceptance(artifacts.Acceptance{Key: artifacts.KeyOf(preimage), Of: of.Key, Step: "step.k.x", Outputs: of.OutputsDigest(),
		Changes: []artifacts.AcceptedChange{{Path: "config.argv", Old: `"a"`, New: `"a # <b>"`}}, Reason: "a comment", By: "alice", When: time.Unix(1e9, 0).UTC()}, by)
	errtest.None(t, err)
	return s, of, preimage, a
}

func TestAccept(t *testing.T) {
	s, of, preimage, a := accepted(t, key(t, "alice"))
	errtest.None(t, artifacts.Accept(t.Context(), artifacts.Alone(s), of, preimage, a))
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
	errtest.None(t, err)
	if r, err := artifacts.Lookup(t.Context(), artifacts.Alone(s), a.Key); err != nil || r == nil {
		t.Errorf("collected: %+v, %v", g, err)
	}
	list, err := artifacts.Acceptances(t.Context(), s)
	if err != nil || len(list) != 1 || list[0].Ended != nil || list[0].ID() != a.ID() {
		t.Errorf("%+v, %v", list, err)
	}
	their := mem.New()
	errtest.None(t, (&artifacts.Transfer{From: s.Reader(), To: their}).Results(t.Context(), []artifacts.Digest{a.Key}))
	errtest.None(t, errtest.Of(artifacts.SignResult(t.Context(), s, a.Key, key(t, "alice"))))
	errtest.None(t, artifacts.Withdraw(t.Context(), s, a, "bob", time.Unix(2e9, 0).UTC()))
	if r, err := artifacts.Lookup(t.Context(), artifacts.Alone(s), a.Key); err != nil || r != nil {
		t.Errorf("after it was withdrawn: %+v, %v", r, err)
	}
	if left := records(t, s, "signatures/"+a.Key.Hex()+"/"); len(left) != 0 {
		t.Errorf("after it was withdrawn its signatures are there: %v", left)
	}
	errtest.None(t, s.Records.Put(t.Context(), "pins/bytes", []byte(of.Outputs["out"].Digest.Hex())))
	// That it was withdrawn is known for good: a copy from elsewhere never counts again.
	for _, name := range []string{"no result", "gc", "a result of a run, and gc"} {
		if strings.HasPrefix(name, "a result") {
			made := *of
			made.Key, made.Preimage = a.Key, preimage
			storetest.Publish(t, s, made)
		}
		if strings.HasSuffix(name, "gc") {
			errtest.None(t, errtest.Of(artifacts.Collect(t.Context(), s, artifacts.GCOptions{Now: time.Now().Add(100 * time.Hour)})))
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
		errtest.None(t, artifacts.Accept(t.Context(), artifacts.Alone(own), of, preimage, a))
		s := artifacts.With(own, nil, c.policy)
		if c.foreign {
			s = artifacts.With(mem.New(), []artifacts.Other{{Reader: own.Reader(), Name: "theirs"}}, c.policy)
		}
		found, err := artifacts.Inspect(t.Context(), s, []artifacts.Digest{a.Key})
		errtest.None(t, err)
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
	errtest.None(t, theirs.Records.Delete(t.Context(), artifacts.ResultName(a.Key)))
	errtest.None(t, artifacts.Accept(t.Context(), artifacts.Alone(theirs), of, preimage, a))
	errtest.Says(t, artifacts.Bring(t.Context(), s, hit, nil), "bob")
	if r, err := artifacts.Lookup(t.Context(), artifacts.Alone(own), a.Key); err != nil || r != nil {
		t.Errorf("own has %+v, %v", r, err)
	}
}

// TestPlantedAcceptance: a text that is about another key, other outputs, or was changed
// after it was signed is not an acceptance.
func TestPlantedAcceptance(t *testing.T) {
	ctx := context.Background()
	from, result, preimage, a := accepted(t, key(t, "alice"))
	errtest.None(t, artifacts.Accept(ctx, artifacts.Alone(from), result, preimage, a))
	r, err := artifacts.Lookup(ctx, artifacts.Alone(from), a.Key)
	errtest.None(t, err)
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
		if _, err := artifacts.NewAcceptance(bad, nil); err == nil {
			t.Errorf("%+v is taken", bad)
		}
	}
}
