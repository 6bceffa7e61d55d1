package trec

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// readJSON yields the values of {query: {document: value}} in the order of the file.
func (c Content) readJSON(in io.Reader, yield func(Row) error) error {
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
	var path []string // the current query and document
	for depth, done := 0, false; ; {
		token, err := d.Token()
		number, isNumber := token.(json.Number)
		switch {
		case done && errors.Is(err, io.EOF):
			return nil
		case done:
			return fail(errors.New("there is text after the JSON"))
		case err != nil:
			return fail(err)
		case len(path) < depth && token == json.Delim('}'):
			depth--
			path, done = path[:max(depth-1, 0)], depth == 0
		case len(path) < depth:
			path = append(path, token.(string))
		case depth < 2 && token == json.Delim('{'):
			depth++
		case depth == 0:
			return fail(errors.New("the file is not {query: {document: number}}"))
		case depth == 1:
			return fail(fmt.Errorf("query %.80q does not have {document: number}", path[0]))
		case !isNumber:
			return fail(fmt.Errorf("query %.80q, document %.80q: %.80q is not a number", path[0], path[1], fmt.Sprint(token)))
		default:
			row, err := c.row([]string{path[0], path[1], number.String()}, JSON, c.layouts[JSON])
			if row.Line = here(); err == nil {
				err = yield(row)
			}
			if err != nil {
				return fail(err)
			}
			path = path[:1]
		}
	}
}
