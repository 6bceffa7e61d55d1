package step

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/system/errtest"
)

// TestInputIsValidated: a task's inputs come from a queue, and are what a step could
// have left or an error.
func TestInputIsValidated(t *testing.T) {
	d := artifacts.Sum([]byte("x"))
	tree, err := artifacts.Tree("files", []artifacts.File{{Name: "a/b", Digest: d, Size: 1}})
	errtest.None(t, err)
	for _, a := range []artifacts.Artifact{{Type: "file", Digest: d, Size: 1}, {Digest: d}, tree} {
		b, err := json.Marshal(In(a))
		errtest.None(t, err)
		var in Input
		if err := json.Unmarshal(b, &in); err != nil || in.Artifact == nil || !reflect.DeepEqual(*in.Artifact, a) {
			t.Errorf("%s gives %+v, %v", b, in, err)
		}
	}
	escaped := tree
	escaped.Files = []artifacts.File{{Name: "../../b", Digest: d, Size: 1}}
	for _, a := range []artifacts.Artifact{{}, {Digest: d, Size: -1}, {Type: "a\x1b[2J", Digest: d}, escaped, {Digest: d, Files: tree.Files}} {
		b, err := json.Marshal(In(a))
		errtest.None(t, err)
		var in Input
		if err := json.Unmarshal(b, &in); err == nil || !strings.Contains(err.Error(), "an input of a task") {
			t.Errorf("%s gives %+v, %v", b, in, err)
		}
	}
}

// TestRefIn: what is named of a tree is a file or a tree, as it would be read from all of it.
func TestRefIn(t *testing.T) {
	file := func(name string, mode artifacts.Mode) artifacts.File {
		return artifacts.File{Name: name, Digest: artifacts.Sum([]byte(name)), Size: int64(len(name)), Mode: mode}
	}
	link := func(name, target string) artifacts.File {
		return artifacts.File{Name: name, Mode: artifacts.Link, Link: target}
	}
	empty := artifacts.File{Name: "empty", Digest: artifacts.Empty, Mode: artifacts.Folder}
	hollow := empty
	hollow.Name = "sub/hollow"
	tree, err := artifacts.Tree("files", []artifacts.File{file("a", ""), file("run", artifacts.Executable), file("sub/b", ""), file("sub/do", artifacts.Executable), hollow, empty,
		link("sub/in", "b"), link("sub/out", "../a"), link("sub/go", "../run"), link("to", "sub"), link("gone", "nothing"), file("far/x", ""), link("far/sub", "../sub")})
	errtest.None(t, err)
	a, b := artifacts.Sum([]byte("a")), artifacts.Sum([]byte("sub/b"))
	for path, want := range map[string]string{
		"":            "",
		"a":           "file " + a.Hex(),
		"sub/b":       "file " + b.Hex(),
		"sub/in":      "file " + b.Hex(),
		"sub/out":     "file " + a.Hex(),
		"run":         "file " + artifacts.Sum([]byte("run")).Hex() + " executable",
		"sub/go":      "file " + artifacts.Sum([]byte("run")).Hex() + " executable",
		"empty":       "files",
		"sub/hollow":  "files",
		"sub":         "files b, do executable, go executable, hollow folder, in link b, out",
		"sub/":        "files b, do executable, go executable, hollow folder, in link b, out",
		"to":          `step.c.x.out["to"]: the link "to" leads to "sub", which is a folder or nothing: take step.c.x.out, or name the folder`,
		"gone":        `the link "gone" leads to "nothing"`,
		"far":         `the link "far/sub" leads to "../sub"`,
		"su":          `step.c.x.out has no file or folder "su"; it has a, empty, far/sub, far/x, gone and 8 more`,
		"sub/missing": "has no file or folder",
	} {
		got, err := Ref{Step: "step.c.x", Output: "out", Path: path}.In(tree)
		if err != nil {
			if want == "" || !strings.Contains(err.Error(), want) {
				t.Errorf("%q: %v", path, err)
			}
			continue
		}
		shown := strings.TrimSpace(got.Type + " " + got.Digest.Hex() + " " + string(got.Mode))
		if got.Files != nil {
			var names []string
			for _, f := range got.Files {
				names = append(names, strings.TrimSpace(strings.Join([]string{f.Name, string(f.Mode), f.Link}, " ")))
			}
			shown = strings.TrimSpace(got.Type + " " + strings.Join(names, ", "))
		}
		if err := got.Validate(); err != nil || shown != want && (path != "" || got.Digest != tree.Digest) {
			t.Errorf("%q is %s, %v\nwant %s", path, shown, err, want)
		}
	}
	one := artifacts.Artifact{Type: "csv", Digest: a, Size: 1}
	errtest.Says(t, errtest.Of((Ref{Step: "step.c.x", Output: "out", Path: "a"}).In(one)), `is one file, so nothing in it can be named: leave out ["a"]`)
	errtest.Says(t, errtest.Of((Ref{Step: "step.c.x", Output: "out", Path: "a"}).In(artifacts.Artifact{Files: []artifacts.File{}})), ": it is empty")
}
