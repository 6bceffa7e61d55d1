package synth

import (
	"html"
	"math"
	"regexp"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/system/testkit"
)

var (
	tagName   = regexp.MustCompile(`^</?([A-Za-z0-9]+)`)
	keptAttrs = regexp.MustCompile(`(?:colspan|rowspan)="[0-9]+"`)
)

// TestOffsets checks each token against the bytes that it claims.
func TestOffsets(t *testing.T) {
	c := defaultCorpus()
	for _, kind := range []string{KindTrain, KindDev} {
		list := c.examples(t, kind)
		for _, e := range list {
			last, same := 0, 0
			for i, tok := range e.Tokens {
				if tok.Start < last || tok.End <= tok.Start || tok.End > len(e.HTML) {
					t.Fatalf("example %d token %d: bytes %d to %d after %d of %d", e.ExampleID, i, tok.Start, tok.End, last, len(e.HTML))
				}
				last = tok.End
				span := e.HTML[tok.Start:tok.End]
				if tok.Tag {
					want := tagName.FindString(span)
					want = want[:len(want)-len(tagName.FindStringSubmatch(span)[1])] + strings.ToLower(tagName.FindStringSubmatch(span)[1])
					for _, a := range keptAttrs.FindAllString(span, -1) {
						want += " " + a
					}
					if !strings.EqualFold(want+">", tok.Text) {
						t.Fatalf("example %d: %q is stored as %q", e.ExampleID, span, tok.Text)
					}
					continue
				}
				if html.UnescapeString(span) == tok.Text {
					same++
				}
			}
			if same*2 < len(e.Tokens) {
				t.Errorf("example %d: %d of %d tokens are those of the HTML", e.ExampleID, same, len(e.Tokens))
			}
			if heading := e.HTML[strings.Index(e.HTML, "<H1"):]; !strings.Contains(heading, html.EscapeString(strings.Fields(e.Title)[0])) && !strings.Contains(e.Title, `"`) {
				t.Errorf("example %d does not have its title %q", e.ExampleID, e.Title)
			}
		}
	}
}

// TestAnswers checks candidates and annotations against the tokens.
func TestAnswers(t *testing.T) {
	c := defaultCorpus()
	negative, large, nested, found := 0, 0, 0, 0
	ids := map[int64]bool{}
	for _, kind := range []string{KindTrain, KindDev} {
		list := c.examples(t, kind)
		for _, e := range list {
			if ids[e.ExampleID] {
				t.Errorf("example id %d occurs twice", e.ExampleID)
			}
			ids[e.ExampleID] = true
			if e.ExampleID < 0 {
				negative++
			}
			testkit.Deep(t, strings.Fields(e.Question), e.Words, e.ExampleID, e.Question)
			check := func(a span) {
				if a.StartToken < 0 || a.EndToken > len(e.Tokens) || a.StartToken >= a.EndToken ||
					*a.StartByte != e.Tokens[a.StartToken].Start || *a.EndByte != e.Tokens[a.EndToken-1].End {
					t.Errorf("example %d: span %+v", e.ExampleID, a)
				}
			}
			last := -1
			for _, a := range e.Candidates {
				check(a.span)
				if a.StartToken <= last {
					t.Errorf("example %d: candidates out of order", e.ExampleID)
				}
				last = a.StartToken
				start, end := e.Tokens[a.StartToken], e.Tokens[a.EndToken-1]
				if "</"+strings.TrimRight(strings.Fields(start.Text)[0][1:], ">")+">" != end.Text {
					t.Errorf("example %d: candidate from %s to %s", e.ExampleID, start.Text, end.Text)
				}
				if !a.Top {
					nested++
				}
			}
			if want := map[string]int{KindTrain: 1, KindDev: 5}[kind]; len(e.Annotations) != want {
				t.Errorf("example %d: %d annotations", e.ExampleID, len(e.Annotations))
			}
			for _, a := range e.Annotations {
				if a.ID > math.MaxInt64 {
					large++
				}
				i := a.Long.Candidate
				if i < 0 {
					if a.Long.StartToken != -1 || *a.Long.EndByte != -1 || len(a.Short) > 0 || a.YesNo != "NONE" {
						t.Errorf("example %d: no long answer, but %+v", e.ExampleID, a)
					}
					continue
				}
				found++
				if l := e.Candidates[i]; l.StartToken != a.Long.StartToken || l.EndToken != a.Long.EndToken || *l.EndByte != *a.Long.EndByte {
					t.Errorf("example %d: the long answer is not its candidate", e.ExampleID)
				}
				for _, s := range a.Short {
					check(s)
					if s.StartToken < a.Long.StartToken || s.EndToken > a.Long.EndToken {
						t.Errorf("example %d: a short answer outside of the long one", e.ExampleID)
					}
				}
			}
		}
	}
	for name, n := range map[string]int{"negative ids": negative, "annotation ids over int64": large, "nested candidates": nested, "long answers": found} {
		if n == 0 {
			t.Errorf("the corpus has no %s", name)
		}
	}
}

