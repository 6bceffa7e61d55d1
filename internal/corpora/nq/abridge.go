package nq

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
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
	d := json.NewDecoder(bytes.NewReader(line))
	d.UseNumber()
	p := &printer{a: a, d: d}
	if err := p.value(0); err != nil {
		return fmt.Errorf("print a record: %w", err)
	}
	p.b.WriteByte('\n')
	_, err := w.Write(p.b.Bytes())
	return err
}

type printer struct {
	a    Abridged
	d    *json.Decoder
	b    bytes.Buffer
	mute int // > 0 within what is left out
}

func (p *printer) write(s string) {
	if p.mute == 0 {
		p.b.WriteString(s)
	}
}

func (p *printer) line(depth int) { p.write("\n" + strings.Repeat("  ", depth)) }

func (p *printer) value(depth int) error {
	t, err := p.d.Token()
	if err != nil {
		return err
	}
	switch t := t.(type) {
	case json.Delim:
		if t == '{' {
			return p.object(depth)
		}
		return p.list(depth)
	case string:
		p.write(p.text(t))
	case json.Number:
		p.write(t.String())
	case bool:
		p.write(strconv.FormatBool(t))
	default:
		p.write("null")
	}
	return nil
}

func (p *printer) object(depth int) error {
	p.write("{")
	n := 0
	for ; p.d.More(); n++ {
		if n > 0 {
			p.write(",")
		}
		p.line(depth + 1)
		key, err := p.d.Token()
		if err != nil {
			return err
		}
		p.write(quote(key.(string)) + ": ") // a decoder gives strings as keys
		if err := p.value(depth + 1); err != nil {
			return err
		}
	}
	if n > 0 {
		p.line(depth)
	}
	p.write("}")
	_, err := p.d.Token()
	return err
}

func (p *printer) list(depth int) error {
	p.write("[")
	n, limit, words := 0, p.a.Items, p.d.More() && p.nextIsText()
	if words {
		limit *= 10
	}
	for ; p.d.More(); n++ {
		if n == limit {
			p.separate(n, depth, words)
			p.write("...")
		}
		if n >= limit {
			p.mute++
		}
		p.separate(n, depth, words)
		err := p.value(depth + 1)
		if n >= limit {
			p.mute--
		}
		if err != nil {
			return err
		}
	}
	if n > 0 && !words {
		p.line(depth)
	}
	p.write("]")
	_, err := p.d.Token()
	return err
}

func (p *printer) separate(n, depth int, words bool) {
	switch {
	case words && n > 0:
		p.write(", ")
	case words:
	case n > 0:
		p.write(",")
		p.line(depth + 1)
	default:
		p.line(depth + 1)
	}
}

// nextIsText looks at the first byte of a list's first value.
func (p *printer) nextIsText() bool {
	rest, ok := p.d.Buffered().(*bytes.Reader)
	if !ok {
		return false
	}
	for {
		c, err := rest.ReadByte()
		if err != nil {
			return false
		}
		if !strings.ContainsRune(" \t\r\n,:", rune(c)) {
			return c == '"'
		}
	}
}

func (p *printer) text(s string) string {
	if p.a.Characters > 0 && utf8.RuneCountInString(s) > p.a.Characters {
		n := 0
		for i := range s {
			if n == p.a.Characters {
				s = s[:i] + "..."
				break
			}
			n++
		}
	}
	return quote(s)
}

func quote(s string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a string always encodes
	return strings.TrimSuffix(b.String(), "\n")
}
