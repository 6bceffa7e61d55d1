package view

import (
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"

	"github.com/redsi/redsi/internal/system/escape"
)

// WriteJSON prints a value as indented JSON with a newline, as encoding/json has it, but an empty
// list is [], never null. Control characters are written as JSON escapes.
func WriteJSON(w io.Writer, v any) error {
	b, err := json.Marshal(v, jsonv1.DefaultOptionsV1(), json.FormatNilSliceAsNull(false), jsontext.EscapeForHTML(false), jsontext.WithIndent("  "))
	if err != nil {
		return err
	}
	_, err = w.Write(escape.JSON(append(b, '\n')))
	return err
}
