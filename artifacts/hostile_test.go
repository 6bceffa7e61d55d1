package artifacts_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/stores/local"
	"github.com/redsi/redsi/internal/stores/mem"
	"github.com/redsi/redsi/internal/stores/storetest"
	"github.com/redsi/redsi/internal/system/errtest"
)

// sealed is a record as anybody who can write to a store can make it.
func sealed(t testing.TB, r map[string]any) []byte {
	t.Helper()
	b, err := json.Marshal(r)
	errtest.None(t, err)
	body := b[:len(b)-1]
	return fmt.Appendf(body, `,"seal":"%s"}`, artifacts.Sum(body))
}

// unsafeNames are file names that could lead out of a folder, or are another file
// elsewhere.
var unsafeNames = []string{"", ".", "..", "../x", "a/../../x", "/etc/passwd", `a\b`, `..\x`, "a\x00b", "a\nb", "a\x1b]52;c;x\a", "a//b", "a/",
	"\xff", "C:", "C:x", "c:/x", "NUL", "nul.txt", "a/COM1", "x.", "x ", "a./b", strings.Repeat("x", 256), strings.Repeat("x/", 600) + "x"}

func TestUnsafeNames(t *testing.T) {
	folder := t.TempDir()
	for _, name := range unsafeNames {
		if artifacts.CheckFileName(name) == nil {
			t.Errorf("%q is a file name", name)
		}
		if local.Create(folder, name, 0o644, strings.NewReader("x")) == nil || local.Link(folder, name, "/etc/passwd") == nil {
			t.Errorf("%q was written", name)
		}
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) != 0 {
		t.Errorf("left: %v, %v", left, err)
	}
	for _, name := range []string{"a", "a/b.c", "…/ü", "..a", "a..b", "console.log", "command.txt", "com10", "ab:c", ".hidden"} {
		if err := artifacts.CheckFileName(name); err != nil {
			t.Error(err)
		}
	}
}

// TestPlaceStaysInside plants links where a name leads through.
func TestPlaceStaysInside(t *testing.T) {
	outside, folder := t.TempDir(), t.TempDir()
	errtest.None(t, errors.Join(os.Symlink(outside, filepath.Join(folder, "link")), os.Symlink(filepath.Join(outside, "f"), filepath.Join(folder, "f"))))
	for _, name := range []string{"link/x", "link/sub/x", "f"} {
		if local.Create(folder, name, 0o644, strings.NewReader("x")) == nil || local.Link(folder, name, "/etc/passwd") == nil {
			t.Errorf("%s was written", name)
		}
	}
	if left, err := os.ReadDir(outside); err != nil || len(left) != 0 {
		t.Errorf("written outside: %v, %v", left, err)
	}
	errtest.None(t, local.Create(folder, "new/x", 0o444, strings.NewReader("bytes")))
	b, err := os.ReadFile(filepath.Join(folder, "new", "x"))
	if info, serr := os.Stat(filepath.Join(folder, "new", "x")); err != nil || serr != nil || string(b) != "bytes" || info.Mode() != 0o444 {
		t.Errorf("%q, %v, %v", b, err, serr)
	}
	if err := local.Create(folder, "new/x", 0o444, strings.NewReader("other")); !errors.Is(err, fs.ErrExist) {
		t.Errorf("over a file that is there: %v", err)
	}
}

// TestForgedResults files records whose seals are right: the seal proves nothing
// about who wrote them.
func TestForgedResults(t *testing.T) {
	d := artifacts.Sum([]byte("x"))
	preimage := `{"config":{"text":"a<b>\u0026\\u003c\u0001"},"kind":"k"}`
	honest := func() map[string]any {
		return map[string]any{"format": artifacts.ResultFormat, "key": artifacts.KeyOf([]byte(`{"config":{"text":"a<b>&\\u003c\u0001"},"kind":"k"}`)),
			"preimage": json.RawMessage(preimage), "finished": "2026-11-21T12:00:00Z", "took_s": 1, "origin": map[string]any{},
			"outputs": map[string]any{"out": map[string]any{"type": "text", "digest": d, "size": 1}}}
	}
	tree := func(name string) map[string]any {
		file := map[string]any{"name": name, "digest": d, "size": 1}
		b := fmt.Appendf(nil, `{"format":"redsi.tree/1","files":[{"name":%q,"digest":"%s","size":1}]}`, name, d)
		return map[string]any{"out": map[string]any{"type": "files", "digest": artifacts.Sum(b), "size": 1, "files": []any{file}}}
	}
	for what, forge := range map[string]func(map[string]any){
		"":                       func(map[string]any) {},
		"its preimage has the k": func(r map[string]any) { r["preimage"] = map[string]int{"evil": 1} },
		"not the name of an out": func(r map[string]any) { r["outputs"] = map[string]any{"../../x": r["outputs"].(map[string]any)["out"]} },
		"size of -1": func(r map[string]any) {
			r["outputs"] = map[string]any{"out": map[string]any{"type": "text", "digest": d, "size": -1}}
		},
		"no field outputs": func(r map[string]any) { delete(r, "outputs") },
		"no field outputs.out.digest": func(r map[string]any) {
			r["outputs"] = map[string]any{"out": map[string]any{"type": "text", "size": 1}}
		},
		"is not a short t": func(r map[string]any) { r["outputs"].(map[string]any)["out"].(map[string]any)["type"] = "\x1b]52" },
		", 0 bytes)":       func(r map[string]any) { r["outputs"].(map[string]any)["out"].(map[string]any)["files"] = []any{} },
		"took_s is -1":     func(r map[string]any) { r["took_s"] = -1 },
		"took_s is 1e+300": func(r map[string]any) { r["took_s"] = 1e300 },
		"does not match its files": func(r map[string]any) {
			r["outputs"] = tree("a")
			r["outputs"].(map[string]any)["out"].(map[string]any)["size"] = 7
		},
		"not a clean relative": func(r map[string]any) { r["outputs"] = tree("../../x") },
	} {
		s := mem.New()
		storetest.Put(t, s, []byte("x"))
		r := honest()
		forge(r)
		key := honest()["key"].(artifacts.Digest)
		putRecord(t, s, artifacts.ResultName(key), string(sealed(t, r)))
		entries, err := artifacts.Inspect(t.Context(), artifacts.Alone(s), []artifacts.Digest{key})
		e := entries[key]
		if err != nil || (what == "") != e.Hit() || (what == "") != (e.Damage == nil) || !strings.Contains(fmt.Sprint(e.Damage), what) && what != "" {
			t.Errorf("%s: hit %v, %v, %v", what, e.Hit(), e.Damage, err)
		}
		report, err := artifacts.Check(t.Context(), s, artifacts.CheckOptions{Repair: true})
		if err != nil || (len(report.Problems) == 1 && report.Problems[0].Repaired) != (what != "") {
			t.Errorf("%s: verify says %v, %v", what, report.Problems, err)
		}
	}
}

// TestPublishProvesItsKey: what Lookup would not take is not published.
func TestPublishProvesItsKey(t *testing.T) {
	s := mem.New()
	r := storetest.NewResult(t, s, "k", map[string]string{"out": "x"})
	r.Key = artifacts.Sum([]byte("another"))
	if _, _, err := artifacts.Publish(t.Context(), artifacts.Alone(s), r); err == nil || !strings.Contains(err.Error(), "its preimage has the key") {
		t.Errorf("Publish: %v", err)
	}
}
