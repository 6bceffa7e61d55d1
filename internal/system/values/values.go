// Package values reads what formats for data have in common: numbers, and YAML. Every reader of data uses it, so that
// the same text is the same value everywhere, and every printer of numbers, for rounding and means. It must not know
// what the values are for.
package values

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// JSON returns a value as encoding/json writes it, without escapes for HTML; "" indents nothing.
func JSON(v any, indent string) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", indent)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'}), err
}

// InvalidUTF8 returns the offset of the first byte that is not UTF-8; -1 if there is none.
func InvalidUTF8(b []byte) int {
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return -1
}

// Float is strconv.ParseFloat without what only Go writes: underscores and hexadecimal.
func Float(s string) (float64, error) {
	for i := range len(s) { // faster than ContainsAny: runs have a million numbers
		if s[i] == '_' || s[i]|0x20 == 'x' {
			return 0, &strconv.NumError{Func: "ParseFloat", Num: strings.Clone(s), Err: strconv.ErrSyntax}
		}
	}
	return strconv.ParseFloat(s, 64)
}

// Integer reads an integer, also written as 1.0, as pandas does.
func Integer(s string) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil {
		if v, notNumber := Float(s); notNumber == nil && v == math.Trunc(v) && math.Abs(v) < 1<<53 {
			return int(v), nil
		}
	}
	return n, err
}

// ID reads the number of a page or revision as Integer does, to 2^64.
func ID(s string) (uint64, error) {
	s = strings.TrimSpace(s)
	if n, err := strconv.ParseUint(s, 10, 64); err == nil {
		return n, nil
	}
	n, err := Integer(s)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("%.40q is not an integer", s)
	}
	return uint64(n), nil
}

// Round rounds to decimals, halves away from zero as people do, by the shortest decimal form of v, not its binary tail.
func Round(v float64, decimals int) float64 {
	shift := math.Pow(10, float64(decimals))
	exact, err := strconv.ParseFloat(strconv.FormatFloat(v*shift, 'g', 15, 64), 64)
	if err != nil || math.Abs(exact) > 1<<52 {
		return v
	}
	return math.Round(exact)/shift + 0 // no -0
}

// Quantile returns a quantile of sorted numbers, at least one, between neighbours like numpy's default.
func Quantile(sorted []float64, q float64) float64 {
	at := q * float64(len(sorted)-1)
	i := int(at)
	if i+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	return sorted[i] + float64((at-float64(i))*(sorted[i+1]-sorted[i]))
}

// MeanStd returns the mean of numbers, NaN without any, and their sample standard deviation, 0 for a single one.
func MeanStd(numbers []float64) (mean, std float64) {
	n, squares := float64(len(numbers)), 0.0
	for _, v := range numbers {
		mean += v
	}
	mean /= n
	for _, v := range numbers {
		squares += float64((v - mean) * (v - mean))
	}
	if n > 1 {
		std = math.Sqrt(squares / (n - 1))
	}
	return mean, std
}

// Inexact reports that a float64 does not tell an integer, written in digits, from its neighbours. It tells all integers
// of up to 15 digits, not counting trailing zeros.
func Inexact(digits string) bool {
	if len(strings.Trim(digits, "+-0")) <= 15 {
		return false
	}
	n, ok := new(big.Int).SetString(digits, 10)
	if !ok {
		return false
	}
	_, accuracy := new(big.Float).SetInt(n).Float64()
	return accuracy != big.Exact
}

var (
	tabIndent   = regexp.MustCompile(`(?m)^ *\t`)
	integerForm = regexp.MustCompile(`^[-+]?[0-9]+$|^0o[0-7]+$|^0x[0-9a-fA-F]+$`)
	floatForm   = regexp.MustCompile(`^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$`)
)

// YAML returns the value of a text by the core schema of version 1.2, with merge keys (<<): true and false are the only
// truth values, so that no and on are texts; dates and 1_000 are texts; 017 is 17. Values are map[string]any, []any,
// string, bool, json.Number for integers, float64, and nil, also for an empty text. check, if any, may refuse the
// document before it is decoded. Errors name the line.
func YAML(text []byte, check func(*yaml.Node) error) (doc any, err error) {
	d := yaml.NewDecoder(bytes.NewReader(text))
	var n, next yaml.Node
	if err = d.Decode(&n); errors.Is(err, io.EOF) {
		return nil, nil
	}
	if err == nil {
		if err = d.Decode(&next); err == nil {
			return nil, fmt.Errorf("line %d: a second document begins here; one is read: split the file", next.Line)
		}
	}
	if errors.Is(err, io.EOF) { // there is no second document
		if check != nil {
			if err := check(&n); err != nil {
				return nil, err
			}
		}
		if err := mark(&n); err != nil {
			return nil, err
		}
		err = n.Decode(&doc)
	}
	if err != nil {
		err = errors.New(strings.TrimPrefix(strings.TrimPrefix(err.Error(), "yaml: "), "unmarshal errors:\n  "))
		if at := tabIndent.FindIndex(text); at != nil {
			err = fmt.Errorf("%w; line %d is indented with a tab, where YAML takes only spaces", err, 1+bytes.Count(text[:at[0]], []byte("\n")))
		}
		return nil, err
	}
	return Each(doc, unmarked), nil
}

// The library rounds long numbers and takes more for numbers than version 1.2 does. So integers are decoded as texts
// after a mark, as are texts that begin like it.
const integerMark, textMark = "\x00n", "\x00s"

// mostDigits is more than any float64 has.
const mostDigits = 1000

func mark(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode && n.Style&yaml.TaggedStyle == 0 {
		switch plain := n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) == 0; {
		case plain && len(n.Value) < mostDigits && integerForm.MatchString(n.Value):
			digits, base := strings.TrimPrefix(n.Value, "+"), 10
			if strings.HasPrefix(digits, "0o") || strings.HasPrefix(digits, "0x") {
				base = 0
			}
			v, _ := new(big.Int).SetString(digits, base)
			n.Tag, n.Value = "!!str", integerMark+v.String()
		case n.Tag == "!!timestamp", n.Tag == "!!int", n.Tag == "!!float" && !floatForm.MatchString(n.Value) && !strings.ContainsAny(n.Value, "nN"):
			n.Tag = "!!str"
		case strings.HasPrefix(n.Value, "\x00"):
			n.Value = textMark + n.Value
		}
	}
	for i, c := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 0 && c.Tag != "!!merge" {
			if c.Kind != yaml.ScalarNode || c.Tag == "!!null" {
				return fmt.Errorf("line %d: a key is a text or a number; this one is not", c.Line)
			}
			c.Tag = "!!str"
			continue
		}
		if err := mark(c); err != nil {
			return err
		}
	}
	return nil
}

func unmarked(v any) any {
	text, is := v.(string)
	if digits, ok := strings.CutPrefix(text, integerMark); ok {
		return json.Number(digits)
	}
	if is {
		return strings.TrimPrefix(text, textMark)
	}
	return v
}

// Each replaces a document's texts, numbers, truth values and nulls by the results of of.
func Each(doc any, of func(any) any) any {
	switch doc := doc.(type) {
	case []any:
		for i := range doc {
			doc[i] = Each(doc[i], of)
		}
	case map[string]any:
		for name := range doc {
			doc[name] = Each(doc[name], of)
		}
	default:
		return of(doc)
	}
	return doc
}
