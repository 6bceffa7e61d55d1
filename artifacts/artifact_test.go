package artifacts_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/stores/local"
	"github.com/redsi/redsi/internal/stores/mem"
	"github.com/redsi/redsi/internal/stores/storetest"
	"github.com/redsi/redsi/internal/system/testkit"
)

func file(name, content string) artifacts.File {
	return artifacts.File{Name: name, Digest: artifacts.Sum([]byte(content)), Size: int64(len(content))}
}

func tree(t *testing.T, files ...artifacts.File) artifacts.Artifact {
	t.Helper()
	a, err := artifacts.Tree("records", files)
	testkit.None(t, err)
	return a
}

func TestTree(t *testing.T) {
	a := tree(t, file("b/2", "two"), file("a", "1"), file("b/1", "1"))
	// A tree's digest is part of cache keys: a change here is a change of format.
	const want = "sha256:aadbfc4750ab1bbfa86c9b90ba1437653dcc7178f7e8a31dc904c830af3ec73f"
	if a.Digest.String() != want || a.Size != 5 || a.Type != "records" {
		t.Errorf("tree %s, %d bytes, type %s; want %s", a.Digest, a.Size, a.Type, want)
	}
	testkit.Deep(t, a.Blobs(), []artifacts.Digest{artifacts.Sum([]byte("1")), artifacts.Sum([]byte("two"))}, "Blobs")
	if f, ok := a.File("b/1"); !ok || f != file("b/1", "1") {
		t.Errorf("File = %v, %v", f, ok)
	}
	if _, ok := a.File("b"); ok {
		t.Error("found a file that is a folder")
	}
	testkit.None(t, a.Validate())
}

func TestTreeDigestTellsContentApart(t *testing.T) {
	seen := map[artifacts.Digest]int{}
	for i, files := range [][]artifacts.File{
		{file("a", "1"), file("b", "2")},
		{file("a", "2"), file("b", "1")},
		{file("a", "1")},
		{file("a", "1"), file("c", "2")},
		{file(`a","digest":"`, "1")},
		{file("é", "1")},
		{file("e\u0301", "1")},
		{file("a/b", "1"), file("ab", "2")},
		{file("<&>", "1")},
	} {
		d := tree(t, files...).Digest
		if j, ok := seen[d]; ok {
			t.Errorf("trees %d and %d have one digest", i, j)
		}
		seen[d] = i
	}
	other, err := artifacts.Tree("another type", []artifacts.File{file("b", "2"), file("a", "1")})
	testkit.None(t, err, "the order of files or the type changed the digest")
	testkit.Is(t, seen[other.Digest], 0, "the order of files or the type changed the digest")
}

func TestTreeRejects(t *testing.T) {
	for name, files := range map[string][]artifacts.File{
		"a name":            {file("../x", "1")}, // as all of TestUnsafeNames
		"twice":             {file("a", "1"), file("a", "2")},
		"file and folder":   {file("a", "1"), file("a-", "1"), file("a/b/c", "2")},
		"no digest":         {{Name: "a", Size: 1}},
		"negative size":     {{Name: "a", Digest: artifacts.Sum(nil), Size: -1}},
		"sizes that exceed": {{Name: "a", Digest: artifacts.Sum(nil), Size: math.MaxInt64}, file("b", "1")},
	} {
		if a, err := artifacts.Tree("t", files); err == nil {
			t.Errorf("%s: accepted as %v", name, a)
		}
	}
}

func TestValidate(t *testing.T) {
	good := tree(t, file("a", "1"), file("b", "2"))
	for name, change := range map[string]func(*artifacts.Artifact){
		"digest": func(a *artifacts.Artifact) { a.Digest[0] ^= 1 },
		"size":   func(a *artifacts.Artifact) { a.Size++ },
		"order":  func(a *artifacts.Artifact) { slices.Reverse(a.Files) },
		"name":   func(a *artifacts.Artifact) { a.Files[0].Name = "c" },
		"file":   func(a *artifacts.Artifact) { a.Files[0].Digest[5] ^= 1 },
		"empty":  func(a *artifacts.Artifact) { a.Files = []artifacts.File{} },
		"blob":   func(a *artifacts.Artifact) { *a = artifacts.Artifact{Type: "t"} },
	} {
		a := good
		a.Files = slices.Clone(good.Files)
		if change(&a); a.Validate() == nil {
			t.Errorf("%s changed, and the tree is valid", name)
		}
	}
}

