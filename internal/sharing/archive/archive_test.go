package archive

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/stores/mem"
	"github.com/redsi/redsi/internal/system/signature"
	"github.com/redsi/redsi/internal/system/testkit"
)

// random does not shrink when compressed.
var random = func() []byte {
	b := make([]byte, 3*sample)
	rand.Read(b)
	return b
}()

// publish leaves a result of a step with some blobs.
func publish(t testing.TB, s artifacts.Store, step string, blobs ...[]byte) *artifacts.Result {
	t.Helper()
	preimage := []byte(`{"config":{},"format":"redsi-key/1","kind":"` + step + `","version":1}`)
	r := artifacts.Result{Key: artifacts.KeyOf(preimage), Preimage: preimage, Outputs: map[string]artifacts.Artifact{}, Finished: time.Unix(1_700_000_000, 0), Took: time.Second}
	for i, b := range blobs {
		d, err := artifacts.PutBytes(t.Context(), s.Blobs, b)
		testkit.None(t, err)
		r.Outputs[string(rune('a'+i))] = artifacts.Artifact{Type: "file", Digest: d, Size: int64(len(b))}
	}
	won, _, err := artifacts.Publish(t.Context(), artifacts.Alone(s), r)
	testkit.None(t, err)
	return won
}

// pack writes an archive of all of a store, and a project of one file.
func pack(t testing.TB, s artifacts.Store, by *signature.Private, change func(m *Manifest)) []byte {
	t.Helper()
	var out bytes.Buffer
	w := NewWriter(&out)
	ctx := t.Context()
	m := Manifest{Pipeline: "pipelines.hcl", Created: "2026-01-01T00:00:00Z"}
	err := errors.Join(w.Bytes(ReadmeName, []byte("read me")), w.Project("pipelines.hcl", []byte("# a pipeline\n")), w.Project("assets/Ä.txt", []byte("ä")))
	for info, lerr := range s.Blobs.List(ctx) {
		err = errors.Join(err, lerr, w.Blob(ctx, s.Blobs, info.Digest))
		m.Blobs++
		m.Bytes += info.Size
	}
	r := w.Records()
	for info, lerr := range s.Records.List(ctx, "results/") {
		b, gerr := s.Records.Get(ctx, info.Name)
		err = errors.Join(err, lerr, gerr, r.Add(info.Name, b))
		m.Results++
	}
	m.Records = r.Digest()
	if change != nil {
		change(&m)
	}
	testkit.None(t, errors.Join(err, w.Close(m, by)))
	return out.Bytes()
}

// packed is an archive of one result of such blobs.
func packed(t testing.TB, change func(m *Manifest), blobs ...[]byte) []byte {
	t.Helper()
	s := mem.New()
	publish(t, s, "one", blobs...)
	return pack(t, s, nil, change)
}

func read(b []byte) (*Reader, error) {
	return NewReader(bytes.NewReader(b), int64(len(b)), Usual(int64(len(b))), "a.zip")
}

// taken is a store with what an archive has, verified, and the folder of its project.
func taken(t *testing.T, b []byte) (to artifacts.Store, dir string, err error) {
	to, dir = mem.New(), t.TempDir()
	a, err := read(b)
	if err == nil {
		err = a.Verify(t.Context())
	}
	if err != nil {
		return to, dir, err
	}
	keys, err := artifacts.ResultKeys(t.Context(), a.Reader().Records)
	tr := &artifacts.Transfer{From: a.Reader(), To: to}
	if err = errors.Join(err, tr.Results(t.Context(), keys)); err != nil || len(tr.Done().Lost) > 0 {
		return to, dir, cmp.Or(err, errors.New("lost"))
	}
	return to, dir, a.WriteProject(t.Context(), dir, to.Blobs)
}

// TestThereAndBack: what was packed comes out, verified, and is a store's; the same
// content has the same bytes.
func TestThereAndBack(t *testing.T) {
	s := mem.New()
	one := publish(t, s, "one", []byte("text"), random)
	publish(t, s, "two", bytes.Repeat([]byte("again and again "), 100_000), nil)
	by, err := signature.New("alice")
	testkit.None(t, err)
	b := pack(t, s, by, nil)
	if n := len(b); n > len(random)+100_000 {
		t.Errorf("the archive has %d bytes: what can be compressed was not", n)
	}
	a, err := read(b)
	testkit.None(t, err)
	if a.Signer != by.Public() || a.Manifest.Results != 2 || len(a.Others) > 0 {
		t.Errorf("%+v signed by %v, others %v", a.Manifest, a.Signer, a.Others)
	}
	to, dir, err := taken(t, b)
	testkit.None(t, err)
	if hit, err := artifacts.Lookup(t.Context(), artifacts.Alone(to), one.Key); err != nil || hit == nil {
		t.Errorf("%v, %v", hit, err)
	}
	testkit.Is(t, testkit.Text(t, filepath.Join(dir, "assets", "Ä.txt")), "ä")
}

// TestSameBytes packs the same store twice: List of blobs has no order, so one blob.
func TestSameBytes(t *testing.T) {
	if !bytes.Equal(packed(t, nil, []byte("text")), packed(t, nil, []byte("text"))) {
		t.Error("the same content has other bytes")
	}
}
