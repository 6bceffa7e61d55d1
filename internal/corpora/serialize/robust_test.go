package serialize

import (
	"math/rand/v2"
	"reflect"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/system/testkit"
)

// Pages that are large, deep or repetitive: the work and the text stay bounded.
// A rule that is not linear makes these run for minutes.
func TestHostile(t *testing.T) {
	const n = 30_000
	long := strings.Repeat("x", 1000)
	for _, tt := range []struct{ name, html string }{
		{"deep div", strings.Repeat("<div>", n) + "a"},
		{"deep list", strings.Repeat("<ul><li>a", n)},
		{"deep table", strings.Repeat("<table><tr><td>a", n)},
		{"deep inline", strings.Repeat("<b>a", n)},
		{"deep removed", strings.Repeat(`<span class="navbox">a`, n)},
		{"unmatched ends", strings.Repeat("</div></span></li></table>a", n)},
		{"deep and unmatched ends", strings.Repeat("<div>", 600) + strings.Repeat("</p></ul>a", n)},
		{"many paragraphs", strings.Repeat("<p>a", n)},
		{"brackets", "<p>" + strings.Repeat("[", n) + "a" + strings.Repeat("]", n)},
		{"artifacts", "<p>" + strings.Repeat("[edit]", n)},
		{"parentheses", "<p>" + strings.Repeat("(", n)},
		{"entities", "<p>" + strings.Repeat("&amp", n)},
		{"rowspans", "<table><tr>" + strings.Repeat("<td rowspan=65534>a", 5000) + strings.Repeat("<tr><td>b", 5000)},
		{"long rowspan", "<table><tr><td rowspan=65534>" + long + "<td>b<td>c" + strings.Repeat("<tr><td>b<td>c", n)},
		{"colspans", "<table>" + strings.Repeat("<tr><th colspan=1000>a<th colspan=1000>b<th colspan=1000>c", 5000) + "<tr><td>d<td>e<td>f"},
		{"long headers", "<table><tr><th>" + long + "<th>" + long + strings.Repeat("<tr><td>a<td>b", n)},
		{"terms", "<dl>" + strings.Repeat("<dt>a", n)},
		{"terms of one definition", "<dl>" + strings.Repeat("<dt>a", n) + "<dd>" + long},
		{"empty items", "<ul>" + strings.Repeat("<li>", n)},
		{"empty sections", "<p>a" + strings.Repeat("<h2>a<h3>b", n)},
		{"footers", "<p>a" + strings.Repeat("<h4>a<h2>Notes</h2>b", n)},
		{"pairs in spans", "<table>" + strings.Repeat("<tr><th colspan=1000>"+long+"<td colspan=1000>b", 2000)},
		{"text between cells", "<table>" + strings.Repeat("a<tr>", n)},
		{"headings", strings.Repeat("<h2>a", n)},
		{"classes", `<p class="` + strings.Repeat("a ", n) + `">a`},
		{"attributes", `<p ` + strings.Repeat("class=a ", 20000) + `>a`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := article(tt.html)
			for _, change := range []func(*Options){func(*Options) {}, released} {
				got := document(t, newSerializer(t, HtmlNorm, func(o *Options) { change(o); o.MaxBytes = 1 << 20 }), r)
				if len(got.String()) > 3<<20 || !utf8.ValidString(got.String()) {
					t.Errorf("%d bytes", len(got.String()))
				}
			}
		})
	}
}

func TestTruncated(t *testing.T) {
	s := newSerializer(t, HtmlNorm, func(o *Options) { o.MaxBytes = 1024 })
	got := document(t, s, article("<h2>A</h2>"+strings.Repeat("<p>abc", 1000)))
	if !got.Removed.Truncated || len(got.Body) < 1024 || len(got.Body) > 1100 || !strings.HasSuffix(got.Body, "\nabc") {
		t.Errorf("%d bytes, %+v", len(got.Body), got.Removed)
	}
}

// One serializer serves several goroutines, and a document does not depend on the one before it.
func TestConcurrentUse(t *testing.T) {
	s := newSerializer(t, HtmlNorm, nil)
	pages := records(t, "real-pages-dev-full.jsonl.gz", nq.Dev)
	want := make([]string, len(pages))
	for i, r := range pages {
		want[i] = document(t, newSerializer(t, HtmlNorm, nil), r).String()
	}
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range pages {
				i = (i + g) % len(pages)
				if got, err := s.Document(pages[i]); err != nil || got.String() != want[i] {
					t.Errorf("page %d differs (%v)", i, err)
				}
			}
		})
	}
	wg.Wait()
}

