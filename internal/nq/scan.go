package nq

// lineScanner decodes one NQ line, in either format, with any order of fields and
// any JSON white space, into a Record. Its buffers are reused between lines.
type lineScanner struct {
	s     scanner
	arena []byte     // every string of the record except HTML, back to back
	ends  []int      // arena end of each token's text
	have  fieldSet   // needed fields seen
	strs  [nStrs]int // arena start and end of each string field, by pairs
}

// fieldSet holds one bit for each field that the Record needs.
type fieldSet uint16

const (
	hasQuestion fieldSet = 1 << iota
	hasURL
	hasTitle
	hasText
	hasHTML
	hasTokens
	hasExampleID
)

// Arena positions of the string fields.
const (
	atQuestion = 2 * iota
	atURL
	atTitle
	atText
	nStrs
)

// The names of the fields that a Record needs.
const (
	nameQuestion  = "question_text"
	nameURL       = "document_url"
	nameTitle     = "document_title"
	nameText      = "document_text"
	nameHTML      = "document_html"
	nameTokens    = "document_tokens"
	nameExampleID = "example_id"
	nameToken     = "token"
	nameHTMLToken = "html_token"
	nameStart     = "start_byte"
	nameEnd       = "end_byte"
)

// scan decodes line into r. It reports false, with r in any state, whenever the
// line is not exactly what it expects; the library decoder then has the say. A
// true result equals the library's (FuzzScan).
func (l *lineScanner) scan(line []byte, r *Record) (fieldSet, bool) {
	r.Reset()
	l.s = scanner{b: line}
	l.arena, l.ends, l.have = l.arena[:0], l.ends[:0], 0
	s := &l.s
	if !s.lit('{') {
		return 0, false
	}
	for {
		k, ok := s.key()
		if !ok || !s.lit(':') || !l.field(k, r) {
			return 0, false
		}
		if !s.more() {
			break
		}
	}
	if !s.lit('}') {
		return 0, false
	}
	if s.ws(); s.p != len(line) {
		return 0, false
	}
	l.finish(r)
	return l.have, true
}

// field consumes the value of the field k.
func (l *lineScanner) field(k []byte, r *Record) (ok bool) {
	s := &l.s
	switch string(k) {
	case nameHTML:
		if !l.first(hasHTML) {
			return false
		}
		r.HTML, ok = s.str(r.HTML)
		return ok
	case nameTokens:
		return l.first(hasTokens) && l.tokens(r)
	case nameExampleID:
		if !l.first(hasExampleID) {
			return false
		}
		r.ExampleID, ok = s.integer()
		return ok
	case nameQuestion:
		return l.first(hasQuestion) && l.text(atQuestion)
	case nameURL:
		return l.first(hasURL) && l.text(atURL)
	case nameTitle:
		return l.first(hasTitle) && l.text(atTitle)
	case nameText:
		return l.first(hasText) && l.text(atText)
	}
	return s.skip(0)
}

// first notes the field f and reports whether it is its first occurrence.
func (l *lineScanner) first(f fieldSet) bool {
	seen := l.have&f != 0
	l.have |= f
	return !seen
}

// text consumes a string field into the arena.
func (l *lineScanner) text(at int) (ok bool) {
	l.strs[at] = len(l.arena)
	l.arena, ok = l.s.str(l.arena)
	l.strs[at+1] = len(l.arena)
	return ok
}

// tokens consumes document_tokens. Texts go to the arena; finish links them.
func (l *lineScanner) tokens(r *Record) bool {
	s := &l.s
	if !s.lit('[') {
		return false
	}
	if s.ws() == ']' {
		s.p++
		return true
	}
	l.ends = append(l.ends, len(l.arena))
	for {
		var t Token
		if !l.tokenInOrder(&t) && !l.token(&t) {
			return false
		}
		r.Tokens = append(r.Tokens, t)
		l.ends = append(l.ends, len(l.arena))
		if !s.more() {
			return s.lit(']')
		}
	}
}

