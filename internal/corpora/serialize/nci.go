package serialize

import (
	"strings"
	"unicode"

	"github.com/redsi/redsi/internal/corpora/dedup"
	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/corpora/wikipedia"
	"github.com/redsi/redsi/internal/system/lists"
)

// simplified is the simplified format's text without tags, as the keys Text4K and Text4K-Cased cut it.
func simplified(r *nq.Record) Text {
	t := Text{Body: dedup.FlatText(r, 0)}
	t.text = t.Body
	if r.Full() {
		t.Removed.Tags = lists.Count(r.Tokens, func(t nq.Token) bool { return t.HTML })
		return t
	}
	for token := range strings.SplitSeq(r.Text, " ") {
		if dedup.IsTag(token) {
			t.Removed.Tags++
		}
	}
	return t
}

// nci follows the published NCI notebook (NQ_dataset_Process.ipynb): string searches in the simplified format with its tags.
//
//	title     between the first <H1> and the first </H1>, blanks kept; dev: document_title
//	abstract  between the first <P> and the next </P>, blanks and tags kept
//	content   after that </P>, to the second-last </Ul> (the last if there is one only),
//	          tags removed by <[^<]+?>, runs of blanks joined, trimmed
//
// SimpleNorm is title + abstract + content, with nothing between them. NciNorm is title + abstract, with the title trimmed;
// Options can normalize it and add the content.
//
// NOTE: without <P> the notebook reuses the offset of the record before. Here there is no abstract; SimpleNorm's content
// starts with the text, NciNorm is the title.
func (s *Serializer) nci(r *nq.Record) Text {
	doc := r.SimplifiedText()
	var t Text
	t.Title, t.Removed.NoTitle = s.nciTitle(r, doc)
	if s.form == NciNorm {
		t.Title = strings.TrimSpace(t.Title)
		if s.o.NCINormalizeTitle {
			t.Title = s.tools.BertNormalize(t.Title)
		}
	}
	after := 0
	if start, end := between(doc, "<P>", "</P>"); end >= 0 {
		t.Abstract = doc[start:end]
		after = end + len("</P>")
	} else {
		t.Removed.NoAbstract = true
	}
	if s.form == NciNorm && (!s.o.NCIContent || t.Removed.NoAbstract) {
		t.text = t.Title + t.Abstract
		return t
	}
	final := len(doc)
	if last := strings.LastIndex(doc, "</Ul>"); last >= 0 {
		final = last
		if before := strings.LastIndex(doc[:last], "</Ul>"); before >= 0 {
			final = before
		}
	}
	t.Body = nciContent(doc[after:max(after, final)])
	t.text = t.Title + t.Abstract + t.Body
	return t
}

// nciTitle returns the title that NCITitle asks for, and whether it is missing.
func (s *Serializer) nciTitle(r *nq.Record, doc string) (title string, missing bool) {
	if s.o.NCITitle == "document_title" || s.o.NCITitle == "split" && r.Split == nq.Dev {
		if r.Title != "" {
			return r.Title, false
		}
		if title, ok := wikipedia.URLTitle(r.URL); ok {
			return title, false
		}
	}
	if start, end := between(doc, "<H1>", "</H1>"); end >= 0 {
		return doc[start:end], false
	}
	return "", true
}

// between returns the bounds of the first element's content; end is -1 without an element.
func between(doc, opening, closing string) (start, end int) {
	start = strings.Index(doc, opening)
	if start < 0 {
		return 0, -1
	}
	start += len(opening)
	if end = strings.Index(doc[start:], closing); end >= 0 {
		end += start
	}
	return start, end
}

// nciContent removes tags, as the regular expression <[^<]+?> finds them, and newlines, trims, and joins runs of U+0020.
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
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == ' ' }), " ")
}

// isPythonSpace is Python's str.isspace for one character.
func isPythonSpace(r rune) bool { return unicode.IsSpace(r) || r >= 0x1c && r <= 0x1f }
