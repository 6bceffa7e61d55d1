package rehearsal

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/redsi/redsi/internal/corpora/splitmix"
	"github.com/redsi/redsi/internal/corpora/wikipedia"
)

// record is one of Natural Questions; what is not changed stays as it was written.
type record struct {
	ID         int64           `json:"example_id"`
	Title      string          `json:"document_title"`
	URL        string          `json:"document_url"`
	Question   string          `json:"question_text"`
	Words      []string        `json:"question_tokens"`
	HTML       string          `json:"document_html"`
	Tokens     []token         `json:"document_tokens"`
	Candidates json.RawMessage `json:"long_answer_candidates"`
	Answers    json.RawMessage `json:"annotations"`
}

type token struct {
	End   int    `json:"end_byte"`
	HTML  bool   `json:"html_token"`
	Start int    `json:"start_byte"`
	Text  string `json:"token"`
}

// article is a real page: its records, which may be of several revisions.
type article []record

// realFiles are the files of real records of the tree.
var realFiles = []string{"nq-full-walking-dead.jsonl.gz", "real-pages-train-full.jsonl.gz", "real-pages-dev-full.jsonl.gz"}

// readArticles reads the real records, by their titles up to a comma.
func readArticles(folder string) (all []article, err error) {
	at := map[string]int{}
	for _, name := range realFiles {
		f, err := os.Open(filepath.Join(folder, name))
		if err != nil {
			return nil, err
		}
		defer f.Close()
		z, err := gzip.NewReader(f)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		for d := json.NewDecoder(z); ; {
			var r record
			if err := d.Decode(&r); err == io.EOF {
				break
			} else if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			page, _, _ := strings.Cut(r.Title, ",") // Capitol Hill was renamed
			i, known := at[page]
			if !known {
				i = len(all)
				at[page], all = i, append(all, nil)
			}
			all[i] = append(all[i], r)
		}
	}
	return all, nil
}

// page is an article under another name.
type page struct {
	n     uint64 // seeds the words of its text
	title uint64 // and those of its title
}

const (
	firstPage     = 50_000_000
	firstRevision = 900_000_000
	mostRevisions = 4
)

// pageAt is the nth page. One of 50 has the title of the page before it.
func pageAt(n uint64) page {
	p := page{n, n}
	if n%50 == 1 {
		p.title--
	}
	return p
}

// article is the same for a page and the one whose title it may have.
func (p page) article(all []article) article { return all[p.n/2%uint64(len(all))] }

// revisions has a page up to three, as most of those that are asked about more than once.
func (p page) revisions() uint64 { return 1 + p.n%3 }

// entry is what the wiki says of a revision. One page of 60 has become a redirect.
func (p page) entry(all []article, revision uint64) wikipedia.Entry {
	return wikipedia.Entry{OldID: firstRevision + mostRevisions*p.n + revision, PageID: firstPage + p.n, Redirect: p.n%60 == 5,
		Title: p.change(0, titleWords(p.article(all)[0].Title))(p.article(all)[0].Title)}
}

// missing reports a revision that the wiki does not have any more.
func (p page) missing(revision uint64) bool { return p.n%40 == 3 && revision == 0 }

// run is what is exchanged as a whole: a word.
var run = regexp.MustCompile(`[A-Za-z]{4,}`)

// kept words make a question one.
var kept = strings.Fields("what when where which whose does about from with that this have many")

func titleWords(title string) []string { return run.FindAllString(strings.ToLower(title), -1) }

// change exchanges words of a text of the page: those of its title, a third of the others, and
// in each revision a few more.
func (p page) change(revision uint64, title []string) func(string) string {
	seeds := map[string]uint64{}
	for _, w := range title {
		seeds[w] = p.title
		if p.n%20 == 7 && revision > 0 { // it was renamed
			seeds[w] = p.title + 1<<32
		}
	}
	return func(text string) string {
		return run.ReplaceAllStringFunc(text, func(word string) string {
			low := strings.ToLower(word)
			seed, always := seeds[low]
			switch {
			case slices.Contains(kept, low):
				return word
			case always:
			case hash(p.n, low)%3 == 0:
				seed = p.n
			case revision > 0 && hash(p.n+revision<<32, low)%100 == 0:
				seed = p.n + revision<<32
			default:
				return word
			}
			return pseudoword(hash(seed+1<<48, low), word)
		})
	}
}

func hash(seed uint64, word string) uint64 {
	h := seed
	for i := range len(word) {
		h = splitmix.Finish(h ^ uint64(word[i]) + splitmix.Gamma)
	}
	return h
}

// pseudoword is a word as long as another, and written as large.
func pseudoword(h uint64, like string) string {
	letters := [2]string{"bcdfghklmnprstvz", "aeiou"}
	b := make([]byte, len(like))
	for i := range b {
		set := letters[i%2]
		b[i] = set[h%uint64(len(set))]
		if h = splitmix.Finish(h + splitmix.Gamma); like[i] < 'a' {
			b[i] -= 'a' - 'A'
		}
	}
	return string(b)
}

// write writes a record about a revision of the page, of one of the real ones about its article.
func (p page) write(to io.Writer, all []article, id int64, revision, which uint64) error {
	of := p.article(all)
	r := of[which%uint64(len(of))]
	change := p.change(revision, titleWords(of[0].Title+" "+r.Title))
	html := []byte(r.HTML)
	tokens := slices.Clone(r.Tokens)
	for i, t := range tokens {
		if t.HTML || t.Start < 0 || t.End > len(html) || r.HTML[t.Start:t.End] != t.Text {
			continue
		}
		tokens[i].Text = change(t.Text)
		copy(html[t.Start:t.End], tokens[i].Text)
	}
	before, query, _ := strings.Cut(r.URL, "title=")
	title, _, _ := strings.Cut(query, "&amp;oldid=")
	r.ID, r.HTML, r.Tokens = id, string(html), tokens
	r.URL = fmt.Sprintf("%stitle=%s&amp;oldid=%d", before, change(title), p.entry(all, revision).OldID)
	r.Title, r.Question = change(r.Title), change(r.Question)
	r.Words = strings.Fields(change(strings.Join(r.Words, " ")))
	return r.write(to)
}

func (r record) write(to io.Writer) error {
	e := json.NewEncoder(to)
	e.SetEscapeHTML(false)
	return e.Encode(r)
}
