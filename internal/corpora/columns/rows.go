package columns

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"sync"

	"github.com/parquet-go/parquet-go"
)

// Kind is the stored type of a column's values.
type Kind = parquet.Kind

// The kinds with their own field of Column; stored values of other kinds are in its Text.
const (
	Texts = parquet.ByteArray
	Ints  = parquet.Int64
	Bools = parquet.Boolean
)

// Wanted is a column to read: its place in File.Names, below zero for none, and its kind.
type Wanted struct {
	At   int
	Kind Kind
}

// Rows reads some columns row by row. A goroutine for each decompresses one page ahead, except large pages.
type Rows struct {
	Columns []*Column // in the order wanted, nil for none
	Row     int64     // number of the last row, from one

	rows int64
	quit chan struct{}
	wg   sync.WaitGroup
}

// Column has the values of one row, without nulls, in Ints, Bools or Text, until the next row. Reps and Defs are Parquet's
// levels, one for each value, null and empty list.
type Column struct {
	Name       string
	Reps, Defs []byte // nil if the column has no lists, and if all its values are required
	Ints       []int64
	Bools      []bool
	Text       []byte // all texts
	Ends       []int  // of each text in Text
	Full       byte   // the level in Defs of a value
	Lists      bool   // a row may have several values
	nullable   bool   // a single value can be null, at the level below Full

	kind  Kind
	pages chan page
	freed chan struct{} // of a large page
	page
	at, value int // levels and values of page taken so far
}

type page struct {
	parquet.Page
	err        error
	large      bool // with its dictionary
	levels     int
	reps, defs []byte
	indices    []int32 // into a dictionary, whose values the next fields then are
	ints       []int64
	bits       []byte
	text       []byte
	offsets    []uint32
}

// largePage is the size in bytes above which a page is not read ahead.
const largePage = 16 << 20

// Read begins to read columns. An error names one of another kind.
func (f *File) Read(wanted []Wanted) (r *Rows, err error) {
	defer Guard(&err)()
	r = &Rows{rows: f.table.NumRows(), quit: make(chan struct{})}
	for _, w := range wanted {
		if w.At < 0 {
			r.Columns = append(r.Columns, nil)
			continue
		}
		leaf := f.leaves[w.At]
		if t := leaf.Node.Type(); t.Kind() != w.Kind {
			return nil, fmt.Errorf("column %q is of type %s, want %s", f.Names[w.At], t, w.Kind)
		}
		r.Columns = append(r.Columns, &Column{
			Name: f.Names[w.At], Full: byte(leaf.MaxDefinitionLevel), nullable: leaf.Node.Optional(),
			Lists: leaf.MaxRepetitionLevel > 0, kind: w.Kind, pages: make(chan page), freed: make(chan struct{}, 1),
		})
	}
	for i, w := range wanted {
		if w.At >= 0 {
			r.wg.Go(func() { r.Columns[i].readPages(f.table.RowGroups(), w.At, r.quit) })
		}
	}
	return r, nil
}

// Next fills the columns with the next row; io.EOF after the last. Other errors end the file.
func (r *Rows) Next() (err error) {
	defer Guard(&err)()
	if r.Row == r.rows {
		return io.EOF
	}
	for _, c := range r.Columns {
		if c == nil {
			continue
		}
		if err := c.next(); errors.Is(err, io.EOF) {
			return fmt.Errorf("column %q ends before row %d of %d", c.Name, r.Row+1, r.rows)
		} else if err != nil {
			return fmt.Errorf("column %q: %w", c.Name, err)
		}
	}
	r.Row++
	return nil
}

// Close ends the goroutines; once.
func (r *Rows) Close() {
	close(r.quit)
	r.wg.Wait()
}

// readPages sends a column's pages, one group of rows after another, up to a page with an error.
func (c *Column) readPages(groups []parquet.RowGroup, at int, quit <-chan struct{}) {
	defer close(c.pages)
	for _, g := range groups {
		if !c.readChunk(g.ColumnChunks()[at].Pages(), quit) {
			return
		}
	}
}

func (c *Column) readChunk(pages parquet.Pages, quit <-chan struct{}) (more bool) {
	defer pages.Close()
	for {
		p := c.read(pages)
		if errors.Is(p.err, io.EOF) {
			return true
		}
		select {
		case c.pages <- p:
		case <-quit:
			return false
		}
		if p.err != nil {
			return false
		}
		if p.large {
			p = page{}
			select {
			case <-c.freed:
			case <-quit:
				return false
			}
		}
	}
}

