package collect

import (
	"errors"
	"fmt"
	"html"
	"io"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/corpora/unpack"
	"github.com/redsi/redsi/internal/system/lists"
)

// elements reads TREC's documents, <DOC> with <DOCNO>, and topics: <top> with <num> and <title>, or <topic number=…> with
// <query> or only a text. Tags in a text become blanks, and entities characters. Names of elements may be in any case.
type elements struct {
	lines  *unpack.Lines
	role   Role
	schema schema
	outer  string // "doc", "top" or "topic"; "" before the first
	start  int64
	rec    record
	body   strings.Builder
}

func (e *elements) at() int64 { return e.start }

var outers = map[Role][]string{Documents: {"doc"}, Queries: {"top", "topic"}}

func (e *elements) next() (*record, error) {
	head, err := e.begin()
	if err != nil {
		return nil, err
	}
	e.body.Reset()
	closed, tooEarly := "</"+e.outer+">", []string{"<" + e.outer + ">", "<" + e.outer + " "}
	for rest := head; ; {
		lower := asciiLower(rest)
		if at := strings.Index(lower, closed); at >= 0 {
			e.body.WriteString(rest[:at])
			if text := strings.TrimSpace(rest[at+len(closed):]); text != "" {
				return nil, nq.Faultf(nq.Unusable, "%.40q follows %s on its line", text, closed)
			}
			return e.record()
		}
		for _, open := range tooEarly {
			if strings.Contains(lower, open) && e.body.Len() > 0 {
				return nil, &unreadable{fmt.Sprintf("the %s is not closed before the next one in line %d", tooEarly[0], e.lines.Number())}
			}
		}
		e.body.WriteString(rest)
		e.body.WriteByte('\n')
		line, err := e.lines.Next()
		if errors.Is(err, io.EOF) {
			return nil, &unreadable{fmt.Sprintf("the file ends before the end of this %s", tooEarly[0])}
		} else if err != nil {
			return nil, err
		}
		rest = strings.TrimSuffix(string(line), "\r")
	}
}

// begin finds the next record's first line and returns the text behind the tag's name.
func (e *elements) begin() (string, error) {
	for {
		line, err := e.lines.Next()
		if err != nil {
			return "", err
		}
		text := strings.TrimSpace(strings.TrimPrefix(string(line), string(byteOrderMark)))
		lower := asciiLower(text)
		for _, outer := range outers[e.role] {
			if strings.HasPrefix(lower, "<"+outer+">") || strings.HasPrefix(lower, "<"+outer+" ") {
				e.outer, e.start = outer, int64(e.lines.Number())
				return text[1+len(outer):], nil
			}
		}
		// An XML declaration and one element may surround all records.
		if text != "" && text[0] != '<' {
			e.start = int64(e.lines.Number())
			return "", nq.Faultf(nq.Unusable, "%.40q is outside of every <%s>", text, strings.Join(outers[e.role], "> and <"))
		}
	}
}

// elementsOf lists the elements that columns are read from, the likeliest first.
var elementsOf = map[Role]map[int][]string{
	Documents: {docID: {"docno", "docid"}, docTitle: {"title", "headline", "head", "ttl", "ti"}, docText: {"text"}, docURL: {"url", "dochdr.url"}},
	Queries:   {queryID: {"num", "number"}, queryText: {"title", "query"}},
}