func TestLinksStayInside(t *testing.T) {
	for link, want := range map[string]string{
		"a -> b": "", "a/b -> ../c": "", "a/b -> ..": "", "a -> .": "", "a/b/c -> ../../x/y": "", "a -> b/c": "", "a -> …": "",
		"a -> ..": "outside", "a -> ../b": "outside", "a/b -> ../..": "outside", "a/b -> ../../x": "outside",
		"a -> b/../../x": "outside", "a -> b/../c": "not a clean", "a -> ./b": "not a clean", "a -> b/": "not a clean", "a -> ": "not a clean",
		"a -> /etc/passwd": "absolute", "a -> C:/x": "device or drive", "a -> b\\c": "backslash", "a -> con": "device", "a -> \xff": "UTF-8", "a -> x\ny": "control",
	} {
		name, target, _ := strings.Cut(link, " -> ")
		err := artifacts.CheckLink(name, target)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", link, err)
		}
	}
}

// TestModesOfTrees: what is not a file says the truth about what it leads to, or is refused.
func TestModesOfTrees(t *testing.T) {
	one := artifacts.File{Name: "one", Digest: artifacts.Sum([]byte("1")), Size: 1}
	link := func(name, target string) artifacts.File {
		return artifacts.File{Name: name, Mode: artifacts.Link, Link: target}
	}
	run := artifacts.File{Name: "sub/run", Digest: artifacts.Sum([]byte("run")), Size: 3, Mode: artifacts.Executable}
	empty := artifacts.File{Name: "empty", Digest: artifacts.Empty, Mode: artifacts.Folder}
	tree, err := artifacts.Tree("files", []artifacts.File{one, run, empty, link("a", "one"), link("sub/up", "../a"), link("s", "sub"),
		link("over", "s/run"), link("gone", "nothing"), link("x", "y"), link("y", "x"), link("dir", "empty"), link("below", "one/more")})
	testkit.None(t, err)
	testkit.None(t, tree.Validate())
	var read []string
	for _, f := range tree.Readable() {
		read = append(read, f.Name+"="+f.Digest.Hex()[:4])
	}
	r, s := run.Digest.Hex()[:4], one.Digest.Hex()[:4]
	if got, want := strings.Join(read, " "), "a="+s+" one="+s+" sub/run="+r+" sub/up="+s; got != want {
		t.Errorf("readable: %s, want %s", got, want)
	}
	plain, err := artifacts.Tree("files", []artifacts.File{one, {Name: "sub/run", Digest: run.Digest, Size: 3}})
	testkit.None(t, err)
	marked, err := artifacts.Tree("files", []artifacts.File{one, run})
	testkit.That(t, err == nil && marked.Digest != plain.Digest, "an x bit is not in the digest", err)

	lie := link("a", "one")
	lie.Digest, lie.Size = run.Digest, run.Size
	for want, files := range map[string][]artifacts.File{
		"is not the link that":       {one, lie},
		"outside of the folder":      {{Name: "a", Digest: artifacts.Empty, Mode: artifacts.Link, Link: "../x"}},
		"absolute":                   {{Name: "a", Digest: artifacts.Empty, Mode: artifacts.Link, Link: "/x"}},
		"does not know":              {{Name: "a", Digest: artifacts.Empty, Mode: "device"}},
		"is not the folder":          {{Name: "a", Digest: one.Digest, Size: 1, Mode: artifacts.Folder}},
		"is both a file and":         {empty, {Name: "empty/x", Digest: artifacts.Empty}},
		`"a" is both a file and the`: {{Name: "a", Digest: artifacts.Empty, Mode: artifacts.Link, Link: "."}, {Name: "a/x", Digest: artifacts.Empty}},
		"is not the executable":      {{Name: "a", Digest: one.Digest, Size: 1, Mode: artifacts.Executable, Link: "b"}},
		"is not the  that":           {{Name: "a", Digest: one.Digest, Size: 1, Link: "b"}},
	} {
		testkit.ErrSays(t, testkit.Err(artifacts.Tree("files", files)), want)
	}
}

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
	testkit.None(t, err)
	want := `{"sha256:` + abc + `":["","sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"]}`
	testkit.Is(t, string(b), want, "JSON")
	var out map[artifacts.Digest][]artifacts.Digest
	if err := json.Unmarshal(b, &out); err != nil || len(out) != 1 || !out[artifacts.Sum([]byte("abc"))][0].IsZero() {
		t.Errorf("back: %v, %v", out, err)
	}
	testkit.Some(t, json.Unmarshal([]byte(`{"nonsense":[]}`), &out), "a key that is no digest was accepted")
}

