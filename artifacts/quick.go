package artifacts

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"time"
)

// quickResult reads a record in the very form in which encodeResult writes it, in a
// fraction of the time that encoding/json takes for any form. Of what it does not take,
// ok is false, and decodeResult judges: what quickResult takes, decodeResult reads as
// the same (FuzzDecodeResult).
func quickResult(key Digest, b []byte) (_ *Result, ok bool) {
	body, err := unseal(b)
	if err != nil {
		return nil, false
	}
	r := &Result{Format: ResultFormat}
	c := cursor{b: body}
	c.expect(`{"format":"` + ResultFormat + `","key":`)
	r.Key = c.digest()
	c.expect(`,"preimage":`)
	r.Preimage = canonical(c.object())
	c.expect(`,"outputs":`)
	if !c.skip(`null`) {
		r.Outputs = pairs(&c, (*cursor).artifact)
	}
	c.expect(`,"finished":`)
	c.time(&r.Finished)
	if c.skip(`,"counts":`) {
		r.Counts = pairs(&c, (*cursor).integer)
	}
	if c.skip(`,"env":`) {
		r.Env = pairs(&c, (*cursor).text)
	}
	c.expect(`,"origin":{`)
	more := false
	for _, m := range []struct {
		name string
		to   *string
	}{{`"run_id":`, &r.Origin.RunID}, {`"workflow_id":`, &r.Origin.WorkflowID}, {`"step":`, &r.Origin.Step}, {`"accepted":`, &r.Origin.Accepted}} {
		comma := ""
		if more {
			comma = ","
		}
		if c.skip(comma + m.name) {
			*m.to, more = c.text(), true
		}
	}
	c.expect(`}`)
	if c.skip(`,"log":`) {
		r.Log = c.log()
	}
	if c.skip(`,"used":`) {
		r.Used = c.used()
	}
	if c.skip(`,"kept":[`) {
		r.Kept = c.files()
	}
	c.expect(`,"took_s":`)
	took, known := durationOf(c.float())
	r.Took = took
	if c.failed || !known || len(c.b) > 0 || r.Key != key || r.Validate() != nil {
		return nil, false
	}
	return r, true
}

// cursor reads JSON as encoding/json writes it: without white space. Anything else
// fails, and nothing is read after a failure.
type cursor struct {
	b      []byte
	failed bool
}

func (c *cursor) fail() { c.b, c.failed = nil, true }

// skip goes over a text if it comes next.
func (c *cursor) skip(text string) bool {
	if len(c.b) < len(text) || string(c.b[:len(text)]) != text {
		return false
	}
	c.b = c.b[len(text):]
	return true
}

func (c *cursor) expect(text string) {
	if !c.skip(text) {
		c.fail()
	}
}

// pairs reads an object whose names are not known; one that is in it twice fails.
func pairs[V any](c *cursor, value func(*cursor) V) map[string]V {
	m := map[string]V{}
	c.expect(`{`)
	for first := true; !c.failed && !c.skip(`}`); first = false {
		if !first {
			c.expect(`,`)
		}
		name := c.text()
		c.expect(`:`)
		if _, twice := m[name]; twice {
			c.fail()
		}
		m[name] = value(c)
	}
	return m
}

func (c *cursor) artifact() (a Artifact) {
	c.expect(`{"type":`)
	a.Type = c.text()
	c.expect(`,"digest":`)
	a.Digest = c.digest()
	c.expect(`,"size":`)
	a.Size = c.integer()
	if c.skip(`,"files":[]`) {
		a.Files = []File{}
	} else if c.skip(`,"files":[`) {
		a.Files = c.files()
	}
	c.expect(`}`)
	return a
}

// files reads the rest of a list that has begun and is not empty.
func (c *cursor) files() (list []File) {
	for {
		list = append(list, c.file())
		if !c.skip(`,`) {
			break
		}
	}
	c.expect(`]`)
	return list
}

func (c *cursor) log() *Log {
	l := &Log{}
	c.expect(`{`)
	if c.skip(`"digest":`) {
		l.Digest = c.digest()
		c.expect(`,`)
	}
	c.expect(`"size":`)
	l.Size = c.integer()
	if c.skip(`,"cut":`) {
		l.Cut = c.integer()
	}
	c.expect(`}`)
	return l
}

func (c *cursor) file() (f File) {
	c.expect(`{"name":`)
	f.Name = c.text()
	c.expect(`,"digest":`)
	f.Digest = c.digest()
	c.expect(`,"size":`)
	f.Size = c.integer()
	c.expect(`}`)
	return f
}

// digest reads a digest that is not zero.
func (c *cursor) digest() (d Digest) {
	const quoted = len(`"`+digestPrefix) + 2*len(Digest{}) + len(`"`)
	if len(c.b) < quoted || !c.skip(`"`+digestPrefix) {
		c.fail()
		return d
	}
	digits := c.b[:2*len(d)]
	c.b = c.b[2*len(d):]
	if _, err := hex.Decode(d[:], digits); err != nil || bytes.ContainsAny(digits, "ABCDEF") || d.IsZero() {
		c.fail()
	}
	c.expect(`"`)
	return d
}

// quoted goes over a string and returns it with its quotation marks; plain says that
// the text between them stands for itself.
func (c *cursor) quoted() (s []byte, plain bool) {
	plain = true
	for i := 1; i < len(c.b) && c.b[0] == '"'; i++ {
		switch b := c.b[i]; {
		case b == '"':
			s, c.b = c.b[:i+1], c.b[i+1:]
			return s, plain
		case b == '\\':
			plain = false
			i++
		case b < ' ' || b > '~':
			plain = false
		}
	}
	c.fail()
	return nil, false
}

func (c *cursor) text() (text string) {
	s, plain := c.quoted()
	if plain {
		return string(s[1 : len(s)-1])
	}
	if !c.failed && json.Unmarshal(s, &text) != nil {
		c.fail()
	}
	return text
}

func (c *cursor) time(t *time.Time) {
	if s, _ := c.quoted(); c.failed || t.UnmarshalJSON(s) != nil {
		c.fail()
	}
}

// number reads what may be a number.
func (c *cursor) number() (n []byte) {
	i := 0
	for i < len(c.b) && (c.b[i] >= '0' && c.b[i] <= '9' || c.b[i] == '.' || c.b[i] == '-' || c.b[i] == '+' || c.b[i] == 'e' || c.b[i] == 'E') {
		i++
	}
	n, c.b = c.b[:i], c.b[i:]
	if !json.Valid(n) {
		c.fail()
	}
	return n
}

func (c *cursor) float() float64 {
	f, err := strconv.ParseFloat(string(c.number()), 64)
	if err != nil {
		c.fail()
	}
	return f
}

func (c *cursor) integer() int64 {
	n, err := strconv.ParseInt(string(c.number()), 10, 64)
	if err != nil {
		c.fail()
	}
	return n
}

// object goes over an object and returns a copy of it. Whether it is JSON is not looked at.
func (c *cursor) object() []byte {
	depth := 0
	for i := 0; i < len(c.b); i++ {
		switch c.b[i] {
		case '"':
			for i++; i < len(c.b) && c.b[i] != '"'; i++ {
				if c.b[i] == '\\' {
					i++
				}
			}
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				o := bytes.Clone(c.b[:i+1])
				c.b = c.b[i+1:]
				return o
			}
		}
		if depth == 0 {
			break
		}
	}
	c.fail()
	return nil
}
