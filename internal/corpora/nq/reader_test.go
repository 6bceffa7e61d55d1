package nq

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/redsi/redsi/internal/system/testkit"
)

func readAll(t *testing.T, file string, o Options) ([]*Record, Counts) {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", file))
	testkit.None(t, err)
	defer f.Close()
	all, counts, err := drain(NewReader(f, file, o))
	testkit.None(t, err)
	return all, counts
}

// drain reads what is left, and closes rd.
func drain(rd *Reader) (all []*Record, counts Counts, err error) {
	defer rd.Close()
	for {
		var r Record
		if err := rd.Next(&r); err == io.EOF {
			return all, rd.Counts, nil
		} else if err != nil {
			return all, rd.Counts, err
		}
		all = append(all, &r)
	}
}

func TestSimplifiedTextIsTheRealOne(t *testing.T) {
	full, _ := readAll(t, "nq-full-walking-dead.jsonl.gz", Options{})
	simple, _ := readAll(t, "nq-simplified-walking-dead.jsonl.gz", Options{})
	if got := SimplifiedText(full[0].Tokens); got != simple[0].Text {
		t.Fatalf("simplified text differs:\n%.200q\n%.200q", got, simple[0].Text)
	}
	hf, hs := HeaderOf(full[0]), HeaderOf(simple[0])
	if hf.H1 != "The Walking Dead ( season 8 )" || hs.H1 != hf.H1 || !hf.HasH1 || !hs.HasH1 || hf.Title != "The Walking Dead (season 8)" {
		t.Fatalf("%+v\n%+v", hf, hs)
	}
	if len(full[0].Tokens) != 7259 {
		t.Fatalf("%d tokens", len(full[0].Tokens))
	}
}