// TestSimplified applies Google's simplification to the full records.
func TestSimplified(t *testing.T) {
	c := defaultCorpus()
	full := c.examples(t, KindTrain)
	simple := c.examples(t, KindSimplified)
	if len(full) != len(simple) {
		t.Fatalf("%d full and %d simplified records", len(full), len(simple))
	}
	for i, e := range full {
		s := simple[i]
		var words []string
		for _, tok := range e.Tokens {
			words = append(words, strings.ReplaceAll(tok.Text, " ", "_"))
		}
		if text := strings.Join(words, " "); s.Text != text {
			t.Errorf("example %d: document_text differs", e.ExampleID)
		}
		if s.ExampleID != e.ExampleID || s.URL != e.URL || s.Question != e.Question {
			t.Errorf("example %d: %d %s %s", e.ExampleID, s.ExampleID, s.URL, s.Question)
		}
		if len(s.Candidates) != len(e.Candidates) || len(s.Annotations) != len(e.Annotations) {
			t.Fatalf("example %d: %d candidates, %d annotations", e.ExampleID, len(s.Candidates), len(s.Annotations))
		}
		same := func(a, b span) bool {
			return a.StartToken == b.StartToken && a.EndToken == b.EndToken && a.StartByte == nil && a.EndByte == nil
		}
		for j := range s.Candidates {
			if !same(s.Candidates[j].span, e.Candidates[j].span) || s.Candidates[j].Top != e.Candidates[j].Top {
				t.Errorf("example %d: candidate %d", e.ExampleID, j)
			}
		}
		for j, a := range s.Annotations {
			b := e.Annotations[j]
			if a.ID != b.ID || a.YesNo != b.YesNo || !same(a.Long.span, b.Long.span) || a.Long.Candidate != b.Long.Candidate || len(a.Short) != len(b.Short) {
				t.Errorf("example %d: annotation %d", e.ExampleID, j)
			}
		}
	}
}

// TestArticles: edits stand among the first 4,000 characters, or behind them, whatever the title.
func TestArticles(t *testing.T) {
	for _, whole := range []bool{false, true} {
		c := Default()
		c.Whole = whole
		p, seen := newPlan(c), map[string]bool{}
		for i := range c.Pages {
			pg := p.page(i)
			var s snapshot
			s.write(pg, look{})
			seen[pg.article.Title] = true
			for k, at := range pg.article.Edited {
				chars := 0
				for _, tok := range s.tokens[:at+s.shift] {
					if !tok.Tag {
						chars += len([]rune(tok.Text)) + 1
					}
				}
				if s.tokens[at+s.shift].Text != pg.number(k, look{}) || (k < 2) != (chars < 3900) || k > 1 && chars < 4100 {
					t.Errorf("%s as %s: edit %d is at character %d", pg.article.Title, pg.titleAt(0), k, chars)
				}
			}
		}
		testkit.Is(t, len(seen), 6, "articles")
	}
}
