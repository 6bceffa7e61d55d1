package inout

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"path"
	"regexp"
	"strconv"
	"strings"

	"github.com/redsi/redsi/internal/corpora/columns"
	"github.com/redsi/redsi/internal/corpora/unpack"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/values"
)

// Bounds of a document of values, whose memory is a multiple of its size.
const (
	mostBytes = 256 << 20
	mostRows  = 1_000_000
)

const whatIsRead = "JSON, JSON lines, YAML, CSV, Parquet and a single number are read"

// parseValues reads a document by the ending of its file's name, or by its content if the ending says nothing:
// into numbers, texts, truth values, nil, lists, and objects by name. JSON is read whatever the name is, as JSON
// lines if the name says so or if it is no single document. NaN and infinite numbers are kept as such.
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
			err = badJSON
		}
	case ".yaml", ".yml":
		format = ".yaml"
		if text == "" {
			err = errors.New("it is empty")
			break
		}
		doc, err = values.YAML([]byte(text), nil)
		doc = withNumbers(doc)
	case ".csv":
		doc, err = parseCSV(text, ',')
	case ".tsv":
		format = ".csv"
		doc, err = parseCSV(text, '\t')
	default:
		return nil, fmt.Errorf("it begins with %.40q; %s", text, whatIsRead)
	}
	if err != nil {
		return nil, fmt.Errorf("not %s: %w; %s", strings.ToUpper(format[1:]), err, whatIsRead)
	}
	return doc, nil
}

// formatOf returns the ending for a text by its first line, "" if the format is not read.
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

// notJSON finds the numbers that Python and others write and JSON does not have, and texts, in which the same
// letters stand for themselves.
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

// parseCSV reads rows below a line of names into a list of objects.
func parseCSV(text string, comma rune) (any, error) {
	r := csv.NewReader(strings.NewReader(text))
	r.Comma, r.ReuseRecord = comma, true
	header, err := r.Read()
	if err != nil {
		return nil, err
	}
	columns, seen := lists.Map(header, strings.TrimSpace), make(map[string]bool, len(header))
	for _, name := range columns {
		if seen[name] {
			return nil, fmt.Errorf("two columns are named %q; the first line has the columns' names", name)
		}
		seen[name] = true
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

// NotFinite is a number written as NaN or Infinity: a missing value, unless the text of a cell of CSV is asked for.
type NotFinite Typed

// Typed is a number of which a float64 loses something: a cell of CSV, such as 007 or 1.10, or an integer with more
// digits than a float64 has. Text is as the file has it.
type Typed struct {
	Value float64
	Text  string
}

// MarshalJSON writes the text as it is, in quotes where JSON has no such number.
func (t Typed) MarshalJSON() ([]byte, error) {
	if json.Valid([]byte(t.Text)) {
		return []byte(t.Text), nil
	}
	return json.Marshal(t.Text)
}

// Float returns a value of a document as a number; false for other values.
func Float(v any) (float64, bool) {
	if t, ok := v.(Typed); ok {
		return t.Value, true
	}
	f, ok := v.(float64)
	return f, ok
}

// cellValue returns the number in a cell, without the blanks around it; else the text as it is typed, nil for "".
func cellValue(cell string) any {
	s := strings.TrimSpace(cell)
	if s == "" {
		return nil
	}
	v, ok := number(s)
	if f, _ := v.(float64); !isFinite(f) {
		return Typed{f, strings.Clone(s)}
	} else if ok {
		return v
	}
	return strings.Clone(cell)
}

// number parses a number, NaN and infinity too, into a float64 or a Typed.
func number(s string) (any, bool) {
	v, err := values.Float(s)
	switch {
	case err != nil && !errors.Is(err, strconv.ErrRange):
		return nil, false
	case isFinite(v) && (strconv.FormatFloat(v, 'f', -1, 64) != s || values.Inexact(s) || s == "-0"):
		return Typed{v, strings.Clone(s)}, true
	}
	return v, true
}

// withNumbers replaces each json.Number of a document by what number makes of it.
func withNumbers(doc any) any {
	return values.Each(doc, func(v any) any {
		n, is := v.(json.Number)
		if !is {
			return v
		}
		of, _ := number(n.String())
		if t, ok := of.(Typed); ok && (n == "-0" || strings.Trim(t.Text, "-0123456789") != "") {
			return t.Value // 1.10 and 1.1 are one number
		}
		return of
	})
}

func isFinite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
