package nq

import (
	"bytes"
	"encoding/json/jsontext"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/redsi/redsi/internal/system/values"
)

// Abridged prints one record for people (paper, fig:nq-format-example): indented, fields in order, the first items of lists
// and the first characters of texts, "..." for the rest.
type Abridged struct {
	Items      int // of each list of objects; of each list of strings ten times as many
	Characters int // code points of each string
}

// Print writes the JSON object in line. Numbers keep their digits.
func (a Abridged) Print(w io.Writer, line []byte) error {
	p := &printer{a: a, d: jsontext.NewDecoder(bytes.NewReader(line), lenient)}
	if err := p.value(0); err != nil {
		return fmt.Errorf("print a record: %w", err)
	}
	p.b.WriteByte('\n')
	_, err := w.Write(p.b.Bytes())
	return err
}

type printer struct {
	a Abridged
	d *jsontext.Decoder
	b bytes.Buffer
}

func (p *printer) value(depth int) error {
	t, err := p.d.ReadToken()
	if err != nil {
		return err
	}
	switch t.Kind() {
	case jsontext.KindBeginObject:
		return p.members(depth, '}', false, math.MaxInt)
	case jsontext.KindBeginArray:
		if p.d.PeekKind() == jsontext.KindString {
			return p.members(depth, ']', true, 10*p.a.Items)
		}
		return p.members(depth, ']', false, p.a.Items)
	case jsontext.KindString:
		p.b.WriteString(quote(p.cut(t.String())))
	default:
		p.b.WriteString(t.String())
	}
	return nil
}

// members prints an object or a list, a list of words on one line.
func (p *printer) members(depth int, end jsontext.Kind, words bool, limit int) error {
	line := func(depth int) { p.b.WriteString("\n" + strings.Repeat("  ", depth)) }
	begin := byte('[')
	if end == '}' {
		begin = '{'
	}
	p.b.WriteByte(begin)
	n := 0
	for ; p.d.PeekKind() != end; n++ {
		switch {
		case n > limit:
		case n > 0 && words:
			p.b.WriteString(", ")
		case n > 0:
			p.b.WriteByte(',')
			fallthrough
		case !words:
			line(depth + 1)
		}
		if n >= limit {
			if n == limit {
				p.b.WriteString("...")
			}
			if err := p.d.SkipValue(); err != nil {
				return err
			}
			continue
		}
		if end == '}' {
			name, err := p.d.ReadToken()
			if err != nil {
				return err
			}
			p.b.WriteString(quote(name.String()) + ": ")
		}
		if err := p.value(depth + 1); err != nil {
			return err
		}
	}
	if n > 0 && !words {
		line(depth)
	}
	p.b.WriteByte(byte(end))
	_, err := p.d.ReadToken()
	return err
}

func (p *printer) cut(text string) string {
	n := 0
	for i := range text {
		if n++; n > p.a.Characters && p.a.Characters > 0 {
			return text[:i] + "..."
		}
	}
	return text
}

func quote(s string) string {
	b, _ := values.JSON(s, "") // a string always encodes
	return string(b)
}
