package trec

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// startsJSON reports whether the first byte that is not white space is a brace. Nothing is read.
func startsJSON(r *bufio.Reader) bool {
	head, _ := r.Peek(r.Size())
	return bytes.HasPrefix(bytes.TrimLeft(head, " \t\r\n"), []byte("{"))
}

// readJSON yields the values of {query: {document: value}} in the order of the file.
func (c content) readJSON(in io.Reader, yield func(Row) error) error {
	text, err := io.ReadAll(in)
	if err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	line, counted := 1, int64(0)
	here := func() int {
		line += bytes.Count(text[counted:d.InputOffset()], []byte{'\n'})
		counted = d.InputOffset()
		return line
	}
	fail := func(err error) error {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return fmt.Errorf("line %d: %w", here(), err)
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
			row, err := c.row([]string{query.(string), document.(string), number.String()}, JSON)
			if err == nil {
				row.Line = here()
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