// read decompresses and decodes a page.
func (c *Column) read(pages parquet.Pages) (p page) {
	defer Guard(&p.err)()
	if p.Page, p.err = pages.ReadPage(); p.err != nil {
		return p
	}
	p.levels, p.reps, p.defs = int(p.NumValues()), p.RepetitionLevels(), p.DefinitionLevels()
	data, size := p.Data(), p.Size()
	if d := p.Dictionary(); d != nil {
		p.indices, data, size = data.Int32(), d.Page().Data(), size+d.Size()
	}
	p.large = size > largePage
	switch c.kind {
	case Texts:
		p.text, p.offsets = data.ByteArray()
	case Ints:
		p.ints = data.Int64()
	case Bools:
		p.bits = data.Boolean()
	case parquet.FixedLenByteArray:
		text, width := data.FixedLenByteArray()
		p.cut(text, width)
	default:
		text, _ := data.Data()
		p.cut(text, widths[c.kind])
	}
	return p
}

// widths are the sizes of values in bytes.
var widths = map[Kind]int{parquet.Int32: 4, parquet.Int96: 12, parquet.Float: 4, parquet.Double: 8}

// cut turns values of a width into texts.
func (p *page) cut(text []byte, width int) {
	p.text, p.offsets = text, make([]uint32, len(text)/width+1)
	for i := range p.offsets {
		p.offsets[i] = uint32(i * width)
	}
}

// next takes the values of a row, which may lie in several pages.
func (c *Column) next() error {
	c.Reps, c.Defs, c.Ints, c.Bools, c.Text, c.Ends = c.Reps[:0], c.Defs[:0], c.Ints[:0], c.Bools[:0], c.Text[:0], c.Ends[:0]
	for begun := false; ; {
		if c.at == c.levels {
			parquet.Release(c.Page)
			if c.large {
				c.freed <- struct{}{}
			}
			c.page, c.at, c.value = page{}, 0, 0
			next, ok := <-c.pages
			switch {
			case !ok && begun && c.Lists:
				return nil // the row ends with the column
			case !ok:
				return io.EOF
			case errors.Is(next.err, io.ErrUnexpectedEOF): // unlike io.EOF, which ends a group of rows
				return errors.New("a page is cut")
			case next.err != nil:
				return next.err
			}
			c.page = next
			continue
		}
		n := 1
		if c.Lists {
			from := c.at
			if !begun {
				from++
			}
			if n = bytes.IndexByte(c.reps[from:], 0); n < 0 {
				n = c.levels
			}
			n = min(n+from, c.levels) - c.at
		}
		if c.take(n); !c.Lists || c.at < c.levels {
			return nil
		}
		begun = true
	}
}

// take adds the next n levels of the page, with their values.
func (c *Column) take(n int) {
	values := n
	if c.defs != nil {
		defs := c.defs[c.at : c.at+n]
		c.Defs = append(c.Defs, defs...)
		values = bytes.Count(defs, []byte{c.Full})
	}
	if c.reps != nil {
		c.Reps = append(c.Reps, c.reps[c.at:c.at+n]...)
	}
	from, to := c.value, c.value+values
	c.at, c.value = c.at+n, to
	switch c.kind {
	case Ints:
		if c.indices == nil {
			c.Ints = append(c.Ints, c.ints[from:to]...)
			break
		}
		for _, i := range c.indices[from:to] {
			c.Ints = append(c.Ints, c.ints[i])
		}
	case Bools:
		for i := from; i < to; i++ {
			c.Bools = append(c.Bools, c.bits[i>>3]>>(i&7)&1 != 0)
		}
	default:
		if c.indices == nil {
			first := c.offsets[from]
			start := len(c.Text) - int(first)
			c.Text = append(c.Text, c.text[first:c.offsets[to]]...)
			c.Ends = slices.Grow(c.Ends, values)
			for _, end := range c.offsets[from+1 : to+1] {
				c.Ends = append(c.Ends, start+int(end))
			}
			break
		}
		for _, i := range c.indices[from:to] {
			c.Text = append(c.Text, c.text[c.offsets[i]:c.offsets[i+1]]...)
			c.Ends = append(c.Ends, len(c.Text))
		}
	}
}

// Len is the number of values of the row.
func (c *Column) Len() int { return len(c.Ints) + len(c.Bools) + len(c.Ends) }

// Null reports whether one of the row's values is null, not counting null lists and objects.
func (c *Column) Null() bool { return c.nullable && bytes.IndexByte(c.Defs, c.Full-1) >= 0 }

// Values yields the row's values without nulls.
func (c *Column) Values() iter.Seq[parquet.Value] {
	return func(yield func(parquet.Value) bool) {
		from := 0
		for i := range c.Len() {
			var v parquet.Value
			switch c.kind {
			case Ints:
				v = parquet.Int64Value(c.Ints[i])
			case Bools:
				v = parquet.BooleanValue(c.Bools[i])
			default:
				v = c.kind.Value(c.Text[from:c.Ends[i]])
				from = c.Ends[i]
			}
			if !yield(v) {
				return
			}
		}
	}
}
