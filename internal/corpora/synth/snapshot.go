package synth

import (
	"slices"
	"strconv"
	"strings"

	"github.com/redsi/redsi/internal/corpora/splitmix"
)

// token is one entry of document_tokens; start and end are bytes of the HTML.
type token struct {
	End   int    `json:"end_byte"`
	Tag   bool   `json:"html_token"`
	Start int    `json:"start_byte"`
	Text  string `json:"token"`
}

// snapshot is a page as one record has it.
type snapshot struct {
	html   []byte
	tokens []token
	shift  int // of the tokens behind the heading against the article's
}

// write lays the snapshot out, in the memory of the one before.
func (s *snapshot) write(p *page, l look) {
	a, title := p.article, titlePieces(p.titleAt(int(l.revision)))
	s.html, s.tokens = s.html[:0], s.tokens[:0]
	for i, piece := range a.Pieces {
		switch {
		case i == 0:
			s.title(title, piece.Gap)
		case i < a.titled(), a.h1 < i && i < a.endH1:
		case i == a.titled()+1: // "Wikipedia"
			text := piece.Text
			if l.noise&lowerSite != 0 {
				text = strings.ToLower(text)
			}
			s.put(piece.Gap, piece.HTML, text, false)
		case i == a.endH1:
			first := len(s.tokens)
			s.title(title, "")
			if l.noise&headingNoise != 0 {
				changeCase(s.tokens[first:])
			}
			s.shift = len(s.tokens) - i
			s.put("", piece.HTML, piece.Text, true)
		case slices.Contains(a.Edited, i):
			n := p.number(slices.Index(a.Edited, i), l)
			s.put(piece.Gap, n, n, false)
		case piece.plain:
			s.html = append(s.html, piece.Gap...)
			start := len(s.html)
			s.html = p.exchange(s.html, piece.Text)
			text := piece.Text
			if string(s.html[start:]) != text {
				text = string(s.html[start:])
			}
			s.tokens = append(s.tokens, token{len(s.html), false, start, text})
		default:
			s.put(piece.Gap, piece.HTML, piece.Text, piece.Tag)
		}
	}
	s.html = append(s.html, a.Tail...)
}

func (s *snapshot) put(gap, html, text string, tag bool) {
	s.html = append(s.html, gap...)
	start := len(s.html)
	s.html = append(s.html, html...)
	s.tokens = append(s.tokens, token{len(s.html), tag, start, text})
}

func (s *snapshot) title(title []piece, gap string) {
	for i, t := range title {
		if i > 0 {
			gap = t.Gap
		}
		s.put(gap, t.HTML, t.Text, false)
	}
}

// number replaces an edited word: the page and its edits so far, or the value of a template.
func (p *page) number(edited int, l look) string {
	at := early + where(edited/2)
	if edited%2 == 0 {
		return strconv.Itoa(16*p.index + int(p.edits[l.revision][at]))
	}
	return strconv.FormatUint(138+3*p.rendered(l, at), 10)
}

// changeCase turns the case of the first letter of the last word.
func changeCase(tokens []token) {
	for i := len(tokens) - 1; i >= 0; i-- {
		if t := tokens[i].Text; len(t) > 1 && letters(t) > 0 {
			tokens[i].Text = string(t[0]^0x20) + t[1:]
			return
		}
	}
}

// exchange appends a text of the article in the page's words: its keyword for the word of the title, and for a third of all
// words another word, as long and always the same.
func (p *page) exchange(dst []byte, text string) []byte {
	at := 0
	for i, word := range words(text) {
		dst = append(dst, text[at:i]...)
		at = i + len(word)
		h := p.seed
		for i := range len(word) {
			h = splitmix.Finish(h ^ uint64(word[i]|0x20) + splitmix.Gamma)
		}
		switch {
		case strings.EqualFold(word, p.article.name) && word[0] < 'a':
			dst = append(dst, p.key...)
		case strings.EqualFold(word, p.article.name):
			dst = append(dst, strings.ToLower(p.key)...)
		case h%3 == 0:
			dst = appendLike(dst, h, word)
		default:
			dst = append(dst, word...)
		}
	}
	return append(dst, text[at:]...)
}

// appendLike appends an invented word as long as word, with its capitals.
func appendLike(dst []byte, h uint64, word string) []byte {
	for i := range len(word) {
		set := [2]string{consonants, vowels}[i%2]
		dst = append(dst, set[h%uint64(len(set))]^(word[i]&0x20^0x20))
		h = splitmix.Finish(h + splitmix.Gamma)
	}
	return dst
}

// opening is the beginning of the page's HtmlNorm text: heading and first paragraph. HtmlNorm looks for a pronunciation in
// the first parenthesis, which may be in the title.
func (p *page) opening(revision int) string {
	text := p.article.Opening
	if p.pronounced(revision) {
		text = strings.Replace(text, p.article.Pronunciation, "", 1)
	}
	return p.titleAt(revision) + "\n" + string(p.exchange(nil, text))
}

// pronounced reports whether HtmlNorm drops a pronunciation.
func (p *page) pronounced(revision int) bool {
	return p.article.Pronunciation != "" && !strings.Contains(p.titleAt(revision), "(")
}