func TestRecordPath(t *testing.T) {
	for name, want := range map[string]string{
		"results/" + abc:      "results/" + abc + ".json",
		"runs/2026-11-21_1":   "runs/2026-11-21_1.json",
		"runs/A/b":            "runs/!a/b.json",
		"a.json/b":            "a%2ejson/b.json",
		"a.json":              "a.json.json",
		".git/x":              "%2egit/x.json",
		`step.x["tiny/42"]`:   "step.x%5b%22tiny/42%22%5d.json",
		"pins/é !":            "pins/%c3%a9%20%21.json",
		"checkpoints/k/00012": "checkpoints/k/00012.json",
	} {
		testkit.Is(t, artifacts.RecordPath(name), want, "RecordPath", name)
		if back, ok := artifacts.RecordName(want); !ok || back != name {
			t.Errorf("RecordName(%q) = %q, %v", want, back, ok)
		}
	}
	for _, path := range []string{"a", "a.txt", "A.json", "a b.json", "%4a.json", "%zz.json", "!.json", "!A.json", ".x.json", "a.json/b.json", "%.json"} {
		if name, ok := artifacts.RecordName(path); ok {
			t.Errorf("RecordName(%q) = %q, but no name has that path", path, name)
		}
	}
}

// FuzzRecordPath checks that a path leads back to its name, and stays one even
// where a file system ignores case.
func FuzzRecordPath(f *testing.F) {
	for _, s := range []string{"results/x", "a.json/b", "Ä!%41", "..", "a//b", ".json"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if artifacts.CheckRecord(name, nil) != nil {
			return
		}
		path := artifacts.RecordPath(name)
		if back, ok := artifacts.RecordName(path); !ok || back != name {
			t.Errorf("%q -> %q -> %q, %v", name, path, back, ok)
		}
		testkit.Is(t, strings.ToLower(path), path, name)
		for seg := range strings.SplitSeq(path, "/") {
			if strings.HasPrefix(seg, ".") || len(seg) > 250 {
				t.Errorf("%q -> %q has segment %q", name, path, seg)
			}
		}
	})
}

// sealed is a record as anybody who can write to a store can make it.
func sealed(t testing.TB, r map[string]any) []byte {
	t.Helper()
	b, err := json.Marshal(r)
	testkit.None(t, err)
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
		testkit.None(t, artifacts.CheckFileName(name))
	}
}

// TestPlaceStaysInside plants links where a name leads through.
func TestPlaceStaysInside(t *testing.T) {
	outside, folder := t.TempDir(), t.TempDir()
	testkit.None(t, errors.Join(os.Symlink(outside, filepath.Join(folder, "link")), os.Symlink(filepath.Join(outside, "f"), filepath.Join(folder, "f"))))
	for _, name := range []string{"link/x", "link/sub/x", "f"} {
		if local.Create(folder, name, 0o644, strings.NewReader("x")) == nil || local.Link(folder, name, "/etc/passwd") == nil {
			t.Errorf("%s was written", name)
		}
	}
	if left, err := os.ReadDir(outside); err != nil || len(left) != 0 {
		t.Errorf("written outside: %v, %v", left, err)
	}
	testkit.None(t, local.Create(folder, "new/x", 0o444, strings.NewReader("bytes")))
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
		testkit.None(t, err, what, report.Problems)
		testkit.Is(t, (len(report.Problems) == 1 && report.Problems[0].Repaired), what != "", what, report.Problems)
	}
}
