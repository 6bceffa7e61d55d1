package prose

import (
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Number is a number as written.
type Number struct {
	Text     string  // as written, with sign, unit and percent sign
	Value    float64 // with its sign, without its unit
	Decimals int
	Signed   bool // a plus or minus is written
	Unit     rune // K, M or B after it; 0: none
	Percent  bool
	Std      string // digits after ±; "": none
	digits   string // without separators and sign
}

const thin = '\u2009' // the space that \, leaves between digits

// numberAt reads the number that begins at i in a plain text, and returns its end. A part of a word, an identifier, a
// ratio or a power is not a number.
func numberAt(s string, i int) (n Number, end int, ok bool) {
	start := i
	before, _ := utf8.DecodeLastRuneInString(s[:i])
	if joins(before) || follows(s[:i]) {
		return n, i + 1, false
	}
	c, size := utf8.DecodeRuneInString(s[i:])
	if c == '+' || c == '-' || c == '−' {
		if unicode.IsLetter(before) || before >= '0' && before <= '9' || before == '-' || before == ')' || before == ']' || before == '}' {
			return n, i + size, false
		}
		n.Signed = true
		i += size
	}
	from := i
	if i = afterDigits(s, i); i == from {
		return n, max(i, start+size), false
	}
	n.digits = s[from:i]
	for first := i - from; first <= 3; { // groups of three
		w := 0
		if strings.HasPrefix(s[i:], ",") {
			w = 1
		} else if strings.HasPrefix(s[i:], string(thin)) {
			w = utf8.RuneLen(thin)
		}
		if w == 0 || afterDigits(s[i+w:], 0) != 3 {
			break
		}
		n.digits += s[i+w : i+w+3]
		i += w + 3
	}
	if i+1 < len(s) && s[i] == '.' && isDigit(s[i+1]) {
		j := afterDigits(s, i+1)
		n.Decimals = j - i - 1
		n.digits += s[i:j]
		i = j
	}
	var err error
	if n.Value, err = strconv.ParseFloat(n.digits, 64); err != nil || len(n.digits) > 18 {
		return n, i, false
	}
	if c == '-' || c == '−' {
		n.Value = -n.Value
	}
	ok = true
	i, ok = n.tail(s, i)
	n.Text = strings.TrimSpace(s[start:i])
	return n, i, ok
}

// tail reads the deviation, unit or percent sign after a number's digits.
func (n *Number) tail(s string, i int) (int, bool) {
	if j, digits := deviation(s, i); digits != "" {
		n.Std, i = digits, j
	}
	rest := strings.TrimLeft(s[i:], string(thin)+" ")
	gap := len(s[i:]) - len(rest)
	r, size := utf8.DecodeRuneInString(rest)
	switch {
	case r == '×':
		return i, false
	case strings.ContainsRune("KMBk", r):
		next, _ := utf8.DecodeRuneInString(rest[size:])
		if unicode.IsLetter(next) || isDigit(next) {
			return i, gap > 0 // a word that follows
		}
		n.Unit = unicode.ToUpper(r)
		return i + gap + size, true
	case r == '%':
		n.Percent = true
		return i + gap + size, true
	case gap > 0:
		return i, true
	case unicode.IsLetter(r), r == '_', r == '@', r == '^', r == '#':
		return i, false
	case (r == ':' || r == '/' || r == '.') && len(rest) > 1 && isDigit(rest[1]):
		return i, false
	}
	return i, true
}

func deviation(s string, i int) (int, string) {
	rest := strings.TrimLeft(s[i:], " "+string(thin))
	after, ok := strings.CutPrefix(rest, "±")
	if !ok {
		return i, ""
	}
	after = strings.TrimLeft(after, " "+string(thin))
	j := 0
	for j < len(after) && (isDigit(after[j]) || after[j] == '.' && j+1 < len(after) && isDigit(after[j+1])) {
		j++
	}
	return len(s) - len(after) + j, after[:j]
}

// follows reports whether a text ends with a name's hyphen, such as batch-, or with a product's sign.
func follows(s string) bool {
	if t, ok := strings.CutSuffix(s, "-"); ok {
		before, _ := utf8.DecodeLastRuneInString(t)
		return unicode.IsLetter(before)
	}
	return strings.HasSuffix(strings.TrimRight(s, " "+string(thin)), "×")
}

// joins reports whether a number that follows the character is part of a name.
func joins(c rune) bool {
	return unicode.IsLetter(c) || isDigit(c) || strings.ContainsRune("_@.:#^/\\", c) && c != 0
}

func isDigit[C byte | rune](c C) bool { return c >= '0' && c <= '9' }

func afterDigits(s string, i int) int { return len(s) - len(strings.TrimLeft(s[i:], "0123456789")) }

func multiple(unit rune) float64 { return map[rune]float64{'K': 1e3, 'M': 1e6, 'B': 1e9}[unit] }

// same compares numbers of equal decimals.
func same(a, b float64, decimals int) bool {
	return math.Abs(a-b) < 0.25*math.Pow(10, -float64(decimals))
}

// significant counts a number's significant digits; the trailing zeros of an integer are not.
func (n Number) significant() int {
	d := strings.TrimLeft(strings.Replace(n.digits, ".", "", 1), "0")
	if n.Decimals == 0 {
		d = strings.TrimRight(d, "0")
	}
	return max(len(d), 1)
}

// zeros returns the power of ten that an integer with trailing zeros is a multiple of; for other numbers, nearly zero.
func (n Number) zeros() float64 {
	if n.Decimals > 0 || n.Value == 0 {
		return math.SmallestNonzeroFloat64
	}
	return math.Pow(10, float64(len(n.digits)-len(strings.TrimRight(n.digits, "0"))))
}

func (n Number) year() bool {
	return n.Decimals == 0 && !n.Signed && n.Unit == 0 && !n.Percent && len(n.digits) == 4 && len(n.Text) == 4 && n.Value >= 1900 && n.Value <= 2100
}
