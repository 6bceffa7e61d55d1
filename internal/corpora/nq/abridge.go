package nq

import (
	"bytes"
	"encoding/json/jsontext"
	"fmt"
	"io"
	"strings"

	"github.com/redsi/redsi/internal/system/values"
)

// Abridged shows one record as people print it (paper, fig:nq-format-example):
// indented, its fields in their order, of each list the first items, of each text
// the first characters. What was left out is shown as "...".
type Abridged struct {
	Items      int // of each list of objects; lists of strings are kept whole up to ten times as many
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

func (p *printer) line(depth int) { p.b.WriteString("\n" + strings.Repeat("  ", depth)) }

func (p *printer) value(depth int) error {
	t, err := p.d.ReadToken()
	if err != nil {
		return err
	}
	switch t.Kind() {
	case jsontext.KindBeginObject:
		return p.object(depth)
	case jsontext.KindBeginArray:
		return p.list(depth)
	case jsontext.KindString:
		p.b.WriteString(quote(p.cut(t.String())))
	default:
		p.b.WriteString(t.String())
	}
	return nil
}

func (p *printer) object(depth int) error {
	p.b.WriteByte('{')
	n := 0
	for ; p.d.PeekKind() == jsontext.KindString; n++ {
		if n > 0 {
			p.b.WriteByte(',')
		}
		p.line(depth + 1)
		name, err := p.d.ReadToken()
		if err != nil {
			return err
		}
		p.b.WriteString(quote(name.String()) + ": ")
		if err := p.value(depth + 1); err != nil {
			return err
		}
	}
	if n > 0 {
		p.line(depth)
	}
	p.b.WriteByte('}')
	_, err := p.d.ReadToken()
	return err
}

func (p *printer) list(depth int) error {
	p.b.WriteByte('[')
	limit, words := p.a.Items, p.d.PeekKind() == jsontext.KindString
	if words {
		limit *= 10
	}
	n := 0
	for ; p.d.PeekKind() != jsontext.KindEndArray; n++ {
		if n <= limit {
			p.separate(n, depth, words)
		}
		if n == limit {
			p.b.WriteString("...")
		}
		err := error(nil)
		if n < limit {
			err = p.value(depth + 1)
		} else {
			err = p.d.SkipValue()
		}
		if err != nil {
			return err
		}
	}
	if n > 0 && !words {
		p.line(depth)
	}
	p.b.WriteByte(']')
	_, err := p.d.ReadToken()
	return err
}

func (p *printer) separate(n, depth int, words bool) {
	switch {
	case words && n > 0:
		p.b.WriteString(", ")
	case words:
	case n > 0:
		p.b.WriteByte(',')
		p.line(depth + 1)
	default:
		p.line(depth + 1)
	}
}

// cut gives the first characters of a text.
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
