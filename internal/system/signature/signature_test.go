package signature

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/system/testkit"
)

func newKey(t *testing.T, name string) *Private {
	t.Helper()
	k, err := New(name)
	testkit.None(t, err)
	return k
}

func TestDocument(t *testing.T) {
	k := newKey(t, "alice")
	doc := []byte(`{"format":"redsi-test/1","key":"sha256:ab","n":1}`)
	signed, err := k.Sign(doc)
	testkit.None(t, err)
	if p, err := Signer(signed); err != nil || !p.Same(k.Public()) || p.Name != "alice" {
		t.Fatalf("signer %v, %v", p, err)
	}
	if p, err := Signer(doc); err != nil || !p.IsZero() {
		t.Fatalf("of an unsigned document: %v, %v", p, err)
	}
	for i := range signed {
		bad := bytes.Clone(signed)
		bad[i] ^= 1
		if p, err := Signer(bad); err == nil && !p.IsZero() {
			t.Errorf("byte %d of %s may be changed", i, signed)
		}
	}
	testkit.Some(t, testkit.Err(k.Sign(signed)), "a signed document is signed again")
	testkit.Some(t, testkit.Err(k.Sign([]byte(`{"key":1}`))), "a document without a format is signed")
	// Who sees the document without its last two members, or with others after them, is told.
	for _, bad := range []string{
		strings.Replace(string(signed), `"signature"`, `"signatory"`, 1),
		strings.TrimSuffix(string(signed), "}") + `,"n":2}`,
	} {
		testkit.Some(t, testkit.Err(Signer([]byte(bad))), bad)
	}
}

func TestKeyFile(t *testing.T) {
	k := newKey(t, "bob@host.1")
	path := filepath.Join(t.TempDir(), "keys", "redsi.key")
	testkit.None(t, k.Write(path))
	back, err := Read(path)
	if err != nil || back.Public() != k.Public() {
		t.Fatalf("%v, %v", back, err)
	}
	if err := k.Write(path); !os.IsExist(err) {
		t.Errorf("a key is written over another: %v", err)
	}
	testkit.None(t, os.Chmod(path, 0o640))
	testkit.ErrSays(t, testkit.Err(Read(path)), "chmod 600")
	if p, err := ParsePublic(k.Public().String()); err != nil || p != k.Public() || len(p.ID()) != 16 {
		t.Errorf("%v, %v", p, err)
	}
	for _, bad := range []string{"", "x", ":AAAA", "a b:AAAA", "alice:AAAA", "alice:!", k.Public().String() + "A"} {
		testkit.Some(t, testkit.Err(ParsePublic(bad)), bad)
	}
}

func TestRing(t *testing.T) {
	a, b, c := newKey(t, "a").Public(), newKey(t, "b").Public(), newKey(t, "c").Public()
	r := Ring{Trusted: []Public{a, b}, Revoked: []Public{b}}
	renamed := a
	renamed.Name = "other"
	for p, want := range map[Public]Standing{a: Trusted, renamed: Trusted, b: Revoked, c: Unknown, {}: Unknown} {
		testkit.Is(t, r.Of(p), want, p.Name)
	}
}
