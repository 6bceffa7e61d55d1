package serialize

import (
	"fmt"
	"strings"

	"github.com/redsi/redsi/internal/dedup"
	"github.com/redsi/redsi/internal/nq"
)

// simplified is the text of the simplified format without its tags: the same
// text that the keys Text4K and Text4K-Cased cut.
func simplified(r *nq.Record) (Text, error) {
	if !r.Full() && r.Text == "" {
		return Text{}, noText(r)
	}
	t := Text{Body: dedup.FlatText(r, 0)}
	t.text = t.Body
	if r.Full() {
		for i := range r.Tokens {
			if r.Tokens[i].HTML {
				t.Removed.Tags++
			}
		}
		return t, nil
	}
	for token := range strings.SplitSeq(r.Text, " ") {
		if len(token) > 2 && token[0] == '<' && token[len(token)-1] == '>' && !strings.Contains(token[1:], "<") {
			t.Removed.Tags++
		}
	}
	return t, nil
}

func noText(r *nq.Record) error {
	return fmt.Errorf("serialize: example %d has neither document_text nor document_tokens", r.ExampleID)
}

// nci follows the published NCI notebook (NQ_dataset_Process.ipynb): string
// searches in the text of the simplified format, tags and all.
//
//	title     between the first <H1> and the first </H1>, blanks kept; dev: document_title
//	abstract  between the first <P> and the first </P>, blanks and tags kept
//	content   after that </P>, to the second-last </Ul> (the last if there is one only),
//	          tags removed by <[^<]+?>, runs of blanks joined, trimmed
//
// NciNorm is normalized title + " " + abstract; SimpleNorm is title + abstract +
// content with nothing between them and no normalization.
//
// NOTE: without <P> the notebook reuses the offset of the record before; here the
// abstract is empty and the content starts with the text.
func (s *Serializer) nci(r *nq.Record) (Text, error) {
	if !r.Full() && r.Text == "" {
		return Text{}, noText(r)
	}
	doc := nciText(r)
	var t Text
	switch {
	case s.o.NCITitle == "document_title" || s.o.NCITitle == "split" && r.Split == nq.Dev:
		if !r.Full() {
			return Text{}, fmt.Errorf(`serialize: example %d: the simplified format has no document_title; set nci_title = "h1"`, r.ExampleID)
		}
		t.Title = r.Title
	default:
		t.Title = cutOut(doc, strings.Index(doc, "<H1>")+len("<H1>"), strings.Index(doc, "</H1>"))
		if !strings.Contains(doc, "<H1>") || !strings.Contains(doc, "</H1>") {
			t.Title, t.Removed.NoTitle = "", true
		}
	}
	start, end, after := strings.Index(doc, "<P>"), strings.Index(doc, "</P>"), 0
	if start >= 0 && end >= 0 {
		t.Abstract = cutOut(doc, start+len("<P>"), end)
		after = end + len("</P>")
	} else {
		t.Removed.NoAbstract = true
	}
	if s.form == NciNorm {
		t.Title = s.tools.BertNormalize(t.Title)
		t.text = t.Title + " " + t.Abstract
		return t, nil
	}
	final := len(doc)
	if last := strings.LastIndex(doc, "</Ul>"); last >= 0 {
		final = last
		if before := strings.LastIndex(doc[:last], "</Ul>"); before >= 0 {
			final = before
		}
	}
	t.Body = nciContent(cutOut(doc, after, final))
	t.text = t.Title + t.Abstract + t.Body
	return t, nil
}

// nciText is the string that the notebook searches: document_text in train, the
// stored tokens joined by blanks in dev, where a blank inside a token stays.
func nciText(r *nq.Record) string {
	if !r.Full() {
		return r.Text
	}
	if r.Split != nq.Dev {
		return nq.SimplifiedText(r.Tokens)
	}
	var b strings.Builder
	for i := range r.Tokens {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(r.Tokens[i].Text)
	}
	return b.String()
}

// cutOut is Python's s[from:to] for offsets from 0 to len(s).
func cutOut(s string, from, to int) string {
	if from >= to {
		return ""
	}
	return s[from:to]
}

// nciContent removes tags, as the regular expression <[^<]+?> finds them, and
// newlines, trims, and joins runs of U+0020.
func nciContent(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	for {
		i := strings.IndexByte(s, '<')
		if i < 0 {
			b.WriteString(s)
			break
		}
		b.WriteString(s[:i])
		s = s[i:]
		// The shortest match: the next '>' with at least one character and no '<' before it.
		next := strings.IndexByte(s[1:], '<')
		if next < 0 {
			next = len(s) - 1
		}
		closing := -1
		if next > 0 {
			closing = strings.IndexByte(s[2:max(2, 1+next)], '>')
		}
		if closing < 0 {
			b.WriteString(s[:1+next])
			s = s[1+next:]
			continue
		}
		s = s[2+closing+1:]
	}
	text := strings.TrimFunc(strings.ReplaceAll(b.String(), "\n", ""), isPythonSpace)
	b.Reset()
	blank := false
	for i := range len(text) {
		if c := text[i]; c != ' ' || !blank {
			b.WriteByte(c)
			blank = c == ' '
		}
	}
	return b.String()
}

// isPythonSpace is Python's str.isspace for one character.
func isPythonSpace(r rune) bool { return isSpace(r) || r >= 0x1c && r <= 0x1f }
