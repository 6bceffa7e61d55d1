package python

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// token is a name, number, string or operator as it is written, or the end of a logical line, whose text is "\n".
type token struct {
	text   string
	line   int
	indent int  // number of blocks around the line, if the token is the first of a logical line
	first  bool // of a logical line
}

func isStart(r rune) bool { return r == '_' || r >= utf8.RuneSelf || unicode.IsLetter(r) }

func isPart(r rune) bool { return isStart(r) || '0' <= r && r <= '9' }

type syntaxError struct {
	line   int
	detail string
}

func (e syntaxError) Error() string { return fmt.Sprintf("line %d: %s", e.line, e.detail) }

// scanner cuts a source into tokens.
type scanner struct {
	text   string // with "\n" as the end of lines, as Python reads it
	at     int
	line   int
	open   []bracket
	blocks []int // columns of the blocks around
	tokens []token
}

type bracket struct {
	with byte
	line int
}

// unified returns a source with "\n" as the end of lines, and without a byte order mark.
func unified(text string) string {
	text = strings.TrimPrefix(text, "\ufeff")
	return strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
}

// scan returns the tokens of a source; each logical line ends with the token "\n".
func scan(text string) (tokens []token, err error) {
	s := &scanner{text: unified(text), line: 1, blocks: []int{0}}
	defer func() {
		if wrong, ok := recover().(syntaxError); ok {
			tokens, err = nil, wrong
		}
	}()
	for s.at < len(s.text) {
		s.logicalLine()
	}
	return s.tokens, nil
}

// fail ends the scan.
func (s *scanner) fail(line int, format string, args ...any) {
	panic(syntaxError{line, fmt.Sprintf(format, args...)})
}

func (s *scanner) peek(n int) byte {
	if s.at+n < len(s.text) {
		return s.text[s.at+n]
	}
	return 0
}

// logicalLine scans a line's tokens, with lines joined by brackets or a backslash; without tokens it leaves nothing.
func (s *scanner) logicalLine() {
	column := s.column()
	begin := len(s.tokens)
	for s.space(); s.at < len(s.text) && s.text[s.at] != '\n'; s.space() {
		if len(s.tokens) == begin {
			s.block(column)
		}
		line, from := s.line, s.at
		s.one()
		t := token{text: s.text[from:s.at], line: line}
		if len(s.tokens) == begin {
			t.first, t.indent = true, len(s.blocks)-1
		}
		s.tokens = append(s.tokens, t)
	}
	if n := len(s.open); n > 0 {
		s.fail(s.open[n-1].line, "%q is never closed", s.open[n-1].with)
	}
	if len(s.tokens) > begin {
		s.tokens = append(s.tokens, token{text: "\n", line: s.line})
	}
	s.at++ // the end of the line
	s.line++
}

// column is how far a line is indented.
func (s *scanner) column() (column int) {
	for ; ; s.at++ {
		switch s.peek(0) {
		case ' ':
			column++
		case '\t':
			column = column/8*8 + 8
		case '\f':
			column = 0
		default:
			return column
		}
	}
}

// block begins and ends blocks as a line's indentation says.
func (s *scanner) block(column int) {
	top := func() int { return s.blocks[len(s.blocks)-1] }
	if column > top() {
		s.blocks = append(s.blocks, column)
	}
	for column < top() {
		s.blocks = s.blocks[:len(s.blocks)-1]
	}
	if column != top() {
		s.fail(s.line, "the indentation fits no block around it")
	}
}

// space passes what separates tokens: spaces, comments, ends of joined lines.
func (s *scanner) space() {
	for s.at < len(s.text) {
		switch c := s.text[s.at]; {
		case c == ' ' || c == '\t' || c == '\f':
			s.at++
		case c == '#':
			s.at += strings.IndexByte(s.text[s.at:]+"\n", '\n')
		case c == '\\' && s.peek(1) == '\n':
			s.at += 2
			s.line++
		case c == '\n' && len(s.open) > 0:
			s.at++
			s.line++
		default:
			return
		}
	}
}

