package trec

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sort"
)

// lineCounter remembers where lines end, so that a place in JSON is a line.
type lineCounter struct {
	r    io.Reader
	at   int64
	ends []int64
}

func (c *lineCounter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	for i, b := range p[:n] {
		if b == '\n' && c.ends != nil {
			c.ends = append(c.ends, c.at+int64(i))
		}
	}
	c.at += int64(n)
	return n, err
}

// peek is the first byte that is not white space; 0 for none. Nothing is read by it.
func peek(r *bufio.Reader) (byte, error) {
	for n := 1; n <= r.Size(); n++ {
		b, err := r.Peek(n)
		if len(b) < n {
			if errors.Is(err, io.EOF) {
				return 0, nil
			}
			return 0, err
		}
		if b[n-1] != ' ' && b[n-1] != '\n' && b[n-1] != '\t' && b[n-1] != '\r' {
			return b[n-1], nil
		}
	}
	return 0, nil
}

// line is the number of the line of a byte.
func (c *lineCounter) line(at int64) int {
	return 1 + sort.Search(len(c.ends), func(i int) bool { return c.ends[i] >= at })
}

// readJSON yields the values of {query: {document: value}} in the order of the file.
func readJSON(in *lineCounter, parse parser, yield func(Row) error) error {
	in.ends = []int64{}
	d := json.NewDecoder(in)
	d.UseNumber()
	fail := func(err error) error {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return fmt.Errorf("line %d: %w", in.line(d.InputOffset()), err)
	}
	if err := open(d, "the file is not {query: {document: number}}"); err != nil {
		return fail(err)
	}
	for d.More() {
		query, err := d.Token()
		if err != nil {
			return fail(err)
		}
		if err := open(d, fmt.Sprintf("query %.80q does not have {document: number}", query)); err != nil {
			return fail(err)
		}
		for d.More() {
			document, err := d.Token()
			if err != nil {
				return fail(err)
			}
			value, err := d.Token()
			if err != nil {
				return fail(err)
			}
			number, ok := value.(json.Number)
			if !ok {
				return fail(fmt.Errorf("query %.80q, document %.80q: %v is not a number", query, document, value))
			}
			row, err := parse([]string{query.(string), document.(string), number.String()}, JSON)
			if err == nil {
				row.Line = in.line(d.InputOffset())
				err = yield(row)
			}
			if err != nil {
				return fail(err)
			}
		}
		if _, err := d.Token(); err != nil {
			return fail(err)
		}
	}
	if _, err := d.Token(); err != nil {
		return fail(err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return fail(errors.New("there is text after the JSON"))
	}
	return nil
}

// open reads the { of an object.
func open(d *json.Decoder, otherwise string) error {
	t, err := d.Token()
	if err != nil {
		return err
	}
	if t != json.Delim('{') {
		return errors.New(otherwise)
	}
	return nil
}
