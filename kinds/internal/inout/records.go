package inout

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/step"
)

// Record is a line of a file that others made, about the document that it names.
type Record struct {
	Place    string // "FILE, line N"
	Document string
	fields   map[string]json.RawMessage
	columns  []string // after the document, of a line without JSON
}

// documentNames are what the field of a document's name may be called.
var documentNames = []string{"document", "doc_id", "docid", "text_id", "_id", "id"}

// EachRecord visits the lines of files, plain or compressed, one file after another: of
// trees those that match a pattern of path.Match, "" for all. A file
// whose first line begins with { is JSON lines, each with the document's name as field
// document (or doc_id, docid, text_id, _id, id: a text or a number); any other is columns with tabs
// between them, the document's name first. Blank lines count and are passed over.
func EachRecord(x *step.IO, files step.Inputs, what, pattern string, visit func(Record) error) error {
	chosen, err := ChosenFiles(x, files, what, pattern, "*")
	if err != nil {
		return err
	}
	for _, f := range chosen {
		asJSON, begun := false, false
		err := EachLine(x, f, func(n int, line []byte) (bool, error) {
			r := Record{Place: fmt.Sprintf("%s, line %d", f.Name, n)}
			if n == 1 {
				line = bytes.TrimPrefix(line, []byte("\ufeff"))
			}
			line = bytes.TrimSuffix(line, []byte("\r"))
			if len(bytes.TrimSpace(line)) == 0 {
				return true, nil
			}
			if !begun {
				asJSON, begun = line[0] == '{', true
			}
			if err := r.parse(line, asJSON); err != nil {
				return false, DataError(fmt.Errorf("%s: %w", r.Place, err))
			}
			return true, DataError(visit(r))
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// ChosenFiles are an attribute's files whose names a pattern of path.Match, or else the usual
// one, fits. A file that is not part of a tree has no name that says anything, and fits any.
func ChosenFiles(x *step.IO, ins step.Inputs, attribute, pattern, usual string) (chosen []artifacts.File, err error) {
	var all []string
	for _, in := range ins {
		for _, f := range x.Files(in, attribute) {
			all = append(all, f.Name)
			fits := f.Name == pattern || in.Artifact.Files == nil
			if !fits {
				if fits, err = path.Match(cmp.Or(pattern, usual), f.Name); err != nil {
					return nil, step.Permanent(fmt.Errorf("%s: %q is not a pattern of names: %w", attribute, pattern, err))
				}
			}
			if pattern == "" && !fits {
				fits, _ = path.Match(usual, path.Base(f.Name))
			}
			if fits {
				chosen = append(chosen, f)
			}
		}
	}
	if len(chosen) == 0 {
		return nil, step.Permanent(fmt.Errorf("%s: no file is named %q; there are %q", attribute, cmp.Or(pattern, usual), all[:min(10, len(all))]))
	}
	return chosen, nil
}

func (r *Record) parse(line []byte, asJSON bool) error {
	if !asJSON {
		r.columns = strings.Split(string(line), "\t")
		r.Document, r.columns = r.columns[0], r.columns[1:]
		if r.Document == "" || len(r.columns) == 0 {
			return errors.New("want a document's name, a tab and its value; or JSON lines")
		}
		return nil
	}
	if err := json.Unmarshal(line, &r.fields); err != nil {
		return fmt.Errorf("is not a JSON object: %w", err)
	}
	raw, name := r.field(documentNames)
	if raw == nil {
		return fmt.Errorf("names no document: want one of the fields %s", strings.Join(documentNames, ", "))
	}
	if raw[0] != '"' {
		var number json.Number
		if err := json.Unmarshal(raw, &number); err != nil {
			return fmt.Errorf("field %s is neither a text nor a number", name)
		}
		r.Document = number.String()
		return nil
	}
	return json.Unmarshal(raw, &r.Document)
}

// field is the first field of those names, and which it is; nil if there is none.
func (r *Record) field(names []string) (json.RawMessage, string) {
	for _, name := range names {
		if raw, ok := r.fields[name]; ok && string(raw) != "null" {
			return raw, name
		}
	}
	return nil, ""
}

// Text is a field of a line of JSON, under the first of names that it has, or a column,
// counted from 0 after the document's name. What there is not is "".
func (r *Record) Text(column int, names ...string) (text string, err error) {
	if r.fields != nil {
		err = r.read(&text, "a text", names)
	} else if column < len(r.columns) {
		text = r.columns[column]
	}
	return text, err
}

// List is a list of JSON under the first of names, or nothing.
func (r *Record) List(of any, names ...string) error {
	return r.read(of, "the expected list", names)
}

func (r *Record) read(into any, what string, names []string) error {
	raw, name := r.field(names)
	if raw == nil {
		return nil
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return fmt.Errorf("%s: field %s is not %s: %w", r.Place, name, what, err)
	}
	return nil
}
