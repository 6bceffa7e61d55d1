package nq

import (
	"encoding/binary"
	"errors"
	"fmt"
)

var errEntry = errors.New("damaged stream: an entry ends early or has an impossible value")

// fieldReader takes fields from an entry; after a failure it returns zero values.
type fieldReader struct {
	b      []byte
	failed bool
}

func (f *fieldReader) uvarint() uint64 {
	v, n := binary.Uvarint(f.b)
	if n <= 0 {
		f.failed, f.b = true, nil
		return 0
	}
	f.b = f.b[n:]
	return v
}

// varint undoes binary.AppendVarint, which is a uvarint of the zigzag form.
func (f *fieldReader) varint() int64 {
	v := f.uvarint()
	return int64(v>>1) ^ -int64(v&1)
}

// take returns the next n bytes in place.
func (f *fieldReader) take(n uint64) []byte {
	if n > uint64(len(f.b)) {
		f.failed, f.b = true, nil
		return nil
	}
	p := f.b[:n]
	f.b = f.b[n:]
	return p
}

func (f *fieldReader) bytes() []byte  { return f.take(f.uvarint()) }
func (f *fieldReader) string() string { return string(f.bytes()) }

func appendString[S string | []byte](b []byte, s S) []byte {
	b = binary.AppendUvarint(b, uint64(len(s)))
	return append(b, s...)
}

// Bits of a record entry's first byte.
const (
	recHTML    = 1 << iota // title, HTML and tokens follow
	recText                // document_text follows
	recDerived             // document_text is SimplifiedText of the tokens
	recAll     = recHTML | recText | recDerived
)

// recordCodec encodes records. A token is
//
//	uvarint(gap<<2 | html<<1 | literal) uvarint(length)
//
// where gap is the distance from the previous token's end; its text is the span of HTML or, if literal is set, the next
// string in the run of literals behind all tokens.
type recordCodec struct {
	literals []byte
	arena    []byte
	ends     []int
}

// append encodes r, whose tokens must pass the Reader's checks. After an error b may end in part of an entry.
func (c *recordCodec) append(b []byte, r *Record) ([]byte, error) {
	var flags byte
	if r.Full() || r.Title != "" {
		flags |= recHTML
	}
	if r.Text != "" {
		if len(r.Tokens) > 0 && r.Text == SimplifiedText(r.Tokens) {
			flags |= recDerived
		} else {
			flags |= recText
		}
	}
	b = append(b, flags)
	b = binary.AppendVarint(b, r.ExampleID)
	b = appendString(b, string(r.Split))
	b = appendString(b, r.Question)
	b = appendString(b, r.URL)
	if flags&recHTML != 0 {
		b = appendString(b, r.Title)
		b = appendString(b, r.HTML)
		var ok bool
		if b, ok = c.appendTokens(b, r); !ok {
			return b, fmt.Errorf("example_id %d: %w", r.ExampleID, checkOffsets(r))
		}
	}
	if flags&recText != 0 {
		b = appendString(b, r.Text)
	}
	return b, nil
}

// appendTokens reports false for a token that does not fit.
func (c *recordCodec) appendTokens(b []byte, r *Record) ([]byte, bool) {
	literals := c.literals[:0]
	b = binary.AppendUvarint(b, uint64(len(r.Tokens)))
	prev := int32(0)
	for i := range r.Tokens {
		t := &r.Tokens[i]
		if !t.fits(r.HTML, prev) {
			return b, false
		}
		head, size := uint64(t.Start-prev)<<2, uint64(t.End-t.Start)
		if t.HTML {
			head |= 2
		}
		if string(r.HTML[t.Start:t.End]) != t.Text {
			head |= 1
			literals = appendString(literals, t.Text)
		}
		if head|size < 0x80 { // nearly all
			b = append(b, byte(head), byte(size))
		} else {
			b = binary.AppendUvarint(b, head)
			b = binary.AppendUvarint(b, size)
		}
		prev = t.End
	}
	c.literals = literals
	return append(b, literals...), true
}

// decode reads one record into r, reusing its buffers, and returns its length.
func (c *recordCodec) decode(b []byte, r *Record) (int, error) {
	r.Reset()
	f := fieldReader{b: b}
	flags := f.take(1)
	if f.failed || flags[0]&^recAll != 0 {
		return 0, errEntry
	}
	r.ExampleID = f.varint()
	r.Split = splitOf(f.bytes())
	r.Question = f.string()
	r.URL = f.string()
	if flags[0]&recHTML != 0 {
		r.Title = f.string()
		r.HTML = append(r.HTML, f.bytes()...)
		if err := c.decodeTokens(&f, r); err != nil {
			return 0, err
		}
	}
	switch {
	case flags[0]&recText != 0:
		r.Text = f.string()
	case flags[0]&recDerived != 0:
		r.Text = SimplifiedText(r.Tokens)
	}
	if f.failed {
		return 0, errEntry
	}
	return len(b) - len(f.b), nil
}

func (c *recordCodec) decodeTokens(f *fieldReader, r *Record) error {
	n := f.uvarint()
	if n > uint64(len(f.b))/2 { // a token takes two bytes at least
		return errEntry
	}
	// First the spans, with literal kept in ends; then the texts.
	c.ends = c.ends[:0]
	at := uint64(0)
	for range n {
		head, size := f.uvarint(), f.uvarint()
		start := at + head>>2
		if at = start + size; f.failed || head>>2 > uint64(len(r.HTML)) || size > uint64(len(r.HTML)) || at > uint64(len(r.HTML)) {
			return errEntry
		}
		r.Tokens = append(r.Tokens, Token{HTML: head&2 != 0, Start: int32(start), End: int32(at)})
		c.ends = append(c.ends, int(head&1))
	}
	c.arena = c.arena[:0]
	for i := range r.Tokens {
		if t := &r.Tokens[i]; c.ends[i] == 0 {
			c.arena = append(c.arena, r.HTML[t.Start:t.End]...)
		} else {
			c.arena = append(c.arena, f.bytes()...)
		}
		c.ends[i] = len(c.arena)
	}
	all, from := string(c.arena), 0
	for i := range r.Tokens {
		r.Tokens[i].Text, from = all[from:c.ends[i]], c.ends[i]
	}
	return nil
}

// splitOf allocates nothing for one of Splits.
func splitOf(b []byte) Split {
	for _, split := range Splits {
		if string(b) == string(split) {
			return split
		}
	}
	return Split(b)
}

type headerCodec struct{}

func (headerCodec) append(b []byte, h *Header) ([]byte, error) {
	var flags byte
	if h.HasH1 {
		flags = 1
	}
	b = append(b, flags)
	b = binary.AppendVarint(b, h.ExampleID)
	b = appendString(b, string(h.Split))
	b = appendString(b, h.Question)
	b = appendString(b, h.URL)
	b = appendString(b, h.Title)
	b = appendString(b, h.H1)
	b = append(b, h.Text4KCased[:]...)
	return append(b, h.Text4K[:]...), nil
}

func (headerCodec) decode(b []byte, h *Header) (int, error) {
	f := fieldReader{b: b}
	flags := f.take(1)
	if f.failed || flags[0] > 1 {
		return 0, errEntry
	}
	*h = Header{HasH1: flags[0] == 1}
	h.ExampleID = f.varint()
	h.Split = splitOf(f.bytes())
	h.Question = f.string()
	h.URL = f.string()
	h.Title = f.string()
	h.H1 = f.string()
	copy(h.Text4KCased[:], f.take(16))
	copy(h.Text4K[:], f.take(16))
	if f.failed {
		return 0, errEntry
	}
	return len(b) - len(f.b), nil
}
