package inout

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/redsi/redsi/step"
)

// WriteJSON writes a value as an output, indented, with a newline.
func WriteJSON(x *step.IO, output string, v any) error {
	w, err := x.Create(output)
	if err != nil {
		return err
	}
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return step.Permanent(err)
	}
	return w.Close()
}

// ReadJSON reads a small JSON input whole.
func ReadJSON(x *step.IO, in step.Input, v any) error {
	r, err := x.Open(in)
	if err != nil {
		return err
	}
	defer r.Close()
	b, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(b, v); err != nil {
		return step.Permanent(fmt.Errorf("input is not the expected JSON: %w", err))
	}
	return nil
}
