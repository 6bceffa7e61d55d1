package main

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"github.com/redsi/redsi/internal/paper/render"
	"github.com/redsi/redsi/tools/latex"
)

// number is a number of the paper, as it prints it.
type number struct {
	value float64
	std   *float64 // after ±
}

var (
	thin       = strings.NewReplacer(`\,`, "", `\!`, "", "{,}", "", `\mathrm{K}`, "K", `\pm`, "±", "~", " ")
	numeric    = regexp.MustCompile(`^(∼ ?)?([+-]?[0-9][0-9,]*(?:\.[0-9]+)?)( ?K)?$`)
	minusSigns = strings.NewReplacer("−", "-", "∼", "")
)

// readNumber reads a cell that is nothing but a number, with its deviation.
func readNumber(cell string) (number, bool) {
	text := latex.Plain(thin.Replace(characters(cell)))
	mean, std, deviates := strings.Cut(text, "±")
	v, ok := parse(mean)
	n := number{value: v}
	if deviates {
		s, isNumber := parse(std)
		n.std, ok = &s, ok && isNumber
	}
	return n, ok
}

func parse(s string) (float64, bool) {
	m := numeric.FindStringSubmatch(minusSigns.Replace(strings.TrimSpace(s)))
	if m == nil {
		return 0, false
	}
	v, err := strconv.ParseFloat(strings.ReplaceAll(m[2], ",", ""), 64)
	if m[3] != "" {
		v *= 1000
	}
	return v, err == nil
}

func same(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Max(math.Abs(a), 1) }

// words is a text as it is compared: Latin letters, digits and marks, without
// styles.
func words(s string) string {
	keep := func(r rune) rune {
		if unicode.Is(unicode.Latin, r) || unicode.IsDigit(r) || r == '✓' {
			return unicode.ToLower(r)
		}
		return -1
	}
	return strings.Map(keep, s)
}

var (
	marks = strings.NewReplacer(`\checkmark`, "✓")
	char  = regexp.MustCompile(`\\char([0-9]+) ?`)
)

// characters resolves \char34.
func characters(s string) string {
	return char.ReplaceAllStringFunc(s, func(m string) string {
		n, _ := strconv.Atoi(char.FindStringSubmatch(m)[1])
		return string(rune(n))
	})
}

func texWords(s string) string    { return words(latex.Plain(marks.Replace(characters(s)))) }
func markupWords(s string) string { return words(render.Plain(s)) }

// forms are the ways in which a paper prints a number in a sentence.
func forms(v float64) []string {
	plain := strconv.FormatFloat(v, 'f', -1, 64)
	out := []string{plain}
	if v == math.Trunc(v) {
		for i := len(plain) - 3; i > 0; i -= 3 {
			plain = plain[:i] + "," + plain[i:]
		}
		out = append(out, plain, strings.ReplaceAll(plain, ",", "{,}"))
	}
	if v >= 1e3 {
		out = append(out, strconv.FormatFloat(v/1e3, 'f', -1, 64)+`\mathrm{K}`)
	}
	if v >= 1e6 {
		out = append(out, strconv.FormatFloat(v/1e6, 'f', -1, 64)+`\)M`)
	}
	return out
}

// says reports whether a text has a number, not as a part of another one.
func says(text string, v float64) bool {
	for _, form := range forms(v) {
		for from := 0; ; {
			i := strings.Index(text[from:], form)
			if i < 0 {
				break
			}
			at, end := from+i, from+i+len(form)
			from = at + 1
			before, after := strings.TrimSuffix(text[:at], ","), strings.TrimPrefix(text[end:], ",")
			if !endsInDigit(text[:at]) && !(before != text[:at] && endsInDigit(before)) && !startsWithDigit(text[end:]) && !(after != text[end:] && startsWithDigit(after)) {
				return true
			}
		}
	}
	return false
}

func endsInDigit(s string) bool {
	return s != "" && (s[len(s)-1] >= '0' && s[len(s)-1] <= '9' || s[len(s)-1] == '.')
}

func startsWithDigit(s string) bool {
	return s != "" && s[0] >= '0' && s[0] <= '9' || len(s) > 1 && s[0] == '.' && s[1] >= '0' && s[1] <= '9'
}
