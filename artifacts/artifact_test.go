package artifacts_test

import (
	"math"
	"slices"
	"testing"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/system/errtest"
)

func file(name, content string) artifacts.File {
	return artifacts.File{Name: name, Digest: artifacts.Sum([]byte(content)), Size: int64(len(content))}
}

func tree(t *testing.T, files ...artifacts.File) artifacts.Artifact {
	t.Helper()
	a, err := artifacts.Tree("records", files)
	errtest.None(t, err)
	return a
}

func TestTree(t *testing.T) {
	a := tree(t, file("b/2", "two"), file("a", "1"), file("b/1", "1"))
	// A tree's digest is part of cache keys: a change here is a change of format.
	const want = "sha256:aadbfc4750ab1bbfa86c9b90ba1437653dcc7178f7e8a31dc904c830af3ec73f"
	if a.Digest.String() != want || a.Size != 5 || a.Type != "records" {
		t.Errorf("tree %s, %d bytes, type %s; want %s", a.Digest, a.Size, a.Type, want)
	}
	if got := a.Blobs(); !slices.Equal(got, []artifacts.Digest{artifacts.Sum([]byte("1")), artifacts.Sum([]byte("two"))}) {
		t.Errorf("Blobs = %v", got)
	}
	if f, ok := a.File("b/1"); !ok || f != file("b/1", "1") {
		t.Errorf("File = %v, %v", f, ok)
	}
	if _, ok := a.File("b"); ok {
		t.Error("found a file that is a folder")
	}
	if err := a.Validate(); err != nil {
		t.Error(err)
	}
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
	if err != nil || seen[other.Digest] != 0 {
		t.Errorf("the order of files or the type changed the digest: %v", err)
	}
}

func TestTreeRejects(t *testing.T) {
	for name, files := range map[string][]artifacts.File{
		"empty name":        {file("", "1")},
		"absolute":          {file("/etc/passwd", "1")},
		"parent":            {file("../x", "1")},
		"parent, hidden":    {file("a/../../x", "1")},
		"parent alone":      {file("..", "1")},
		"self":              {file(".", "1")},
		"not clean":         {file("a//b", "1")},
		"final slash":       {file("a/", "1")},
		"backslash":         {file(`a\b`, "1")},
		"NUL":               {file("a\x00", "1")},
		"bad UTF-8":         {file("\xff", "1")},
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
