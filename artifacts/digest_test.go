package artifacts_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/system/errtest"
)

// abc is the SHA-256 of "abc" in FIPS 180-2.
const abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"

func TestParseDigest(t *testing.T) {
	d, err := artifacts.ParseDigest("sha256:" + abc)
	if err != nil || d != artifacts.Sum([]byte("abc")) {
		t.Fatalf("ParseDigest = %s, %v", d, err)
	}
	if d.String() != "sha256:"+abc || d.Hex() != abc || d.Short() != abc[:12] {
		t.Errorf("String %s, Hex %s, Short %s", d, d.Hex(), d.Short())
	}
	for _, s := range []string{
		"", "sha256:", abc, "sha1:" + abc, "sha256:" + abc[1:], "sha256:" + abc + "0",
		"sha256:" + strings.ToUpper(abc), "sha256:" + abc[:63] + "g", " sha256:" + abc, "SHA256:" + abc,
	} {
		if d, err := artifacts.ParseDigest(s); err == nil || !d.IsZero() {
			t.Errorf("ParseDigest(%q) = %s, %v; want an error", s, d, err)
		}
	}
}

func TestDigestJSON(t *testing.T) {
	in := map[artifacts.Digest][]artifacts.Digest{artifacts.Sum([]byte("abc")): {{}, artifacts.Sum(nil)}}
	b, err := json.Marshal(in)
	errtest.None(t, err)
	want := `{"sha256:` + abc + `":["","sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"]}`
	if string(b) != want {
		t.Errorf("JSON\n%s\nwant\n%s", b, want)
	}
	var out map[artifacts.Digest][]artifacts.Digest
	if err := json.Unmarshal(b, &out); err != nil || len(out) != 1 || !out[artifacts.Sum([]byte("abc"))][0].IsZero() {
		t.Errorf("back: %v, %v", out, err)
	}
	if err := json.Unmarshal([]byte(`{"nonsense":[]}`), &out); err == nil {
		t.Error("a key that is no digest was accepted")
	}
}
