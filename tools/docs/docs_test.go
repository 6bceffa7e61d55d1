package main

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/system/testkit"
)

const page = "text\n" +
	"```sh\nmake a   # why\n\n# a remark\nlong \\\n  more\n```\n" +
	"<!-- docs: exit 2; in sub -->\n\n" +
	"```console\n$ ls x\nx\n…\n$ true\n```\n" +
	"```hcl\nstep \"a\" \"b\" {}\n```\n" +
	"````\n```sh\nnot a command\n```\n````\n"

func TestBlocks(t *testing.T) {
	got := testkit.Value(Blocks("p.md", page))(t)
	want := []Block{
		{File: "p.md", Commands: []Command{{Line: 3, Text: "make a   # why"}, {Line: 6, Text: "long \\\n  more"}}},
		{File: "p.md", Exit: 2, In: "sub", Commands: []Command{
			{Line: 12, Text: "ls x", Shown: []string{"x", "…"}, Check: true}, {Line: 15, Text: "true", Check: true}}},
	}
	testkit.Deep(t, got, want)
	for name, text := range map[string]string{
		"does not end":          "```sh\nls\n",
		"is ```console":         "```\n$ ls\n```\n",
		"not a mark of a block": "<!-- docs: sometimes -->\n```sh\nls\n```\n",
		"no block follows":      "<!-- docs: long -->\ntext\n",
		"has no commands":       "<!-- docs: long -->\n```hcl\na = 1\n```\n",
		"without a command":     "```console\nout\n$ ls\n```\n",
		"missing closing ]":     "<!-- docs: varies [ -->\n```sh\nls\n```\n",
		"invalid syntax":        "<!-- docs: exit x -->\n```sh\nls\n```\n",
		"p.md:1: no block fol":  "<!-- docs: long -->",
	} {
		if _, err := Blocks("p.md", text); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestMismatch(t *testing.T) {
	for _, c := range []struct {
		shown, printed string
		varies         string
		at             int
	}{
		{"a\nb", "a\nb\n", "", -1},
		{"a\nb", "a\nc", "", 1},
		{"a", "a\nb", "", 1},
		{"a\nb", "a", "", 1},
		{"a\n…\nd", "a\nb\nc\nd", "", -1},
		{"a\n…\nd", "a\nd", "", -1},
		{"a\n…\nd\n…", "a\nd\nb\nd", "", -1},
		{"a\n…\nd", "a\nb", "", 2},
		{"x … z", "x yy z", "", -1},
		{"x … z", "x yy", "", 0},
		{"DONE  a  0.6 s", "DONE  a  1 min 12 s", "", -1},
		{"run 20261122T214401Z-e6678ddc at http://127.0.0.1:35081/x", "run 20261122T214402Z-00000000 at http://127.0.0.1:1/x", "", -1},
		{"H@1 66.7", "H@1 66.8", "", 0},
		{"H@1 66.7", "H@1 66.8", `\d+\.\d`, -1},
		{"(1) [a] {b}", "(1) [a] {b}", "", -1},
		{"", "", "", -1},
	} {
		var varies *regexp.Regexp
		if c.varies != "" {
			varies = regexp.MustCompile(c.varies)
		}
		at, _ := Mismatch(strings.Split(c.shown, "\n"), strings.Split(c.printed, "\n"), varies)
		testkit.Is(t, at, c.at, c.shown, c.printed)
	}
}

// TestTrial runs a page of its own: folders and variables stay, what is wrong is found.
func TestTrial(t *testing.T) {
	for _, c := range []struct {
		page        string
		ran, failed int
	}{
		{"```sh\nexport A=1\nmkdir d && cd d\n```\n```console\n$ echo $A; basename $PWD\n1\nd\n```\n", 3, 0},
		{"```sh\nfalse\n```\n", 1, 1},
		{"<!-- docs: exit 1 -->\n```sh\nfalse\n```\n", 1, 0},
		{"```console\n$ echo a >&2\nb\n```\n", 1, 1},
		{"<!-- docs: not run: no -->\n```sh\nfalse\n```\n", 0, 0},
		{"<!-- docs: long -->\n```sh\nfalse\n```\n", 0, 0},
		{"<!-- docs: until ready -->\n```sh\nsh -c 'trap \"exit 0\" INT; echo ready; while :; do sleep 0.01; done'\n```\n", 1, 0},
		{"<!-- docs: until ready -->\n```sh\ntrue\n```\n", 1, 1},
	} {
		dir := t.TempDir()
		blocks := testkit.Value(Blocks("p.md", c.page))(t)
		var said strings.Builder
		tr := &trial{w: &said, shell: &Shell{dir, os.Environ(), t.TempDir()}}
		if err := tr.blocks(t.Context(), blocks); err != nil || tr.ran != c.ran || tr.failed != c.failed {
			t.Errorf("%s\n%v, %d run, %d failed\n%s", c.page, err, tr.ran, tr.failed, said.String())
		}
	}
}

// A make that starts the tests must not be heard by those that the documentation names.
func TestTerminal(t *testing.T) {
	t.Setenv("MAKELEVEL", "2")
	t.Setenv("MAKEFLAGS", "w")
	dir := t.TempDir()
	testkit.Write(t, filepath.Join(dir, "Makefile"), "hello:\n\t@echo hello\n")
	printed, exit, err := (&Shell{dir, terminal(os.Environ()), t.TempDir()}).Run(t.Context(), "make hello", "")
	testkit.That(t, printed == "hello\n" && exit == 0 && err == nil, printed, "exit", exit, err)
}

// TestExamples reads a program's help texts.
func TestExamples(t *testing.T) {
	dir := t.TempDir()
	program := filepath.Join(dir, "prog")
	script := `#!/bin/sh
case "$*" in
--help) printf 'Does.\n\nUsage:\n  prog [command]\n\nlook:\n  a           Does a\n  b           Does b\n\nother:\n  help        Help\n';;
"a --help") printf 'A.\n\nUsage:\n  prog a\n\nExamples:\n  prog a x   # why\n  prog a y\n\nFlags:\n  -h\n';;
"b --help") printf 'B.\n\nExamples:\n  prog b\n\nFlags:\n';;
esac
`
	testkit.Program(t, program, script)
	s := &Shell{dir, append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH")), t.TempDir()}
	special := testkit.Value(Specials("# remark\nprog b | not run: needs b\n"))(t)
	blocks := testkit.Value(Examples(context.Background(), s, "prog", special))(t)
	var got []string
	for _, b := range blocks {
		got = append(got, b.File+": "+strings.TrimSpace(b.Commands[0].Text)+b.NotRun)
	}
	want := []string{"prog a --help: prog a x   # why", "prog a --help: prog a y", "prog b --help: prog bneeds b"}
	testkit.Deep(t, got, want)
	if _, err := Examples(context.Background(), s, "prog", []Special{{"prog c", "long"}}); err == nil {
		t.Error("an old line is not told")
	}
}

// TestDocumentation does all that the documentation says, but what takes long, in a copy of
// this tree, from `make quickstart` on.
func TestDocumentation(t *testing.T) {
	if testing.Short() {
		t.Skip("builds redsi with libtorch, and trains")
	}
	var said strings.Builder
	testkit.None(t, run(t.Context(), &said, filepath.Join("..", ".."), t.TempDir(), false, nil), said.String())
}