// operators of more than one character, the longest first.
var operators = []string{"**=", "//=", ">>=", "<<=", "...", "->", ":=", "==", "!=", "<=", ">=", "<>", "**", "//", ">>", "<<",
	"+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "@="}

// prefixes of strings.
var prefixes = []string{"r", "u", "b", "f", "t", "br", "rb", "fr", "rf", "tr", "rt"}

// number is a number with all letters that follow it directly, though Python splits "1if".
var number = regexp.MustCompile(`^(?:0[xX][\w.]*|(?:[eE][+-]\d|[\w.])+)`)

var closes = map[byte]byte{'(': ')', '[': ']', '{': '}'}

// one passes one token.
func (s *scanner) one() {
	r, size := utf8.DecodeRuneInString(s.text[s.at:])
	switch {
	case isStart(r):
		from := s.at
		s.at = len(s.text) - len(strings.TrimLeftFunc(s.text[from:], isPart))
		prefix := strings.ToLower(s.text[from:s.at])
		if c := s.peek(0); (c == '"' || c == '\'') && slices.Contains(prefixes, prefix) {
			s.str(prefix)
		}
	case r == '"' || r == '\'':
		s.str("")
	case '0' <= r && r <= '9' || r == '.' && '0' <= s.peek(1) && s.peek(1) <= '9':
		s.at += len(number.FindString(s.text[s.at:]))
	case strings.ContainsRune("([{", r):
		s.open = append(s.open, bracket{byte(r), s.line})
		s.at++
	case strings.ContainsRune(")]}", r):
		if n := len(s.open) - 1; n < 0 || closes[s.open[n].with] != byte(r) {
			s.fail(s.line, "%q closes nothing", r)
		}
		s.open = s.open[:len(s.open)-1]
		s.at++
	default:
		for _, o := range operators {
			if strings.HasPrefix(s.text[s.at:], o) {
				s.at += len(o)
				return
			}
		}
		if !strings.ContainsRune("+-*/%@&|^~<>=.,:;", r) {
			s.fail(s.line, "%q is not Python", r)
		}
		s.at += size
	}
}

// str passes a string, from its quotation mark on.
func (s *scanner) str(prefix string) {
	line, quote := s.line, s.text[s.at:s.at+1]
	if strings.HasPrefix(s.text[s.at:], strings.Repeat(quote, 3)) {
		quote = s.text[s.at : s.at+3]
	}
	s.at += len(quote)
	raw, fields := strings.Contains(prefix, "r"), strings.ContainsAny(prefix, "ft")
	for {
		switch {
		case s.at >= len(s.text) || s.text[s.at] == '\n' && len(quote) == 1:
			s.fail(line, "the string that begins here has no end")
		case strings.HasPrefix(s.text[s.at:], quote):
			s.at += len(quote)
			return
		}
		s.char(raw, fields)
		if fields && s.peek(0) == '{' {
			if s.peek(1) == '{' {
				s.at += 2
				continue
			}
			s.field(quote, raw)
		}
	}
}

// char passes a character of a string, except one that begins a field of an f-string.
func (s *scanner) char(raw, fields bool) {
	switch c := s.peek(0); {
	case fields && c == '{':
	case fields && !raw && strings.HasPrefix(s.text[s.at:], `\N{`):
		s.at += 3
	case c == '\\' && (!fields || s.peek(1) != '{' && s.peek(1) != '}') && s.at+1 < len(s.text):
		s.lines(2)
	default:
		s.lines(1)
	}
}

// lines passes n bytes, of which some may end lines.
func (s *scanner) lines(n int) {
	s.line += strings.Count(s.text[s.at:s.at+n], "\n")
	s.at += n
}

// field passes a field of an f-string, {x!r:>{width}}: its expression has its own tokens, and strings.
func (s *scanner) field(quote string, raw bool) {
	line, outer := s.line, len(s.open)
	s.open = append(s.open, bracket{'{', line})
	s.at++
	for {
		s.space()
		c := s.peek(0)
		switch {
		case s.at >= len(s.text):
			s.fail(line, "the field of a string that begins here has no end")
		case c == '!' && s.peek(1) != '=':
			s.at++
		case c == ':' && len(s.open) == outer+1:
			s.at++
			s.spec(line, quote, raw)
		default:
			s.one()
		}
		if len(s.open) == outer {
			return
		}
	}
}

// spec passes the format of a field, up to the bracket that ends the field.
func (s *scanner) spec(line int, quote string, raw bool) {
	for s.peek(0) != '}' {
		switch {
		case s.at >= len(s.text) || strings.HasPrefix(s.text[s.at:], quote):
			s.fail(line, "the field of a string that begins here has no end")
		case s.peek(0) == '{':
			s.field(quote, raw)
		default:
			s.char(raw, true)
		}
	}
}
