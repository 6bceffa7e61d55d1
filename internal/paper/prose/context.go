package prose

import (
	"strconv"
	"strings"
	"unicode"

	"github.com/redsi/redsi/internal/system/lists"
)

type typed struct {
	Number
	at, end int      // in the paper's text
	label   []string // of its float
	near    []string // labels that its sentence refers to
	around  []string // labels that its paragraph refers to
	words   []string // of its sentence, or of its row and column
}

type span struct{ from, to int }

type float struct {
	span
	labels []string
}

func (p *Paper) numbers() []typed {
	floats, tables, refs := p.layout()
	var out []typed
	to := -len(string(parEnd))
	for text := range strings.SplitSeq(p.text, string(parEnd)) {
		par := span{from: to + len(string(parEnd))}
		to = par.from + len(text)
		par.to = to
		around := labelsIn(refs, par)
		for _, sentence := range sentences(p.text, par) {
			var words []string
			for i := sentence.from; i < sentence.to; {
				c := p.text[i]
				signed := (c == '+' || c == '-' || strings.HasPrefix(p.text[i:], "−")) && i+1 < sentence.to
				if !isDigit(c) && !signed {
					i++
					continue
				}
				n, end, ok := numberAt(p.text[:sentence.to], i)
				if ok {
					if words == nil {
						words = wordsOf(p.text[sentence.from:sentence.to])
					}
					t := typed{Number: n, at: i, end: end, around: around, near: labelsIn(refs, sentence), words: words}
					for _, f := range floats {
						if f.from <= i && i < f.to {
							t.label = f.labels
						}
					}
					out = append(out, t)
				}
				for i = max(end, i+1); !ok && isDigit(c) && i < sentence.to && (isDigit(p.text[i]) || p.text[i] == '.'); {
					i++
				}
			}
		}
	}
	for _, t := range tables {
		p.cellWords(t, out)
	}
	return out
}

func (p *Paper) layout() (floats []float, tables []span, refs []mark) {
	var open, begun []int
	for _, m := range p.marks {
		switch m.kind {
		case floatBegin:
			open = append(open, len(floats))
			floats = append(floats, float{span: span{m.at, len(p.text)}})
		case floatEnd:
			if len(open) > 0 {
				floats[open[len(open)-1]].to = m.at
				open = open[:len(open)-1]
			}
		case labelMark:
			if len(open) > 0 {
				f := &floats[open[len(open)-1]]
				f.labels = append(f.labels, m.text)
			}
		case tableBegin:
			begun = append(begun, m.at)
		case tableEnd:
			if len(begun) > 0 {
				tables = append(tables, span{begun[len(begun)-1], m.at})
				begun = begun[:len(begun)-1]
			}
		case refMark:
			refs = append(refs, m)
		}
	}
	return floats, tables, refs
}

func labelsIn(refs []mark, s span) []string {
	in := lists.Filter(refs, func(m mark) bool { return s.from <= m.at && m.at <= s.to })
	return lists.Map(in, func(m mark) string { return m.text })
}

// sentences splits a paragraph into sentences or rows of a table.
func sentences(text string, par span) (out []span) {
	from := par.from
	for i := par.from; i < par.to; i++ {
		c := text[i]
		ends := c == rowEnd || c == ruleMark
		if c == '.' || c == '?' || c == '!' {
			rest := strings.TrimLeft(text[i+1:par.to], " \n\t")
			gap := len(text[i+1:par.to]) - len(rest)
			ends = gap > 0 && (rest == "" || unicode.IsUpper(rune(rest[0])) || rest[0] >= 0x80)
		}
		if ends {
			out = append(out, span{from, i + 1})
			from = i + 1
		}
	}
	return append(out, span{from, par.to})
}

