package signers

import (
	"testing"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/stores/mem"
	"github.com/redsi/redsi/internal/stores/storetest"
	"github.com/redsi/redsi/internal/system/signature"
	"github.com/redsi/redsi/internal/system/testkit"
)

func key(t *testing.T, name string) *signature.Private {
	k, err := signature.New(name)
	testkit.None(t, err)
	return k
}

// TestSign: a result is signed once by a key, and only after another one where that is asked;
// what cannot be used is not signed.
func TestSign(t *testing.T) {
	s := mem.New()
	var keys []artifacts.Digest
	for _, name := range []string{"a", "b", "lost"} {
		r := storetest.NewResult(t, s, name, map[string]string{"o": name})
		storetest.Publish(t, s, r)
		if keys = append(keys, r.Key); name == "lost" {
			testkit.None(t, s.Blobs.Delete(t.Context(), r.Outputs["o"].Digest))
		}
	}
	alice, bob := key(t, "alice"), key(t, "bob")
	damaged := func(artifacts.Digest, string) {}
	for _, c := range []struct {
		by   Signing
		keys []artifacts.Digest
		want Signed
	}{
		{Signing{alice, signature.Public{}, damaged}, keys[:1], Signed{Signed: 1}},
		{Signing{alice, signature.Public{}, damaged}, keys[:1], Signed{There: 1}},
		{Signing{bob, alice.Public(), damaged}, keys, Signed{Signed: 1, Passed: 1, Damaged: 1}},
	} {
		testkit.Of(t, c.want)(c.by.Sign(t.Context(), artifacts.Alone(s), c.keys))
	}
	list, err := List(t.Context(), s, keys, signature.Ring{Trusted: []signature.Public{bob.Public()}}, alice)
	if err != nil || len(list) != 3 || list[0].Key != "" || list[0].Results != 2 {
		t.Fatalf("%+v, %v", list, err)
	}
	for _, x := range list[1:] {
		if x.Results != 1 || x.Own != (x.Key == alice.Public().String()) || (x.Standing == string(signature.Trusted)) == x.Own {
			t.Errorf("%+v", x)
		}
	}
}
