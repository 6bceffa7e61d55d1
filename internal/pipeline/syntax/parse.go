// Package syntax reads the files of a pipeline: which there are, their bodies, and what is wrong with them, with the line of
// the source that it is about. It owns names of files, places, the list of diagnostics and how it is written, and hints ("did
// you mean"). It knows only HCL's form: no function, no value, no block. Begin at ParseFile and Collector.
package syntax

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"golang.org/x/text/unicode/norm"

	"github.com/redsi/redsi/internal/system/lists"
)

type Body struct {
	Name string
	*hclsyntax.Body
}

// Check reports what is not HCL in files of pipelines and tests, and nothing else.
func Check(sources map[string][]byte) Diagnostics {
	d := NewCollector(sources)
	for _, name := range Keys(sources) {
		ParseFile(name, sources[name], d)
	}
	return d.Done()
}

// ParseFile is the body of a file; nil, which is reported, of a file that is not HCL.
func ParseFile(name string, src []byte, d *Collector) *Body {
	if !CheckSource(name, src, d) {
		return nil
	}
	d.Sources[name] = src
	f, ds := hclsyntax.ParseConfig(src, name, hcl.InitialPos)
	d.HCL(ds, hcl.Range{Filename: name, Start: hcl.InitialPos, End: hcl.InitialPos})
	if ds.HasErrors() {
		return nil
	}
	return &Body{name, f.Body.(*hclsyntax.Body)}
}

// CheckSource refuses sources too large, deep or odd for the parser and the evaluator.
func CheckSource(name string, src []byte, d *Collector) bool {
	if len(src) > MaxSource {
		d.Error(hcl.Range{Filename: name, Start: hcl.InitialPos, End: hcl.InitialPos}, "Source too large",
			fmt.Sprintf("%s has %d bytes; a pipeline file may have %d. Large constants belong in a file of their own that file() reads.", name, len(src), MaxSource))
		return false
	}
	tokens, _ := hclsyntax.LexConfig(src, name, hcl.InitialPos) // the parser reports what is wrong here
	wrong := CheckTokens(tokens)
	if wrong != nil {
		d.Add(wrong, nil, wrong.Detail)
	}
	return wrong == nil
}

// RefersOnly reports references of an expression that do not start with a name.
func RefersOnly(d *Collector, e hclsyntax.Expression, root, summary, detail string) bool {
	ok := true
	for _, tr := range e.Variables() {
		if tr.RootName() != root {
			d.Error(tr.SourceRange(), summary, detail)
			ok = false
		}
	}
	return ok
}

// UnixLines is a walker that ends the lines of heredocs and templates by LF, whatever the file has.
func UnixLines(n hclsyntax.Node) hcl.Diagnostics {
	if e, ok := n.(*hclsyntax.LiteralValueExpr); ok && e.SrcRange.Start.Line < e.SrcRange.End.Line && e.Val.Type() == cty.String {
		e.Val = cty.StringVal(strings.ReplaceAll(e.Val.AsString(), "\r\n", "\n"))
	}
	return nil
}

// Limits on one source: the parser and the evaluator recurse, and no file that a person wrote comes near.
const (
	MaxSource   = 4 << 20 // bytes
	MaxDepth    = 1000    // brackets, blocks, templates and operators within each other
	MaxExponent = 1 << 14 // of a number, in bits
	maxDigits   = 1000    // of a number, written
)

// Limit is the error of an evaluation that went too far.
type Limit struct{ Summary, Detail string }

func (e *Limit) Error() string { return e.Detail }

// At is the limit as a diagnostic about a place.
func (e *Limit) At(rng hcl.Range) *hcl.Diagnostic {
	return &hcl.Diagnostic{Severity: hcl.DiagError, Summary: e.Summary, Detail: e.Detail, Subject: &rng}
}

// Over is the error that a limit is passed.
func Over(summary, format string, args ...any) *Limit {
	return &Limit{summary, fmt.Sprintf(format, args...)}
}

// Strings of the evaluator are in Unicode's form NFC. A program would get other bytes than a text in another form has, so such
// texts are refused in sources, files that expressions read, and values of variables.

// NotNFC is the first line, from 1, that is not in NFC; 0 if all are, and so the whole text: nothing composes with the
// end of a line, or moves across it.
func NotNFC(b []byte) (line int) {
	for text := range bytes.Lines(b) {
		if line++; !norm.NFC.IsNormal(text) {
			return line
		}
	}
	return 0
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

// CheckTokens finds a number that is too long or large, a text outside comments that is not in NFC, or too deep nesting.
func CheckTokens(tokens hclsyntax.Tokens) *hcl.Diagnostic {
	for _, t := range tokens {
		switch t.Type {
		case hclsyntax.TokenComment:
		case hclsyntax.TokenNumberLit:
			if err := LongNumber(string(t.Bytes)); err != nil {
				return err.At(t.Range)
			}
		default:
			if !norm.NFC.IsNormal(t.Bytes) {
				return Over("Text not in NFC", "This is not in Unicode's form NFC, such as a letter with an accent that is a character of its own. Save it as NFC, or let a step read the text as an input.").At(t.Range)
			}
		}
	}
	if rng, deep := tooDeep(tokens); deep {
		return Over("Nesting too deep", "Brackets, templates or operators are nested more than %d deep here. Name the inner parts in locals.", MaxDepth).At(rng)
	}
	return nil
}

// tooDeep finds where expressions or blocks stand deeper within each other than MaxDepth. Operators count, until a comma or line's end.
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

// Place is a further place that a diagnostic shows, and what it says there.
type Place struct {
	Range hcl.Range
	Text  string
}

// Related lists the further places of a diagnostic.
func Related(d *hcl.Diagnostic) []Place {
	places, _ := d.Extra.([]Place)
	return places
}

type Pos struct {
	File string `json:"file"`
	Line int    `json:"line"`
}

func (p Pos) String() string { return fmt.Sprintf("%s:%d", p.File, p.Line) }

func PosOf(r hcl.Range) Pos { return Pos{r.Filename, r.Start.Line} }

// Attributes returns a body's attributes in the order of the source.
func Attributes(b *hclsyntax.Body) []*hclsyntax.Attribute {
	return slices.SortedFunc(maps.Values(b.Attributes), func(x, y *hclsyntax.Attribute) int { return BySource(x.SrcRange, y.SrcRange) })
}

// Within returns the attributes of a body in the order of the source, then the attributes of its blocks.
func Within(b *hclsyntax.Body) []*hclsyntax.Attribute {
	list := Attributes(b)
	for _, inner := range b.Blocks {
		list = append(list, Within(inner.Body)...)
	}
	return list
}

// Blocks are a body's blocks of a type, in the order of the source.
func Blocks(body *hclsyntax.Body, name string) []*hclsyntax.Block {
	return lists.Filter(body.Blocks, func(b *hclsyntax.Block) bool { return b.Type == name })
}

// BySource compares places: by file, then from its top.
func BySource(a, b hcl.Range) int {
	return cmp.Or(strings.Compare(a.Filename, b.Filename), a.Start.Byte-b.Start.Byte)
}

func Line(f File, line int) hcl.Range {
	s := hcl.NewRangeScanner(f.Bytes, f.Name, bufio.ScanLines)
	for range line {
		s.Scan()
	}
	return s.Range()
}
