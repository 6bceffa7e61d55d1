package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/system/filetest"
)

// write makes a folder of files.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	folder := t.TempDir()
	for name, text := range files {
		name = filepath.Join(folder, filepath.FromSlash(name))
		filetest.Write(t, name, text)
	}
	return folder
}

// TestPorts reads the ports of the tree: each names its original, what the original's results
// were and how its runs were counted, and changes only what is there.
func TestPorts(t *testing.T) {
	found, err := filepath.Glob(filepath.Join("..", "..", "examples", "ports", "*", "port.json"))
	if err != nil || len(found) < 6 {
		t.Fatalf("%d ports, %v", len(found), err)
	}
	for _, path := range found {
		t.Run(filepath.Base(filepath.Dir(path)), func(t *testing.T) {
			folder := filepath.Dir(path)
			p, err := readPort(folder)
			if err != nil {
				t.Fatal(err)
			}
			if s := p.Source; p.Title == "" || p.Counted == "" || s.Repository == "" || s.Commit == "" || s.Licence == "" || len(p.Results) == 0 {
				t.Errorf("title, counted, source or results are not given: %+v", p)
			}
			if _, ok := p.Changes["comment"]; !ok || len(p.Changes) < 4 {
				t.Errorf("only %d changes", len(p.Changes))
			}
			edits := slices.Clone(p.Planted)
			for _, c := range p.Changes {
				edits = append(edits, c.Edits...)
			}
			for _, e := range edits {
				b, err := os.ReadFile(filepath.Join(folder, filepath.FromSlash(e.File)))
				if err == nil && e.From != "" && strings.Count(string(b), e.From) != 1 {
					t.Errorf("%s has %q not once", e.File, e.From)
				}
			}
		})
	}
}

func TestLayOut(t *testing.T) {
	const text = "import json\n"
	from := write(t, map[string]string{"pipelines.hcl": "x = 1\n", "port.json": `{
		"source": {"repository": "ada/study", "commit": "abc"},
		"files": {"src/fit.py": {"from": "code/fit.py", "sha256": "` + sum([]byte(text)) + `"}},
		"planted": [{"file": "src/helper.py", "to": "N = 1\n"}, {"file": "src/fit.py", "from": "json", "to": "helper"}],
		"changes": {"parameter": {"edits": [{"file": "pipelines.hcl", "from": "x = 1", "to": "x = 2"}], "ran": 1}}
	}`})
	originals := write(t, map[string]string{"ada/study/code/fit.py": text})
	p, err := readPort(from)
	if err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(t.TempDir(), "laid")
	if err := p.lay(from, originals, to); err != nil {
		t.Fatal(err)
	}
	if err := apply(to, p.Changes["parameter"].Edits); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"pipelines.hcl": "x = 2\n", "src/fit.py": "import helper\n", "src/helper.py": "N = 1\n"} {
		if b, err := os.ReadFile(filepath.Join(to, name)); err != nil || string(b) != want {
			t.Errorf("%s is %q, want %q (%v)", name, b, want, err)
		}
	}
	if err := apply(to, p.Changes["parameter"].Edits); err == nil || !strings.Contains(err.Error(), `has "x = 1" 0 times`) {
		t.Errorf("the text is not there any more: %v", err)
	}
	others := write(t, map[string]string{"ada/study/code/fit.py": text + "\n"})
	for _, originals := range []string{others, t.TempDir()} {
		err := p.lay(from, originals, filepath.Join(t.TempDir(), "laid"))
		if err == nil || !strings.Contains(err.Error(), "a folder with ada/study at abc") {
			t.Errorf("%v", err)
		}
	}
}

func TestRow(t *testing.T) {
	p := &port{Title: "A study", Changes: map[string]change{"library": {Ran: 0}, "comment": {Ran: 1}}}
	got := row("study", p, outcome{4, map[string]int{"library": 4}})
	if want := "| [A study](../examples/ports/study/pipelines.hcl) | 4 | 4 / 0 | – | – | – | – | 0 / 1 |"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestWithout(t *testing.T) {
	if got := string(without([]byte("##date\n#name\n1\n"), "##")); got != "#name\n1\n" {
		t.Errorf("%q", got)
	}
}