// cellWords gives the numbers of a table the words of their row and column in place of the words of their line.
func (p *Paper) cellWords(table span, numbers []typed) {
	var heads [][]string // words above a column
	var stubs []string   // last text of columns without numbers: a title for several rows
	body := !strings.ContainsRune(p.text[table.from:table.to], ruleMark)
	for _, row := range p.rows(table) {
		if row.rule {
			body = true
		}
		var rowWords []string
		var settings []setting // integers of the row
		for i, c := range row.cells {
			text := strings.Trim(p.text[c.from:c.to], "\x1f\x1e\x1c")
			if !body {
				for k := c.first; k <= c.last; k++ {
					for len(heads) <= k {
						heads = append(heads, nil)
					}
					heads[k] = append(heads[k], wordsOf(text)...)
				}
				continue
			}
			words := wordsOf(text)
			settings = append(settings, setting{c, countsOf(text, "")})
			for len(stubs) <= i {
				stubs = append(stubs, "")
			}
			if len(words) > 0 {
				stubs[i] = text
			} else if strings.TrimSpace(text) == "" && i < 2 {
				words = wordsOf(stubs[i])
			}
			rowWords = append(rowWords, words...)
		}
		if !body {
			continue
		}
		for _, c := range row.cells {
			for k := range numbers {
				n := &numbers[k]
				if n.at < c.from || n.at >= c.to {
					continue
				}
				n.words = append([]string{}, rowWords...)
				for _, other := range settings {
					if other.cell != c {
						n.words = append(n.words, other.words...)
					}
				}
				if c.first < len(heads) {
					n.words = append(n.words, heads[c.first]...)
				}
			}
		}
	}
}

// setting is a cell that may describe its row with a number, such as 64 tokens.
type setting struct {
	cell  tableCell
	words []string
}

// countsOf returns the integers between separators as words, or a text that is an integer: a row's name may be a number.
func countsOf(text, separators string) (out []string) {
	for _, f := range strings.FieldsFunc(text, func(c rune) bool { return strings.ContainsRune(separators, c) }) {
		if f = strings.TrimSpace(f); f != "" && len(f) < 8 && strings.Trim(f, "0123456789") == "" {
			out = append(out, "#"+f)
		}
	}
	return out
}

type tableRow struct {
	rule  bool // with a line above
	cells []tableCell
}

type tableCell struct {
	span
	first, last int // columns, from 0
}

func (p *Paper) rows(table span) (out []tableRow) {
	spans := map[int]int{}
	for _, m := range p.marks {
		if n, err := strconv.Atoi(m.text); m.kind == spanMark && table.from <= m.at && m.at <= table.to && err == nil && n < 1000 {
			spans[m.at] = n
		}
	}
	row, from, column := tableRow{}, table.from, 0
	cell := func(to int) {
		n := 1
		for at := from; at <= to; at++ {
			if k := spans[at]; k > 0 {
				n = k
				delete(spans, at)
				break
			}
		}
		row.cells = append(row.cells, tableCell{span{from, to}, column, column + n - 1})
		column += n
		from = to + 1
	}
	for i := table.from; i < table.to; i++ {
		switch p.text[i] {
		case cellEnd:
			cell(i)
		case rowEnd:
			cell(i)
			out = append(out, row)
			row, column = tableRow{}, 0
		case ruleMark:
			row.rule = true
			from = i + 1
		}
	}
	cell(table.to)
	return append(out, row)
}

// stop are words that say nothing about a number.
var stop = map[string]bool{"the": true, "of": true, "and": true, "to": true, "in": true, "for": true, "with": true, "is": true, "are": true,
	"on": true, "by": true, "at": true, "from": true, "we": true, "a": true, "an": true, "as": true, "or": true, "that": true, "than": true, "x": true, "y": true}

// wordsOf returns the words of a text in lower case without a plural s; compound names, such as nci_norm, also in parts.
func wordsOf(text string) (out []string) {
	add := func(w string) {
		w = strings.Trim(w, ":@")
		if len(w) > 3 && strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss") {
			w = w[:len(w)-1]
		}
		letters := strings.ContainsFunc(w, unicode.IsLetter) || strings.Contains(w, ":")
		if letters && !stop[w] {
			out = append(out, w)
		}
	}
	fields := strings.FieldsFunc(strings.ToLower(text), func(c rune) bool {
		return !(unicode.IsLetter(c) || unicode.IsDigit(c) || c == '_' || c == '@' || c == ':')
	})
	for _, f := range fields {
		parts := strings.Split(f, "_")
		if len(parts) > 1 {
			add(strings.Join(parts, ""))
		}
		for _, part := range parts {
			add(part)
		}
	}
	return out
}