func (e *elements) record() (*record, error) {
	body := e.body.String()
	if !utf8.ValidString(body) {
		return nil, nq.Faultf(nq.BadUTF8, "the element is not UTF-8; convert the file, for example by iconv -f latin1 -t utf-8")
	}
	attributes, body, _ := strings.Cut(body, ">")
	tags := lists.Map(tagForm.FindAllStringSubmatchIndex(body, -1), func(at []int) tag {
		return tag{asciiLower(body[at[4]:at[5]]), at[3] > at[2], at[0], at[1]}
	})
	e.rec.names = e.rec.names[:0]
	for _, t := range tags {
		if !t.end && len(e.rec.names) < 20 {
			e.rec.names = append(e.rec.names, t.name)
		}
	}
	for i, c := range e.schema {
		e.rec.values[i] = value{}
		names := elementsOf[e.role][i]
		if len(c.aliases) == 1 { // by the user, or the only one
			names = []string{asciiLower(c.aliases[0])}
		}
		for _, name := range names {
			if text, ok := inside(body, tags, name); ok {
				e.rec.values[i].texts = []string{text}
				break
			}
		}
	}
	text := docText
	if e.role == Queries {
		text = queryText
	}
	if v := &e.rec.values[text]; v.texts == nil && len(e.schema[text].aliases) > 1 && (e.role == Documents || len(tags) == 0) {
		v.texts = []string{e.rest(body, tags)}
	}
	if e.role == Queries {
		e.topic(attributes)
	} else if v := &e.rec.values[docTitle]; v.texts != nil {
		v.texts[0] = strings.Join(strings.Fields(v.texts[0]), " ")
	}
	return &e.rec, nil
}

var numberAttribute = regexp.MustCompile(`(?i)number= *["']*([^"' ]*)`)

// topic removes the labels that TREC writes before a number and a title, and finds a number in an attribute.
func (e *elements) topic(attributes string) {
	if number := numberAttribute.FindStringSubmatch(attributes); number != nil && e.rec.values[queryID].texts == nil {
		e.rec.values[queryID].texts = number[1:]
	}
	for i, label := range map[int]string{queryID: "number:", queryText: "topic:"} {
		if v := e.rec.values[i]; v.texts != nil {
			text := strings.Join(strings.Fields(v.texts[0]), " ")
			if len(text) >= len(label) && strings.EqualFold(text[:len(label)], label) {
				text = strings.TrimSpace(text[len(label):])
			}
			v.texts[0] = text
		}
	}
}

// rest returns the text of a record without an element for it: everything except its name, title and address.
func (e *elements) rest(body string, tags []tag) string {
	var b strings.Builder
	from := 0
	for i := 0; i < len(tags); i++ {
		t := tags[i]
		b.WriteString(body[from:t.at])
		b.WriteByte(' ')
		from = t.after
		if t.end || !isHead(t.name) {
			continue
		}
		i = endOf(tags, i)
		from = tags[i].after
	}
	b.WriteString(body[from:])
	return strings.TrimSpace(html.UnescapeString(b.String()))
}

// isHead reports whether an element of a document is not part of its text.
func isHead(name string) bool {
	for i, names := range elementsOf[Documents] {
		if i != docText && slices.Contains(names, name) {
			return true
		}
	}
	return name == "dochdr"
}

type tag struct {
	name      string // lower-cased
	end       bool
	at, after int
}

// tagForm matches a tag: "<" and a letter, or "</" and a letter, to the next ">".
var tagForm = regexp.MustCompile(`<(/?)([A-Za-z_][\w-]*)[^>]*>`)

// endOf returns the place of a tag's end tag; the tag's own place if it has none.
func endOf(tags []tag, at int) int {
	return at + 1 + slices.IndexFunc(tags[at+1:], func(t tag) bool { return t.end && t.name == tags[at].name })
}

// inside joins the texts of every element of a name, without the tags in it. An element ends at its end tag or, without one,
// as in TREC's topics, at the next tag.
func inside(body string, tags []tag, name string) (string, bool) {
	var parts []string
	for i := 0; i < len(tags); i++ {
		if tags[i].end || tags[i].name != name {
			continue
		}
		last := endOf(tags, i)
		var b strings.Builder
		from := tags[i].after
		switch {
		case last > i:
			for _, t := range tags[i+1 : last+1] {
				b.WriteString(body[from:t.at])
				b.WriteByte(' ')
				from = t.after
			}
			i = last
		case i+1 < len(tags):
			b.WriteString(body[from:tags[i+1].at])
		default:
			b.WriteString(body[from:])
		}
		parts = append(parts, strings.TrimSpace(html.UnescapeString(b.String())))
	}
	return strings.Join(parts, "\n"), parts != nil
}

// asciiLower keeps every byte at its place, which strings.ToLower does not.
func asciiLower(s string) string {
	b := []byte(s)
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}
