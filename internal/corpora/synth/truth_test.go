package synth

import (
	"fmt"
	"html"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// keysOf computes the ten strings of a record.
func keysOf(e example, dev bool, pageOf map[string]string) map[Key]string {
	address := html.UnescapeString(e.URL)
	_, query, _ := strings.Cut(address, "?title=")
	title, oldid, _ := strings.Cut(query, "&oldid=")
	title, _ = url.PathUnescape(title)
	title = strings.ReplaceAll(title, "_", " ")
	var words, heading []string
	in := false
	for _, t := range e.Tokens {
		switch {
		case t.Token == "<H1>":
			in = true
		case t.Token == "</H1>":
			in = false
		case !t.HTML:
			words = append(words, strings.ReplaceAll(t.Token, " ", "_"))
			if in {
				heading = append(heading, t.Token)
			}
		}
	}
	text := []rune(strings.Join(words, " "))
	if len(text) > 4000 {
		text = text[:4000]
	}
	h1 := strings.Join(heading, " ")
	nci := wordPieces(h1)
	if dev {
		nci = wordPieces(e.DocumentTitle)
	}
	page, ok := pageOf[oldid]
	if !ok {
		page = "t:" + title
	}
	return map[Key]string{
		Text4KCased: string(text), Text4K: strings.ToLower(string(text)), URL: e.URL,
		URLTitleCased: title, URLTitle: strings.ToLower(title), H1Cased: h1, H1: strings.ToLower(h1),
		NciH1: wordPieces(h1), Title: nci, PageID: page,
	}
}

// wordPieces stands for BERT's tokenizer: two strings are equal after it if and
// only if they are after tokenize-and-decode, for the characters of our titles.
func wordPieces(s string) string {
	s = strings.ToLower(s)
	var b strings.Builder
	for _, r := range norm.NFD.String(s) {
		switch {
		case unicode.Is(unicode.Mn, r):
		case r > 0xffff:
			b.WriteString("[UNK]")
		case unicode.IsPunct(r) || strings.ContainsRune("$+<=>^`|~", r):
			fmt.Fprintf(&b, " %c ", r)
		default:
			b.WriteRune(r)
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

func put(m map[string]map[string]bool, k, v string) {
	if m[k] == nil {
		m[k] = map[string]bool{}
	}
	m[k][v] = true
}

func several(m map[string]map[string]bool) (n int) {
	for _, s := range m {
		if len(s) > 1 {
			n++
		}
	}
	return n
}

func TestTruth(t *testing.T) {
	many := Default()
	many.Seed, many.Pages, many.TrainQuestions, many.DevQuestions, many.TrapEvery = 7, 150, 200, 90, 2
	many.StubParts, many.StubRevisionsPerPage, many.TrainShards, many.DevShards = 3, 0, 3, 5
	plainOnly := Default()
	plainOnly.Seed, plainOnly.TrapEvery, plainOnly.TrainQuestions, plainOnly.DevQuestions, plainOnly.Whole = 3, 0, 30, 3, true
	for name, c := range map[string]corpus{"default": defaultCorpus(), "many": generate(t, many), "plain": generate(t, plainOnly)} {
		t.Run(name, func(t *testing.T) { checkTruth(t, c) })
	}
}

// checkTruth reads the files back with the plainest code that could work.
func checkTruth(t *testing.T, c corpus) {
	t.Helper()
	truth := c.truth
	dump := c.dump(t)
	if !reflect.DeepEqual(dump.count, truth.Stub) {
		t.Errorf("stub: counted %+v, truth %+v", dump.count, truth.Stub)
	}
	train, _ := c.examples(t, KindTrain)
	dev, _ := c.examples(t, KindDev)
	if want := (Counts{len(train), len(dev), len(train) + len(dev)}); truth.Records != want {
		t.Errorf("records: counted %+v, truth %+v", want, truth.Records)
	}
	var rows []map[Key]string
	var tokens Counts
	texts := map[string]map[string]bool{}
	for i, e := range append(train, dev...) {
		rows = append(rows, keysOf(e, i >= len(train), dump.pageOf))
		var flat []string
		for _, tok := range e.Tokens {
			flat = append(flat, tok.Token)
		}
		tokens.Union += len(flat)
		if i < len(train) {
			tokens.Train += len(flat)
		} else {
			tokens.Dev += len(flat)
		}
		put(texts, e.URL, strings.Join(flat, " "))
	}
	if tokens != truth.Tokens {
		t.Errorf("tokens: counted %+v, truth %+v", tokens, truth.Tokens)
	}
	total := 0
	for _, s := range texts {
		total += len(s)
	}
	if total != truth.Texts.Union || several(texts) != truth.VaryingRevisions {
		t.Errorf("texts: counted %d, %d revisions vary; truth %+v, %d", total, several(texts), truth.Texts, truth.VaryingRevisions)
	}
	for _, k := range Keys() {
		sets := [3]map[string]int{{}, {}, {}}
		for i, row := range rows {
			sets[2][row[k]]++
			if i < len(train) {
				sets[0][row[k]]++
			} else {
				sets[1][row[k]]++
			}
		}
		if got := (Counts{len(sets[0]), len(sets[1]), len(sets[2])}); got != truth.Documents[k] {
			t.Errorf("%s: counted %+v, truth %+v", k, got, truth.Documents[k])
		}
		cov := Coverage{DevTargets: len(sets[1])}
		for d, n := range sets[1] {
			if m := sets[0][d]; m > 0 {
				cov.InTrain++
				cov.TrainQueries += m
				cov.DevQueries += n
			}
		}
		if cov != truth.Coverage[k] {
			t.Errorf("%s coverage: counted %+v, truth %+v", k, cov, truth.Coverage[k])
		}
	}
	for _, k := range []Key{Title, NciH1} {
		checkTitles(t, k, rows, len(train), truth.Titles[k])
	}
	checkRevisions(t, rows, len(train), truth.Revisions)
	checkSubstitutions(t, dev, truth.Substitutions)
}

func checkTitles(t *testing.T, k Key, rows []map[Key]string, train int, want Titles) {
	titles, pages := map[string]map[string]bool{}, map[string]map[string]bool{}
	for _, row := range rows {
		if !strings.HasPrefix(row[PageID], "t:") {
			put(titles, row[PageID], row[k])
			put(pages, row[k], row[PageID])
		}
	}
	got := Titles{Fragmented: several(titles), Collisions: several(pages)}
	colliding := map[string]bool{}
	for _, set := range pages {
		if len(set) > 1 {
			for p := range set {
				colliding[p] = true
			}
		}
	}
	got.CollidingPages = len(colliding)
	for i, row := range rows {
		if len(titles[row[PageID]]) > 1 || len(pages[row[k]]) > 1 {
			if i < train {
				got.AffectedTrain++
			} else {
				got.AffectedDev++
			}
		}
	}
	if got != want {
		t.Errorf("titles by %s: counted %+v, truth %+v", k, got, want)
	}
}

func checkRevisions(t *testing.T, rows []map[Key]string, train int, want Revisions) {
	resolved, missing := map[string]bool{}, map[string]bool{}
	var got Revisions
	for i, row := range rows {
		if strings.HasPrefix(row[PageID], "t:") {
			missing[row[URL]] = true
			got.UnresolvedRecords.add(i >= train)
		} else {
			resolved[row[URL]] = true
		}
	}
	got.Resolved, got.Unresolved, got.Distinct = len(resolved), len(missing), len(resolved)+len(missing)
	if got != want {
		t.Errorf("revisions: counted %+v, truth %+v", got, want)
	}
}

func checkSubstitutions(t *testing.T, dev []example, want Substitutions) {
	var got Substitutions
	pairs := map[pair]*Substitution{}
	for _, e := range dev {
		seen := map[pair]bool{}
		for _, tok := range e.Tokens {
			if tok.HTML {
				continue
			}
			got.Compared++
			p := pair{html.UnescapeString(e.HTML[tok.Start:tok.End]), tok.Token}
			if strings.EqualFold(p.html, p.stored) {
				continue
			}
			got.Mismatches++
			if pairs[p] == nil {
				pairs[p] = &Substitution{HTML: p.html, Stored: p.stored}
			}
			if pairs[p].Count++; !seen[p] {
				seen[p] = true
				pairs[p].Records++
			}
		}
	}
	if got.Compared != want.Compared || got.Mismatches != want.Mismatches || len(pairs) != len(want.Pairs) {
		t.Errorf("substitutions: counted %+v and %d pairs, truth %+v", got, len(pairs), want)
	}
	for _, w := range want.Pairs {
		if p := pairs[pair{w.HTML, w.Stored}]; p == nil || *p != w {
			t.Errorf("substitutions: counted %+v, truth %+v", p, w)
		}
	}
}

// TestDesigns checks that the default corpus shows each design's effect.
func TestDesigns(t *testing.T) {
	truth := defaultCorpus().truth
	d := truth.Documents
	for _, less := range [][2]Key{
		{Text4K, Text4KCased}, {URLTitle, URLTitleCased}, {H1, H1Cased}, {NciH1, H1}, {NciH1, Title},
	} {
		if d[less[0]].Union >= d[less[1]].Union {
			t.Errorf("%s has %d documents, %s %d", less[0], d[less[0]].Union, less[1], d[less[1]].Union)
		}
	}
	if d[Text4K].Union >= d[URL].Union {
		t.Error("no edits after 4,000 characters")
	}
	for name, n := range map[string]int{
		"title fragments without a rename": truth.Titles[Title].Fragmented - truth.Titles[NciH1].Fragmented,
		"collisions":                       truth.Titles[Title].Collisions,
		"varying revisions":                truth.VaryingRevisions,
		"unresolved":                       truth.Revisions.UnresolvedRecords.Train,
		"pronunciations":                   truth.HTMLNorm.PronunciationRemoved.Union,
		"redirects":                        truth.Stub.Redirects,
	} {
		if n <= 0 {
			t.Errorf("the default corpus has no %s", name)
		}
	}
}