// draw sets every choice of the options at random.
func draw(o *Options, rng *rand.Rand) {
	v := reflect.ValueOf(o).Elem()
	for i := range v.NumField() {
		switch f, values := v.Field(i), strings.Split(v.Type().Field(i).Tag.Get("enum"), ","); {
		case values[0] != "":
			f.SetString(values[rng.IntN(len(values))])
		case f.Kind() == reflect.Bool:
			f.SetBool(rng.IntN(2) == 0)
		case f.Kind() == reflect.Slice && rng.IntN(2) == 0:
			f.SetZero()
		}
	}
	o.PronunciationWindow, o.MaxBytes = rng.IntN(300), 1<<10+rng.IntN(1<<16)
}

// Random options make documents of random articles and of the real ones.
func TestRandomOptions(t *testing.T) {
	pages := records(t, "nq-full-walking-dead.jsonl.gz", nq.Train)
	for _, html := range []string{woods, selena, matt} {
		pages = append(pages, page(html))
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for range 100 {
		o := Defaults()
		draw(&o, rng)
		for _, form := range Forms {
			s, err := New(form, o, tools)
			testkit.None(t, err)
			for _, r := range pages {
				if form != HtmlNorm {
					document(t, s, r)
					continue
				}
				checkLines(t, document(t, s, r))
			}
		}
	}
}

// checkLines holds what every HtmlNorm text has: no blanks at the ends of lines, no two
// empty lines in a row, none at the ends.
func checkLines(t *testing.T, got Text) {
	t.Helper()
	text := got.String()
	for line := range strings.SplitSeq(got.Body, "\n") {
		if line != strings.TrimRight(line, " ") {
			t.Fatalf("trailing blank: %q", line)
		}
	}
	if strings.Contains(text, "\n\n\n") || strings.HasSuffix(text, "\n") || strings.HasPrefix(got.Body, "\n") {
		t.Fatalf("lines: %q", text)
	}
}

// FuzzDocument takes any HTML with any spans through every form.
func FuzzDocument(f *testing.F) {
	for _, html := range []string{woods, selena, "<table><tr><td rowspan=3>a<th>b<caption>c", "<dl><dt>a<dd>b<ul><li>c", "<h1>a (ˈ)</h1>[edit]"} {
		f.Add([]byte(html), []byte{1, 0, 2, 3}, byte(0))
	}
	var all []*Serializer
	for _, change := range []func(*Options){
		nil,
		func(o *Options) {
			o.TextSource = "html"
		},
		func(o *Options) {
			o.TextSource, o.Normalize, o.Tables = "stored", "none", "matrix"
		},
	} {
		all = append(all, newSerializer(f, HtmlNorm, change))
	}
	for _, form := range Forms {
		all = append(all, newSerializer(f, form, released))
	}
	for seed := range uint64(8) {
		all = append(all, newSerializer(f, HtmlNorm, func(o *Options) { draw(o, rand.New(rand.NewPCG(seed, 0))) }))
	}
	f.Fuzz(func(t *testing.T, html, spans []byte, kind byte) {
		if len(html) == 0 {
			return
		}
		r := &nq.Record{Split: nq.Train, Title: "Stored", HTML: html}
		if kind%2 == 0 {
			r.Tokens = tokenize(strings.ToValidUTF8(string(html), "?"))
		}
		for i := 0; i+1 < len(spans); i += 2 { // around the last one, out of order and range
			start := int32(len(html)) * int32(spans[i]) / 200
			r.Tokens = append(r.Tokens, nq.Token{Text: "x", Start: start, End: start + int32(int8(spans[i+1]))})
		}
		for _, s := range all {
			got, err := s.Document(r)
			if err != nil {
				if len(r.Tokens) > 0 || s.form == HtmlNorm {
					t.Fatal(err)
				}
				continue
			}
			text := got.String()
			if !utf8.ValidString(text) && s.form == HtmlNorm {
				t.Fatalf("not UTF-8: %q", text)
			}
			if limit := 1 << 20; len(html)+len(spans) < 4096 && len(text) > 4*limit {
				t.Fatalf("%d bytes from %d", len(text), len(html))
			}
			if s.form != HtmlNorm {
				continue
			}
			checkLines(t, got)
		}
	})
}
