package inout

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/system/values"
	"github.com/redsi/redsi/step"
)

// WriteReport counts, and writes output "report" as JSON.
func WriteReport(x *step.IO, v any, counts map[string]int) error {
	Count(x, counts)
	return WriteJSON(x, "report", v)
}

// Count counts several things.
func Count(x *step.IO, counts map[string]int) {
	for name, n := range counts {
		x.Count(name, int64(n))
	}
}

// WriteJSON writes a value as an output, indented, with a newline.
func WriteJSON(x *step.IO, output string, v any) error { return Write(x, output, JSON(v)) }

// JSON writes a value as WriteJSON does.
func JSON(v any) func(io.Writer) error {
	return func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", " ")
		e.SetEscapeHTML(false)
		return step.Permanent(e.Encode(v))
	}
}

// ReadJSON reads a small JSON input whole.
func ReadJSON(x *step.IO, in step.Input, v any) error {
	return Scan(x, in, "", func(r io.Reader) error {
		b, err := io.ReadAll(r)
		if err != nil {
			return err
		}
		if err := values.Written(b, v); err != nil {
			return fmt.Errorf("input is not the expected JSON: %w", err)
		}
		return nil
	})
}

// ReadFile reads a small file whole.
func ReadFile(x *step.IO, f artifacts.File) ([]byte, error) {
	r, err := x.OpenFile(f)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(r)
}
