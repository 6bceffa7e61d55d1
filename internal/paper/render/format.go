package render

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/redsi/redsi/internal/system/values"
)

// Format says how a column's numbers are printed.
type Format struct {
	Style    string  `json:"style"`              // "integer", "fixed", "kilo", "signed" or "text"
	Decimals int     `json:"decimals,omitempty"` // for fixed, kilo and signed
	Scale    float64 `json:"scale,omitempty"`    // factor before printing; 0 is 1
	Std      bool    `json:"std,omitempty"`      // print ± where there is one
	Prefix   string  `json:"prefix,omitempty"`   // before the number: letters, digits, spaces and =
}

// Check reports a format that cannot print numbers.
func (f Format) Check() error {
	switch {
	case !slices.Contains([]string{"integer", "fixed", "kilo", "signed", "text"}, f.Style):
		return fmt.Errorf("format %q is not integer, fixed, kilo, signed or text", f.Style)
	case !prefixes.MatchString(f.Prefix):
		return fmt.Errorf("prefix %q may have only letters, digits, spaces and =", f.Prefix)
	case f.Decimals < 0 || f.Decimals > 12:
		return fmt.Errorf("%d decimals cannot be printed", f.Decimals)
	}
	return nil
}

var prefixes = regexp.MustCompile(`^[a-zA-Z0-9 =]*$`)

// Unit returns how much greater a value is whose last printed digit is one higher; 0 for numbers printed as they are.
func (f Format) Unit() float64 {
	unit := math.Pow(10, -float64(f.Decimals))
	switch f.Style {
	case "text":
		return 0
	case "integer":
		unit = 1
	case "kilo":
		unit *= 1000
	}
	return unit / math.Abs(cmp.Or(f.Scale, 1))
}

func (f Format) scaled(v float64) float64 { return v * cmp.Or(f.Scale, 1) }

func (f Format) number(v float64) string { return f.Prefix + f.digits(v) }

func (f Format) digits(v float64) string {
	v = f.scaled(v)
	abs := math.Abs(v)
	switch f.Style {
	case "integer":
		if abs = math.Round(abs); abs < 1<<63 {
			return f.sign(v, humanize.Comma(int64(abs)))
		}
		return f.sign(v, humanize.Commaf(abs))
	case "kilo":
		return f.sign(v, fixed(abs/1000, f.Decimals)+kilo)
	case "text":
		if v == math.Trunc(v) && abs < 1<<63 {
			return strconv.FormatInt(int64(v), 10)
		}
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	return f.sign(v, fixed(abs, f.Decimals))
}

const kilo = " K"

// sign puts the sign of v before its digits; a number that is printed as 0 is not negative.
func (f Format) sign(v float64, digits string) string {
	switch {
	case v < 0 && strings.ContainsAny(digits, "123456789"):
		return "−" + digits
	case f.Style == "signed":
		return "+" + digits
	}
	return digits
}

// fixed prints v with d decimals; see values.Round.
func fixed(v float64, d int) string { return strconv.FormatFloat(values.Round(v, d), 'f', d, 64) }

// std prints a standard deviation, never with a sign.
func (f Format) std(v float64) string {
	f.Style = f.unsigned()
	return f.digits(v)
}

func (f Format) unsigned() string {
	if f.Style == "signed" {
		return "fixed"
	}
	return f.Style
}

const none = "–" // shown in a cell without a value

// Plain returns a cell's text as its column prints it, without styles.
func (c Cell) Plain(f Format) string {
	f = c.format(f)
	switch {
	case c.Value == nil && c.Text == "":
		return none
	case c.Value == nil && c.Data:
		return c.Text
	case c.Value == nil:
		return Plain(c.Text)
	case f.Std && c.Std != nil:
		return c.number(f) + " ± " + f.std(*c.Std)
	}
	return c.number(f)
}

func (c Cell) markdown(f Format) string {
	return c.written(f, MarkdownText, markdown, "**", "**", "ins")
}

// written returns a cell as a format has it, with that format's escapes, markup and element that underlines.
func (c Cell) written(f Format, text, marked func(string) string, bold, end, under string) string {
	s := text(c.Plain(f))
	if c.Value == nil && !c.Data && !c.Missing() {
		s = marked(c.Text)
	}
	if c.Bold {
		s = bold + s + end
	}
	if c.Second {
		s = "<" + under + ">" + s + "</" + under + ">"
	}
	if c.Marks != "" {
		s += "<sup>" + text(c.Marks) + "</sup>"
	}
	return s + c.fill
}

// inMath writes a number as in mathematics.
var inMath = strings.NewReplacer("−", "-", ",", "{,}")

func (c Cell) latex(f Format) (s string) {
	f = c.format(f)
	prefix, bold, math := "", `\textbf{`, ""
	switch {
	case c.Missing():
		return `\textendash` + c.superscript()
	case c.Value == nil && c.Data:
		s = TeXData(c.Text)
	case c.Value == nil:
		s = TeX(c.Text)
	default:
		number, isKilo := strings.CutSuffix(c.digits(f), kilo)
		unit, std := `\,K`, f.Std && c.Std != nil
		if std {
			number += ` \pm ` + strings.TrimSuffix(f.std(*c.Std), kilo)
		}
		if s = latexText(f.Prefix + number); std || f.Style == "signed" {
			s = inMath.Replace(number)
			prefix, bold, math, unit = f.Prefix, `\mathbf{`, "$", `\,\mathrm{K}`
		}
		if isKilo {
			s += unit
		}
	}
	if c.Bold {
		s = bold + s + `}`
	}
	s = prefix + math + s + math
	if c.Second {
		s = `\underline{` + s + `}`
	}
	return s + c.superscript()
}

func (c Cell) superscript() string {
	if c.Marks == "" {
		return ""
	}
	return `\textsuperscript{` + latexText(c.Marks) + `}`
}
