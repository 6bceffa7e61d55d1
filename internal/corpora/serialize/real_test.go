package serialize

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"testing"

	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/corpora/unpack/goldens"
	"github.com/redsi/redsi/internal/system/testkit"
)

// The pages that are kept as goldens: one revision each of the seven real pages in NQ format (testdata/README.md). Pages with
// all set are short enough to keep in all forms.
var realPages = []struct {
	file, title string
	split       nq.Split
	id          int64
	all         bool
}{
	{"nq-full-walking-dead.jsonl.gz", "The Walking Dead (season 8)", nq.Train, 4549465242785278785, false},
	{"real-pages-train-full.jsonl.gz", "Ruthenium boride", nq.Train, -2692360962974527758, true},
	{"real-pages-train-full.jsonl.gz", "Seat of government", nq.Train, 171529885980975462, true},
	{"real-pages-train-full.jsonl.gz", "Color space", nq.Train, 6640978198443345582, false},
	{"real-pages-train-full.jsonl.gz", "Color space", nq.Train, -8811923766343655444, false},
	{"real-pages-dev-full.jsonl.gz", "Capitol Hill", nq.Dev, -4550506841121878111, false},
	{"real-pages-dev-full.jsonl.gz", "Readability", nq.Dev, -3553296724212160928, false},
}

func realPage(t testing.TB, file string, split nq.Split, id int64) *nq.Record {
	t.Helper()
	for _, r := range records(t, file, split) {
		if r.ExampleID == id {
			return r
		}
	}
	t.Fatalf("%s has no example %d", file, id)
	return nil
}

// TestReal compares the real pages with texts that were read through by eye (testdata/README.md says what was looked at).
func TestReal(t *testing.T) {
	for _, p := range realPages {
		r := realPage(t, p.file, p.split, p.id)
		if r.Title != p.title {
			t.Fatalf("example %d is %q", p.id, r.Title)
		}
		for _, form := range Forms {
			if !p.all && form != NciNorm && form != HtmlNorm {
				continue
			}
			got := document(t, newSerializer(t, form, nil), r)
			goldens.Same(t, fmt.Sprintf("testdata/real/%d.%s.txt", p.id, form), got.String())
			if form == HtmlNorm {
				removed, err := json.MarshalIndent(got.Removed, "", "  ")
				testkit.None(t, err)
				goldens.Same(t, fmt.Sprintf("testdata/real/%d.removed.json", p.id), string(removed)+"\n")
			}
		}
	}
}

// Every text token of a record is in the text or counted by the rule that removed it.
func TestTokensAccountedFor(t *testing.T) {
	s := newSerializer(t, HtmlNorm, nil)
	for _, p := range realPages {
		r := realPage(t, p.file, p.split, p.id)
		sc := s.pool.New().(*scanner)
		sc.scan(r)
		tokens := 0
		for i := range r.Tokens {
			if !r.Tokens[i].HTML {
				tokens++
			}
		}
		m := sc.removed
		removed := m.BeforeTitle + m.Lead + m.Interface + m.Infobox + m.Invisible + m.AfterFooter + m.SpansOutside
		if kept := sc.tokensIn(root); kept+removed != tokens {
			t.Errorf("%s: %d tokens kept + %d removed, of %d: %+v", p.title, kept, removed, tokens, m)
		}
	}
}

// records reads the real NQ records that package nq keeps as test data, one per URL.
func records(t testing.TB, name string, split nq.Split) []*nq.Record {
	t.Helper()
	f, err := os.Open("../nq/testdata/" + name)
	testkit.None(t, err)
	defer f.Close()
	rd := nq.NewReader(f, name, nq.Options{Split: split})
	defer rd.Close()
	var all []*nq.Record
	seen := map[string]bool{}
	for {
		r := new(nq.Record)
		err := rd.Next(r)
		if errors.Is(err, io.EOF) {
			return all
		}
		testkit.None(t, err)
		if !seen[r.URL] {
			seen[r.URL] = true
			all = append(all, r.Clone())
		}
	}
}
