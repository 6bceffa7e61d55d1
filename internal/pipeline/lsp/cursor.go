package lsp

import (
	"regexp"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/redsi/redsi/internal/pipeline/declare"
	"github.com/redsi/redsi/internal/system/lists"
)

// place is where in a pipeline a position is, as the text before it says.
type place struct {
	blocks []header // around it, from the outermost
	where  where
	label  int      // of a header's labels, which one
	path   []string // in a value: the attribute, and names and "[]" of what is within it
	quote  bool     // within quotation marks
	word   string   // what of a name or text is before the position
	before []string // the reference that the word goes on: step, train; indexes are "[…]"
	index  bool     // the word is an index of the reference, which is complete
}

type where int

const (
	inComment where = iota
	inBody          // where the name of an attribute or a block may stand
	inLabel
	inValue
)

type header struct {
	typ    string
	labels []string
}

// name is the block's name in references.
func (h header) name() string { return strings.Join(append([]string{h.typ}, h.labels...), ".") }

// top finds where a block begins at the start of a line: what is broken before it does not matter to a text read from there.
var top = regexp.MustCompile(`(?m)^(run|variables|` + // of a test
	strings.Join(lists.Map(declare.Types, func(t declare.Type) string { return t.Name }), "|") + `)\b[^=\n]*$`)

// lexFrom is where to begin to read the text so that an offset in it is understood.
func lexFrom(src string, offset int) int {
	all := append([][]int{{0}}, top.FindAllStringIndex(src[:offset], -1)...)
	return all[len(all)-1][0]
}

func lex(src string) hclsyntax.Tokens {
	toks, _ := hclsyntax.LexConfig([]byte(src), "", hcl.Pos{Line: 1, Column: 1})
	if n := len(toks); n > 0 && toks[n-1].Type == hclsyntax.TokenEOF {
		toks = toks[:n-1]
	}
	return toks
}

// group is a bracket of some kind that stands open.
type group struct {
	open   hclsyntax.TokenType
	body   bool     // of a block
	header header   // of such a block
	names  []string // of what is being written: the name of an attribute, or a header
	value  bool     // what comes is a value
	label  bool     // a quotation mark, of a label
	index  bool     // a bracket, after a reference
	opaque bool     // a call whose arguments are of other types than its result
}

// through are functions whose arguments are what their result is.
var through = []string{"concat", "coalesce", "coalescelist", "distinct", "flatten", "merge", "try", "tolist", "tomap", "values"}

// placeAt says where in a pipeline an offset is, by the text before it.
func placeAt(src string, offset int) place {
	from := lexFrom(src, offset)
	toks := lex(src[from:offset])
	stack := []*group{{body: true, open: hclsyntax.TokenOBrace}}
	for i, t := range toks {
		stack = feed(stack, toks, i, t)
	}
	return describe(stack, toks, src[from:offset])
}

// feed goes on by one token.
func feed(stack []*group, toks hclsyntax.Tokens, i int, t hclsyntax.Token) []*group {
	g := stack[len(stack)-1]
	push := func(n *group) []*group { n.open = t.Type; return append(stack, n) }
	newItem := func() { g.names, g.value = nil, false }
	keyed := g.body || g.open == hclsyntax.TokenOBrace
	switch t.Type {
	case hclsyntax.TokenOBrace:
		if g.body && !g.value {
			h := header{}
			if len(g.names) > 0 {
				h = header{g.names[0], g.names[1:]}
			}
			return push(&group{body: true, header: h})
		}
		return push(&group{})
	case hclsyntax.TokenOBrack:
		after := []hclsyntax.TokenType{hclsyntax.TokenIdent, hclsyntax.TokenCBrack, hclsyntax.TokenCParen} // the end of a reference
		return push(&group{value: true, index: i > 0 && slices.Contains(after, toks[i-1].Type)})
	case hclsyntax.TokenOParen:
		call := i > 0 && toks[i-1].Type == hclsyntax.TokenIdent
		return push(&group{value: true, opaque: call && !slices.Contains(through, string(toks[i-1].Bytes))})
	case hclsyntax.TokenTemplateInterp, hclsyntax.TokenTemplateControl:
		return push(&group{value: true, opaque: true})
	case hclsyntax.TokenOQuote, hclsyntax.TokenOHeredoc:
		return push(&group{label: g.body && !g.value && len(g.names) > 0})
	case hclsyntax.TokenCBrace, hclsyntax.TokenCBrack, hclsyntax.TokenCParen, hclsyntax.TokenTemplateSeqEnd, hclsyntax.TokenCQuote, hclsyntax.TokenCHeredoc:
		if len(stack) == 1 {
			return stack
		}
		stack = stack[:len(stack)-1]
		if outer := stack[len(stack)-1]; g.body {
			outer.names, outer.value = nil, false
		} else if t.Type == hclsyntax.TokenCQuote && !outer.value && len(outer.names) == 0 { // a key, or an empty label
			outer.names = append(outer.names, "")
		}
	case hclsyntax.TokenQuotedLit:
		if len(stack) > 1 && g.open == hclsyntax.TokenOQuote {
			if outer := stack[len(stack)-2]; !outer.value && (g.label || outer.open == hclsyntax.TokenOBrace) && i+1 < len(toks) && toks[i+1].Type == hclsyntax.TokenCQuote {
				outer.names = append(outer.names, string(t.Bytes))
			}
		}
	case hclsyntax.TokenIdent:
		if keyed && !g.value {
			g.names = append(g.names, string(t.Bytes))
			g.value = !g.body && string(t.Bytes) == "for"
		}
	case hclsyntax.TokenEqual, hclsyntax.TokenColon:
		if keyed {
			g.value = true
		}
	case hclsyntax.TokenNewline:
		if keyed {
			newItem()
		}
	case hclsyntax.TokenComma:
		if keyed && !g.body && !slices.Contains(g.names, "for") {
			newItem()
		}
	case hclsyntax.TokenComment:
		if keyed && strings.HasSuffix(string(t.Bytes), "\n") {
			newItem()
		}
	}
	return stack
}

