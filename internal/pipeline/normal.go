package pipeline

import (
	"bytes"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"golang.org/x/text/unicode/norm"
)

// The evaluator keeps every string in Unicode's form NFC, in which a letter and a combining
// accent are one character. A text in another form would reach a program with other bytes
// than it was given with. So such a text is refused where it comes in: in sources, in files
// that expressions read, and in values of variables.

// notNFC is the line, from 1, of the first text that is not in NFC; 0 if all is.
func notNFC(b []byte) int {
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

// badToken finds a number whose digits or exponent no evaluation is made for, and a name or
// text that is not in NFC. Comments are as they like.
func badToken(tokens hclsyntax.Tokens) (hcl.Range, *limit) {
	for _, t := range tokens {
		switch t.Type {
		case hclsyntax.TokenComment:
		case hclsyntax.TokenNumberLit:
			if err := longNumber(string(t.Bytes)); err != nil {
				return t.Range, err
			}
		default:
			if !norm.NFC.IsNormal(t.Bytes) {
				return t.Range, over("Text not in NFC", "This is not in Unicode's form NFC, such as a letter with an accent that is a character of its own. Save it as NFC, or let a step read the text as an input.")
			}
		}
	}
	return hcl.Range{}, nil
}
