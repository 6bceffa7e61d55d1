package stores_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/stores/mem"
	"github.com/redsi/redsi/internal/stores/storetest"
	"github.com/redsi/redsi/internal/system/errtest"
)

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
		if err != nil {
			t.Fatal(err)
		}
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
	if err != nil {
		t.Fatal(err)
	}
	reasons := map[string]artifacts.Reason{"unsigned": artifacts.Unsigned, "unknown": artifacts.UnknownKey, "revoked": artifacts.RevokedKey,
		"older": artifacts.NotSigned, "moved to": artifacts.NotSigned}
	for _, names := range []bool{false, true} {
		for name, want := range reasons {
			key := forged(name).Key
			if names {
				errtest.None(t, artifacts.ListAbout(t.Context(), theirs.Store, []artifacts.Digest{key}))
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
			if err := artifacts.Bring(t.Context(), s, &r, nil); err == nil {
				t.Errorf("%s: it is brought", name)
			}
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
