package inout

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"regexp"
	"strings"

	"github.com/redsi/redsi/internal/corpora/columns"
	"github.com/redsi/redsi/internal/corpora/unpack"
	"github.com/redsi/redsi/internal/system/values"
)

// Bounds of a document of values, whose memory is a multiple of its size.
const (
	mostBytes = 256 << 20
	mostRows  = 1_000_000
)

const whatIsRead = "JSON, JSON lines, YAML, CSV, Parquet and a single number are read"

// parseValues reads a document by the ending of its file's name, or by its content if that
// says nothing: into numbers, texts, truth values, nil, lists, and objects by name. JSON is
// read whatever the name is, and lines of it if the name says so or if they are no single document. NaN and infinite
// numbers are kept as such.
func parseValues(name string, b []byte) (any, error) {
	b = bytes.TrimPrefix(b, []byte("\ufeff"))
	format := strings.ToLower(path.Ext(name))
	if format == ".jsonl" || format == ".ndjson" {
		return parseLines(b)
	}
	doc, badJSON := parseJSON(b)
	if badJSON == nil {
		return doc, nil
	}
	if bytes.HasPrefix(b, []byte(columns.Mark)) {
		return parseParquet(b)
	}
	text := strings.TrimSpace(string(b))
	if v, ok := number(text); ok {
		return v, nil
	}
	switch format {
	case ".json", ".yaml", ".yml", ".csv", ".tsv":
	default:
		format = formatOf(text)
	}
	var err error
	switch format {
	case ".json":
		if doc, err = parseLines(b); err != nil {
			doc, err = nil, fmt.Errorf("not JSON: %w", badJSON)
		}
	case ".yaml", ".yml":
		if doc, err = parseYAML(text); err != nil {
			err = fmt.Errorf("not YAML: %w", err)
		}
	case ".csv", ".tsv":
		comma := ','
		if format == ".tsv" {
			comma = '\t'
		}
		if doc, err = parseCSV(text, comma); err != nil {
			err = fmt.Errorf("not CSV: %w", err)
		}
	default:
		doc, err = nil, fmt.Errorf("it begins with %.40q", text)
	}
	if err != nil {
		err = fmt.Errorf("%w; %s", err, whatIsRead)
	}
	return doc, err
}

// formatOf is the ending that a file's name should have by its first line, "" if it is of
// no format that is read.
func formatOf(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	line = strings.TrimRight(line, " \r")
	switch {
	case strings.HasPrefix(line, "{"), strings.HasPrefix(line, "["):
		return ".json"
	case line == "---", strings.HasPrefix(line, "- "), strings.HasSuffix(line, ":"), strings.Contains(line, ": "):
		return ".yaml"
	case strings.Contains(line, "\t"):
		return ".tsv"
	case strings.Contains(line, ","):
		return ".csv"
	}
	return ""
}

// notJSON finds what Python and others write in JSON for numbers that JSON has not, and
// texts, in which the same letters stand for themselves.
var notJSON = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|NaN|Infinity`)

func parseJSON(b []byte) (doc any, err error) {
	if err = json.Unmarshal(b, new(json.RawMessage)); err != nil {
		b = notJSON.ReplaceAllFunc(b, func(found []byte) []byte {
			if found[0] == '"' {
				return found
			}
			return []byte("1e999") // read as infinite below
		})
		if !json.Valid(b) {
			return nil, err
		}
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	if err := d.Decode(&doc); err != nil {
		return nil, err
	}
	return withNumbers(doc), nil
}

// parseLines reads a JSON document a line into a list.
func parseLines(b []byte) (any, error) {
	rows := []any{}
	err := unpack.NewLines(bytes.NewReader(b)).Each(func(line []byte) error {
		if len(bytes.TrimSpace(line)) == 0 {
			return nil
		}
		row, err := parseJSON(line)
		if err != nil {
			return fmt.Errorf("not JSON: %w", err)
		}
		rows = append(rows, row)
		return tooMany(len(rows))
	})
	return rows, err
}

func tooMany(rows int) error {
	if rows > mostRows {
		return fmt.Errorf("it has more than %d rows", mostRows)
	}
	return nil
}

// parseParquet reads rows into a list of objects.
func parseParquet(b []byte) (any, error) {
	f, err := columns.Open(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return nil, err
	}
	if err := tooMany(int(f.NumRows())); err != nil {
		return nil, err
	}
	objects, err := f.Objects()
	if err != nil {
		return nil, err
	}
	defer objects.Close()
	rows := []any{}
	for n := int64(1); n <= f.NumRows(); n++ {
		o, err := objects.Row(n)
		if err != nil {
			return nil, err
		}
		row, err := f.Typed(o)
		if err != nil {
			return nil, err
		}
		rows = append(rows, withNumbers(row))
	}
	return rows, nil
}

func parseYAML(text string) (any, error) {
	if text == "" {
		return nil, errors.New("it is empty")
	}
	doc, err := values.YAML([]byte(text), nil)
	return withNumbers(doc), err
}

// parseCSV reads rows below a line of names into a list of objects.
func parseCSV(text string, comma rune) (any, error) {
	r := csv.NewReader(strings.NewReader(text))
	r.Comma, r.ReuseRecord = comma, true
	header, err := r.Read()
	if err != nil {
		return nil, err
	}
	names := make(map[string]bool, len(header))
	columns := make([]string, len(header))
	for i, name := range header {
		columns[i] = strings.TrimSpace(name)
		if names[columns[i]] {
			return nil, fmt.Errorf("two columns are named %q; the first line has the columns' names", name)
		}
		names[columns[i]] = true
	}
	rows := []any{}
	for {
		record, err := r.Read()
		if errors.Is(err, io.EOF) {
			return rows, nil
		} else if err != nil {
			return nil, err
		}
		if err := tooMany(len(rows) + 1); err != nil {
			return nil, err
		}
		row := make(map[string]any, len(columns))
		for i, cell := range record {
			row[columns[i]] = cellValue(cell)
		}
		rows = append(rows, row)
	}
}