// describe says where the end of a text is, by its tokens and the brackets that stand open.
func describe(stack []*group, toks hclsyntax.Tokens, text string) place {
	p := place{where: inValue}
	opaque := false
	for n, g := range stack {
		switch {
		case g.body:
			p.path, opaque = nil, false
			if n > 0 {
				p.blocks = append(p.blocks, g.header)
			}
			if g.value && len(g.names) > 0 {
				p.path = append(p.path, g.names[0])
			}
		case g.open == hclsyntax.TokenOBrace:
			if g.value && len(g.names) > 0 && g.names[0] != "for" {
				p.path = append(p.path, g.names[0])
			} else {
				p.path = append(p.path, "{}")
			}
		case g.open == hclsyntax.TokenOBrack && !g.index:
			p.path = append(p.path, "[]")
		}
		opaque = opaque || g.opaque || g.index
	}
	if opaque {
		p.path = nil
	}
	g := stack[len(stack)-1]
	n := len(toks)
	if n > 0 && toks[n-1].Type == hclsyntax.TokenComment && !strings.HasSuffix(string(toks[n-1].Bytes), "\n") {
		return place{where: inComment}
	}
	if g.open == hclsyntax.TokenOQuote || g.open == hclsyntax.TokenOHeredoc {
		p.quote = true
		start := n - 1
		for start >= 0 && toks[start].Type != g.open {
			start--
		}
		p.word = text[toks[start].Range.End.Byte:]
		outer := stack[len(stack)-2]
		switch {
		case g.label:
			p.where, p.label = inLabel, len(outer.names)-1
			p.blocks = append(p.blocks, header{outer.names[0], outer.names[1:]})
		case outer.index:
			p.index = true
			p.before = chain(toks[:start-1])
		case !outer.value: // a key
			p.where = inBody
		}
		return p
	}
	if (g.body || g.open == hclsyntax.TokenOBrace) && !g.value {
		p.where = inBody
		if len(g.names) > 0 {
			p.word = g.names[len(g.names)-1]
			if toks[n-1].Type != hclsyntax.TokenIdent || toks[n-1].Range.End.Byte < len(text) {
				p.where, p.word = inComment, "" // between a name and what follows it
			}
		}
		if len(g.names) > 1 {
			p.where = inComment
		}
		return p
	}
	if n > 0 && toks[n-1].Type == hclsyntax.TokenIdent {
		last := string(toks[n-1].Bytes)
		switch {
		case toks[n-1].Range.End.Byte == len(text):
			p.word, toks = last, toks[:n-1]
		case last == "in" || last == "if":
			return p
		default:
			p.where = inComment // an operator may follow
			return p
		}
	}
	if n = len(toks); n > 0 && toks[n-1].Type == hclsyntax.TokenDot {
		if p.before = chain(toks[:n-1]); p.before == nil {
			p.where = inComment // after something that is not a reference
		}
	} else if g.index && n > 0 && toks[n-1].Type == hclsyntax.TokenOBrack {
		p.before, p.index = chain(toks[:n-1]), true
	}
	return p
}

// chain is the reference that tokens end in: names, and indexes as "[…]"; nil: they end in none.
func chain(toks hclsyntax.Tokens) []string {
	var parts []string
	for i := len(toks) - 1; i >= 0; i-- {
		switch toks[i].Type {
		case hclsyntax.TokenCBrack:
			end, depth := i, 0
			for ; i >= 0; i-- {
				if toks[i].Type == hclsyntax.TokenCBrack {
					depth++
				}
				if toks[i].Type == hclsyntax.TokenOBrack {
					if depth--; depth == 0 {
						break
					}
				}
			}
			if i < 0 {
				return nil
			}
			var text strings.Builder
			for _, t := range toks[i : end+1] {
				text.Write(t.Bytes)
			}
			parts = append(parts, text.String())
			continue
		case hclsyntax.TokenIdent:
			parts = append(parts, string(toks[i].Bytes))
			if i > 0 && toks[i-1].Type == hclsyntax.TokenDot {
				i--
				continue
			}
		default:
			return nil
		}
		break
	}
	slices.Reverse(parts)
	if len(parts) == 0 || strings.HasPrefix(parts[0], "[") {
		return nil
	}
	return parts
}

// under finds the name or text at an offset; placeAt of its end is about all of it.
func under(src string, offset int) (start, end int, ok bool) {
	from := lexFrom(src, offset)
	for _, t := range lex(src[from:]) {
		start, end = from+t.Range.Start.Byte, from+t.Range.End.Byte
		if start > offset {
			break
		}
		if offset <= end && (t.Type == hclsyntax.TokenIdent || t.Type == hclsyntax.TokenQuotedLit) {
			return start, end, true
		}
	}
	return 0, 0, false
}
