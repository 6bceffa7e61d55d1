package syntax

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"golang.org/x/text/unicode/norm"
)

// Limits on one source: the parser and the evaluator recurse, and no file that a person wrote comes near.
const (
	MaxSource = 4 << 20 // bytes
	MaxDepth  = 1000    // brackets, blocks, templates and operators within each other
)

const (
	MaxExponent = 1 << 14 // of a number, in bits
	maxDigits   = 1000    // of a number, written
)

// Limit is the error of an evaluation that went too far.
type Limit struct{ Summary, Detail string }

func (e *Limit) Error() string { return e.Detail }

// Over is a limit that was passed, in words.
func Over(summary, format string, args ...any) *Limit {
	return &Limit{summary, fmt.Sprintf(format, args...)}
}

// The evaluator keeps strings in Unicode's form NFC, in which a letter with an accent is one character. A program would get
// other bytes than a text in another form has, so such texts are refused in sources, files that expressions read, and
// values of variables.

// NotNFC is the line, from 1, of the first text that is not in NFC; 0 if all is.
func NotNFC(b []byte) int {
	if norm.NFC.IsNormal(b) {
		return 0
	}
	line := 1
	for text := range bytes.Lines(b) {
		if !norm.NFC.IsNormal(text) {
			break
		}
		line++
	}
	return line
}

// badToken finds a number that is too long or large, and a name or text that is not in NFC. Comments are free.
func badToken(tokens hclsyntax.Tokens) (hcl.Range, *Limit) {
	for _, t := range tokens {
		switch t.Type {
		case hclsyntax.TokenComment:
		case hclsyntax.TokenNumberLit:
			if err := LongNumber(string(t.Bytes)); err != nil {
				return t.Range, err
			}
		default:
			if !norm.NFC.IsNormal(t.Bytes) {
				return t.Range, Over("Text not in NFC", "This is not in Unicode's form NFC, such as a letter with an accent that is a character of its own. Save it as NFC, or let a step read the text as an input.")
			}
		}
	}
	return hcl.Range{}, nil
}

// LongNumber refuses a number that takes long to read or to write.
func LongNumber(text string) *Limit {
	if len(text) > maxDigits {
		return Over("Number too long", "This number has %d digits; at most %d are allowed.", len(text), maxDigits)
	}
	_, exponent, _ := strings.Cut(strings.ToLower(text), "e")
	if e, err := strconv.Atoi(exponent); errors.Is(err, strconv.ErrRange) || e > MaxExponent/4 || e < -MaxExponent/4 {
		return Over("Number out of range", "The exponent of a number is between -%d and %d.", MaxExponent/4, MaxExponent/4)
	}
	return nil
}

// CheckTokens is what is wrong with tokens that CheckSource refuses.
func CheckTokens(tokens hclsyntax.Tokens) *hcl.Diagnostic {
	rng, err := badToken(tokens)
	if err == nil {
		var deep bool
		if rng, deep = tooDeep(tokens); deep {
			err = Over("Nesting too deep", "Brackets, templates or operators are nested more than %d deep here. Name the inner parts in locals.", MaxDepth)
		}
	}
	if err == nil {
		return nil
	}
	return &hcl.Diagnostic{Severity: hcl.DiagError, Summary: err.Summary, Detail: err.Detail, Subject: &rng}
}

// tooDeep finds where expressions or blocks stand deeper within each other than MaxDepth. Operators count, each within the
// next, until a comma or the end of a line.
func tooDeep(tokens hclsyntax.Tokens) (hcl.Range, bool) {
	type level struct {
		lines bool // the end of a line ends a chain
		chain int
	}
	stack, depth := []level{{lines: true}}, 0
	for _, t := range tokens {
		top := &stack[len(stack)-1]
		switch t.Type {
		case hclsyntax.TokenOBrace, hclsyntax.TokenOBrack, hclsyntax.TokenOParen, hclsyntax.TokenOQuote,
			hclsyntax.TokenOHeredoc, hclsyntax.TokenTemplateInterp, hclsyntax.TokenTemplateControl:
			top.chain++ // an index, a call or an object may follow another
			depth++
			stack = append(stack, level{lines: t.Type == hclsyntax.TokenOBrace})
		case hclsyntax.TokenCBrace, hclsyntax.TokenCBrack, hclsyntax.TokenCParen, hclsyntax.TokenCQuote,
			hclsyntax.TokenCHeredoc, hclsyntax.TokenTemplateSeqEnd:
			if len(stack) > 1 {
				depth -= top.chain
				stack = stack[:len(stack)-1]
			}
		case hclsyntax.TokenComma:
			depth, top.chain = depth-top.chain, 0
		case hclsyntax.TokenNewline:
			if top.lines {
				depth, top.chain = depth-top.chain, 0
			}
		case hclsyntax.TokenStringLit, hclsyntax.TokenQuotedLit:
			if top.chain > 0 && !top.lines { // the parts of a template stand side by side
				depth, top.chain = depth-1, top.chain-1
			}
		case hclsyntax.TokenIdent, hclsyntax.TokenNumberLit, hclsyntax.TokenComment:
		default:
			top.chain++
			depth++
		}
		if depth > MaxDepth {
			return t.Range, true
		}
	}
	return hcl.Range{}, false
}