// tokenInOrder consumes a token whose four fields stand in alphabetical order,
// with no blank or one blank after each colon and comma, as every published file
// has them. It leaves the position alone if the token looks different.
func (l *lineScanner) tokenInOrder(t *Token) bool {
	b, p := l.s.b, l.s.p
	if p < len(b) && b[p] == ' ' {
		p++
	}
	var n int
	if t.End, n = small(b, p, `{"`+nameEnd+`":`); n == 0 {
		return false
	}
	p = n
	if p, t.HTML = smallBool(b, p, `"`+nameHTMLToken+`":`); p == 0 {
		return false
	}
	if t.Start, n = small(b, p, `"`+nameStart+`":`); n == 0 {
		return false
	}
	p = n
	const name = `"` + nameToken + `":`
	if len(b)-p < len(name)+16 || string(b[p:p+len(name)]) != name {
		return false
	}
	if p += len(name); b[p] == ' ' {
		p++
	}
	save, mark := l.s.p, len(l.arena)
	l.s.p = p
	var ok bool
	if l.arena, ok = l.s.str(l.arena); ok && l.s.lit('}') {
		return true
	}
	l.s.p, l.arena = save, l.arena[:mark]
	return false
}

// small reads name, an optional blank, an integer of at most nine digits, a comma
// and an optional blank at p, and returns the position after it, 0 if it is
// anything else.
func small(b []byte, p int, name string) (v int32, next int) {
	if len(b)-p < len(name)+16 || string(b[p:p+len(name)]) != name {
		return 0, 0
	}
	if p += len(name); b[p] == ' ' {
		p++
	}
	start := p
	for ; b[p]-'0' <= 9; p++ {
		if p-start == 9 {
			return 0, 0
		}
		v = v*10 + int32(b[p]-'0')
	}
	if p == start || b[start] == '0' && p-start > 1 || b[p] != ',' {
		return 0, 0
	}
	if p++; b[p] == ' ' {
		p++
	}
	return v, p
}

// smallBool is small for a boolean.
func smallBool(b []byte, p int, name string) (next int, v bool) {
	if len(b)-p < len(name)+16 || string(b[p:p+len(name)]) != name {
		return 0, false
	}
	if p += len(name); b[p] == ' ' {
		p++
	}
	switch {
	case string(b[p:p+6]) == "false,":
		p += 6
	case string(b[p:p+5]) == "true,":
		p, v = p+5, true
	default:
		return 0, false
	}
	if b[p] == ' ' {
		p++
	}
	return p, v
}

// token consumes a token in any order of fields.
func (l *lineScanner) token(t *Token) bool {
	s := &l.s
	if !s.lit('{') {
		return false
	}
	var have fieldSet
	for {
		k, ok := s.key()
		if !ok || !s.lit(':') {
			return false
		}
		var f fieldSet
		var v int64
		switch string(k) {
		case nameEnd:
			f = hasURL
			v, ok = s.integer()
			t.End = int32(v)
		case nameStart:
			f = hasTitle
			v, ok = s.integer()
			t.Start = int32(v)
		case nameHTMLToken:
			f = hasHTML
			t.HTML, ok = s.boolean()
		case nameToken:
			f = hasText
			l.arena, ok = s.str(l.arena)
		default:
			ok = s.skip(0)
		}
		if !ok || have&f != 0 || v != int64(int32(v)) {
			return false
		}
		have |= f
		if !s.more() {
			return have == hasURL|hasTitle|hasHTML|hasText && s.lit('}')
		}
	}
}

// finish turns the arena into one string that all texts of the record share.
func (l *lineScanner) finish(r *Record) {
	all := string(l.arena)
	for i := range r.Tokens {
		r.Tokens[i].Text = all[l.ends[i]:l.ends[i+1]]
	}
	cut := func(f fieldSet, at int) string {
		if l.have&f == 0 {
			return ""
		}
		return all[l.strs[at]:l.strs[at+1]]
	}
	r.Question = cut(hasQuestion, atQuestion)
	r.URL = cut(hasURL, atURL)
	r.Title = cut(hasTitle, atTitle)
	r.Text = cut(hasText, atText)
}
