package artifacts_test

import (
	"strings"
	"testing"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/system/errtest"
)

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
	errtest.None(t, err)
	if err := tree.Validate(); err != nil {
		t.Error(err)
	}
	var read []string
	for _, f := range tree.Readable() {
		read = append(read, f.Name+"="+f.Digest.Hex()[:4])
	}
	r, s := run.Digest.Hex()[:4], one.Digest.Hex()[:4]
	if got, want := strings.Join(read, " "), "a="+s+" one="+s+" sub/run="+r+" sub/up="+s; got != want {
		t.Errorf("readable: %s, want %s", got, want)
	}
	plain, err := artifacts.Tree("files", []artifacts.File{one, {Name: "sub/run", Digest: run.Digest, Size: 3}})
	errtest.None(t, err)
	marked, err := artifacts.Tree("files", []artifacts.File{one, run})
	if err != nil || marked.Digest == plain.Digest {
		t.Errorf("an x bit is not in the digest: %v", err)
	}

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
		errtest.Says(t, errtest.Of(artifacts.Tree("files", files)), want)
	}
}
