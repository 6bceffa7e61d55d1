package wikipedia

import "bytes"

// status is the outcome of a fast look at the text.
type status int

const (
	done status = iota
	more        // the text here ends too early to say
	odd         // not the usual form: encoding/xml decides
)

// literal looks for want at the beginning of b.
func literal(b []byte, want string) status {
	if len(b) >= len(want) {
		if string(b[:len(want)]) == want {
			return done
		}
		return odd
	}
	if string(b) == want[:len(b)] {
		return more
	}
	return odd
}

// leaf reads an element of only text, without attributes: it returns the raw text and the length with both tags.
func leaf(b []byte, openTag, closeTag string) (text []byte, n int, st status) {
	if st := literal(b, openTag); st != done {
		return nil, 0, st
	}
	b = b[len(openTag):]
	i := bytes.IndexByte(b, '<')
	if i < 0 {
		return nil, 0, more
	}
	if st := literal(b[i:], closeTag); st != done {
		return nil, 0, st
	}
	return b[:i], len(openTag) + i + len(closeTag), done
}

// number reads a decimal id without sign; 0 is not an id.
func number(b []byte) (v uint64, ok bool) {
	if len(b) == 0 || len(b) > 19 {
		return 0, false
	}
	for _, c := range b {
		if c-'0' > 9 {
			return 0, false
		}
		v = v*10 + uint64(c-'0')
	}
	return v, v > 0
}

// blanks counts the white space at the beginning of b.
func blanks(b []byte) int {
	for i, c := range b {
		if c != ' ' && c != '\n' && c != '\t' && c != '\r' {
			return i
		}
	}
	return len(b)
}

const (
	openRevision  = "<revision>"
	closeRevision = "</revision>"
	maxNesting    = 8
)

// revision reads one revision: b begins with openRevision. The id must come first; every other element is walked tag by tag,
// so that nested ids do not count and end tags match. Comments, CDATA sections and quotes in unusual places are odd.
func revision(b []byte) (id uint64, n int, st status) {
	p := len(openRevision)
	p += blanks(b[p:])
	text, n, st := leaf(b[p:], "<id>", "</id>")
	if st != done {
		return 0, 0, st
	}
	id, ok := number(text)
	if !ok {
		return 0, 0, odd
	}
	p += n
	var stack [maxNesting][]byte
	for depth := 0; ; {
		i := bytes.IndexByte(b[p:], '<')
		if i < 0 || p+i+1 >= len(b) {
			return 0, 0, more
		}
		p += i + 1
		if b[p] == '/' {
			if depth == 0 {
				st := literal(b[p-1:], closeRevision)
				return id, p - 1 + len(closeRevision), st
			}
			depth--
			p++
			name := stack[depth]
			switch {
			case len(b)-p <= len(name):
				return 0, 0, more
			case string(b[p:p+len(name)]) != string(name) || b[p+len(name)] != '>':
				return 0, 0, odd
			}
			p += len(name) + 1
			continue
		}
		name, n, selfClosing, st := openTag(b[p:])
		if st != done {
			return 0, 0, st
		}
		p += n
		if depth == 0 && string(name) == "id" || depth == maxNesting {
			return 0, 0, odd
		}
		if !selfClosing {
			stack[depth] = name
			depth++
		}
	}
}

// openTag reads a start tag; b begins behind its "<". Attributes may stand in any order, in double quotes.
func openTag(b []byte) (name []byte, n int, selfClosing bool, st status) {
	for n < len(b) && nameByte[b[n]] {
		n++
	}
	if n == len(b) {
		return nil, 0, false, more
	}
	if n == 0 {
		return nil, 0, false, odd
	}
	name = b[:n]
	if b[n] == '>' {
		return name, n + 1, false, done
	}
	i := bytes.IndexByte(b[n:], '>')
	if i < 0 {
		return nil, 0, false, more
	}
	// An odd number of quotes means that this ">" stands inside a value.
	attrs := b[n : n+i]
	if bytes.Count(attrs, []byte{'"'})%2 != 0 || bytes.IndexByte(attrs, '\'') >= 0 || bytes.IndexByte(attrs, '<') >= 0 {
		return nil, 0, false, odd
	}
	if i > 0 && attrs[i-1] == '/' {
		selfClosing = true
		attrs = attrs[:i-1]
	}
	if len(attrs) > 0 && blanks(attrs) == 0 {
		return nil, 0, false, odd
	}
	return name, n + i + 1, selfClosing, done
}

// redirect reads <redirect/> or <redirect title="…"/>. The target is raw.
func redirect(b []byte) (target []byte, n int, st status) {
	name, n, selfClosing, st := openTag(b[1:])
	if st != done {
		return nil, 0, st
	}
	if string(name) != "redirect" || !selfClosing {
		return nil, 0, odd
	}
	n++
	attrs := bytes.TrimSpace(b[1+len(name) : n-len("/>")])
	if len(attrs) == 0 {
		return nil, n, done
	}
	target, ok := bytes.CutPrefix(attrs, []byte(`title="`))
	if end := len(target) - 1; ok && bytes.IndexByte(target, '"') == end {
		return target[:end], n, done
	}
	return nil, 0, odd
}

// nameByte marks the bytes of the element names that dumps use.
var nameByte = func() (t [256]bool) {
	for c := range t {
		t[c] = 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
	}
	return t
}()
