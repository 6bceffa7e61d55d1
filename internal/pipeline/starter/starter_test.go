package starter

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/redsi/redsi/internal/corpora/collect"
	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/system/testkit"
)

// TestWrite: a study is written as a whole or not at all, and beside a .gitignore that the folder has.
func TestWrite(t *testing.T) {
	for _, study := range []string{Small, Paper} {
		files, err := Files(study)
		testkit.None(t, err)
		folder := filepath.Join(t.TempDir(), "new")
		wrote, err := Write(files, folder)
		if err != nil || !slices.Contains(wrote, filepath.Join(folder, "pipelines.hcl")) || !slices.Contains(wrote, filepath.Join(folder, ".gitignore")) {
			t.Errorf("%s: %q, %v", study, wrote, err)
		}
	}
	folder := t.TempDir()
	testkit.Write(t, filepath.Join(folder, "b"), "")
	testkit.ErrSays(t, testkit.Err(Write(map[string][]byte{"a": nil, "b": nil}, folder)), "already exists")
	if left, err := os.ReadDir(folder); err != nil || len(left) != 1 {
		t.Errorf("%v, %v", left, err)
	}
}

// TestPlanSplits: the study has all three splits, and trains on no test query while the corpus has others.
func TestPlanSplits(t *testing.T) {
	type want struct {
		become map[nq.Split]nq.Split
		shares string
		from   nq.Split
	}
	for _, c := range []struct {
		train, dev, test, none bool
		want
	}{
		{train: true, dev: true, test: true},
		{train: true, test: true, want: want{nil, "{ dev = 0.1 }", nq.Train}},
		{train: true, dev: true, want: want{map[nq.Split]nq.Split{nq.Dev: nq.Test}, "{ dev = 0.1 }", nq.Train}},
		{train: true, want: want{nil, "{ dev = 0.1, test = 0.2 }", nq.Train}},
		{dev: true, test: true, want: want{map[nq.Split]nq.Split{nq.Dev: nq.Train}, "{ dev = 0.1 }", nq.Train}},
		{test: true, want: want{map[nq.Split]nq.Split{nq.Dev: "", nq.Test: ""}, "{ dev = 0.1, test = 0.5 }", ""}},
		{dev: true, want: want{map[nq.Split]nq.Split{nq.Dev: "", nq.Test: ""}, "{ dev = 0.1, test = 0.5 }", ""}},
		{none: true, want: want{nil, "{ dev = 0.1, test = 0.2 }", ""}},
	} {
		p := planSplits(c.train, c.dev, c.test)
		got := want{p.become, p.shares(), p.from}
		if diff := cmp.Diff(c.want, got, cmp.AllowUnexported(want{})); diff != "" || p.why == "" {
			t.Errorf("train %v, dev %v, test %v: %q\n%s", c.train, c.dev, c.test, p.why, diff)
		}
	}
}

// TestNamesOfFilesAreLiterals: a folder and a file may have any name.
func TestNamesOfFilesAreLiterals(t *testing.T) {
	for in, want := range map[string]string{
		`a"b\c`: `"a\"b\\c"`, "${x}": `"$${x}"`, "100%{y}": `"100%%{y}"`, "übung": `"übung"`, "$": `"$"`, "a\nb": `"a\nb"`,
	} {
		testkit.Is(t, hclString(in), want, in)
	}
}

// TestTwoFilesOfOneName: a download has one file of a name.
func TestTwoFilesOfOneName(t *testing.T) {
	documents := collect.Part{Role: collect.Documents}
	c := &Corpus{Folder: "mine", list: []corpusFile{{documents, "corpus/a/part.jsonl"}, {documents, "corpus/b/part.jsonl"}}}
	testkit.ErrSays(t, testkit.Err(c.inputs()), "corpus/a/part.jsonl and corpus/b/part.jsonl are both documents with the same name")
}
