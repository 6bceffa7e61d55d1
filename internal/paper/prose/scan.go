package prose

import (
	"strings"
	"unicode/utf8"
)

// scan reads the text of a file, without comments, commands and other non-text.
type scan struct {
	*reader
	file int32
	src  string
}

func (s *scan) emit(text string, at int) {
	for range len(text) {
		s.paper.spots = append(s.paper.spots, spot{s.file, int32(at)})
	}
	s.out.WriteString(text)
}

func (s *scan) mark(kind markKind, text string, at int) {
	s.paper.marks = append(s.paper.marks, mark{kind, s.out.Len(), spot{s.file, int32(at)}, text})
}

func (s *scan) run(i, end int) (err error) {
	for i < end && !s.ended {
		c := s.src[i]
		switch {
		case c == '%':
			i = s.afterLine(i, end)
		case c == '\\':
			if i, err = s.command(i, end); err != nil {
				return err
			}
		case c == '{' && strings.HasPrefix(s.src[i:end], "{,}"): // a comma between digits
			s.emit(",", i)
			i += 3
		case c == '}' && i+2 < end && s.src[i+1] == '{' && isDigit(s.src[i+2]): // two arguments
			s.emit(" ", i)
			i += 2
		case c == '{' || c == '}' || c == '$':
			i++
		case c == '~':
			s.emit(" ", i)
			i++
		case c == '&':
			s.emit(string(cellEnd), i)
			i++
		case c == '^' || c == '_':
			if i, err = s.script(i, end); err != nil {
				return err
			}
		case c == '\n' && blank(s.src[i+1:end]):
			s.emit(string(parEnd), i)
			i++
		case s.tikz > 0 && s.data == 0 && strings.HasPrefix(s.src[i:end], "coordinates"):
			at, to, ok := s.group(i+len("coordinates"), end)
			if !ok {
				i++
				break
			}
			s.data++
			err := s.nested(at, to)
			s.data--
			if err != nil {
				return err
			}
			i = to + 1
		case s.tikz > 0 && s.data == 0:
			i++ // drawing: lengths and positions
		case s.data > 0 && (c == ',' || c == '(' || c == ')'): // a comma in coordinates is not a thousands separator
			s.emit(" ", i)
			i++
		case c < ' ' && c != '\n' && c != '\t' && c != '\r':
			i++ // only commands set rowEnd and the like
		default:
			_, size := utf8.DecodeRuneInString(s.src[i:end])
			if s.src[i:i+size] == string(thin) {
				s.emit(" ", i)
			} else {
				s.emit(s.src[i:i+size], i)
			}
			i += size
		}
	}
	return nil
}

func (s *scan) nested(from, to int) error {
	if s.depth++; s.depth > mostDepth {
		return errTooDeep
	}
	defer func() { s.depth-- }()
	return s.run(from, to)
}

// afterLine skips a comment, its line end and the blanks that follow; a blank line after it ends the paragraph.
func (s *scan) afterLine(i, end int) int {
	n := strings.IndexByte(s.src[i:end], '\n')
	switch {
	case n < 0:
		return end
	case blank(s.src[i+n+1 : end]):
		return i + n
	}
	return i + n + 1
}

// blank reports whether a text begins with an empty line.
func blank(s string) bool { return strings.HasPrefix(strings.TrimLeft(s, " \t\r"), "\n") }

// script drops an index or exponent, except a deviation set as one, and marks a number that has an exponent.
func (s *scan) script(i, end int) (int, error) {
	sign := s.src[i]
	at := i
	i = s.skipSpace(i+1, end)
	if i >= end {
		return end, nil
	}
	from, to, next := i, i+1, i+1
	if f, t, ok := s.group(i, end); ok {
		from, to, next = f, t, t+1
	} else if s.src[i] == '\\' {
		to = s.commandEnd(i, end)
		next = to
	}
	body := strings.TrimSpace(s.src[from:to])
	switch {
	case strings.HasPrefix(body, `\pm`):
		return next, s.nested(from, to)
	case sign == '^' && body != "" && (body[0] >= 'a' && body[0] <= 'z' || body[0] >= '0' && body[0] <= '9' || body[0] == '-' || body[0] == '+'):
		s.emit("^", at)
	case sign == '_':
		s.emit(" ", at)
	}
	return next, nil
}

func (s *scan) skipSpace(i, end int) int { return end - len(strings.TrimLeft(s.src[i:end], " \t\r\n")) }

const mostArgument = 1 << 18 // bounds the search for the end of an argument, in bytes

// group returns the text between the braces that begin at i, after blanks.
func (s *scan) group(i, end int) (from, to int, ok bool) {
	i = s.skipSpace(i, end)
	if i < end && s.src[i] == '{' {
		if k := s.until('}', i+1, min(end, i+mostArgument)); k >= 0 {
			return i + 1, k, true
		}
	}
	return i, i, false
}

// until returns where a brace or bracket opened before k ends, or -1; a bracket ends in its paragraph and group.
func (s *scan) until(closing byte, k, end int) int {
	depth := 0
	for ; k < end; k++ {
		c := s.src[k]
		switch {
		case c == '\\':
			k++
		case c == '%':
			for k < end && s.src[k] != '\n' {
				k++
			}
		case c == closing && depth == 0:
			return k
		case c == '{':
			depth++
		case c == '}':
			depth--
		}
		if depth < 0 || closing == ']' && c == '\n' && blank(s.src[k+1:end]) {
			return -1
		}
	}
	return -1
}

// option returns the end of an argument in brackets that begins at i, or i.
func (s *scan) option(i, end int) int {
	if i < end && s.src[i] == '[' {
		if k := s.until(']', i+1, end); k >= 0 {
			return k + 1
		}
	}
	return i
}

// skip skips arguments: m in braces, o in brackets, if present.
func (s *scan) skip(signature string, i, end int) int {
	for _, c := range signature {
		switch c {
		case 'o':
			if k := s.skipSpace(i, end); s.option(k, end) > k {
				i = s.option(k, end)
			}
		case 'm':
			if _, to, ok := s.group(i, end); ok {
				i = to + 1
			} else if k := s.skipSpace(i, end); k < end && s.src[k] == '\\' { // \newcommand\name
				i = s.commandEnd(k, end)
			}
		}
	}
	return i
}

// commandEnd returns where the command that begins at i ends, without arguments.
func (s *scan) commandEnd(i, end int) int {
	k := i + 1
	for k < end && (s.src[k] >= 'a' && s.src[k] <= 'z' || s.src[k] >= 'A' && s.src[k] <= 'Z' || s.src[k] == '@') {
		k++
	}
	if k == i+1 && k < end {
		_, size := utf8.DecodeRuneInString(s.src[k:end])
		k += size
	}
	return k
}
