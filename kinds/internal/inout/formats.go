package inout

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/corpora/columns"
	"github.com/redsi/redsi/internal/corpora/unpack"
	"github.com/redsi/redsi/internal/paper/render"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/values"
	"github.com/redsi/redsi/step"
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

// NotFinite is a number that a program wrote as NaN or Infinity: a value that is missing, unless
// a text is asked for, which a cell of CSV has.
type NotFinite Typed

// Typed is a number that a float64 does not say all of: a cell of CSV, such as 007 or 1.10, or
// a whole number of more digits than a float64 has. Text is as the file has it.
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

// Float is the number that a value of a document is.
func Float(v any) (float64, bool) {
	if t, ok := v.(Typed); ok {
		return t.Value, true
	}
	f, ok := v.(float64)
	return f, ok
}

// cellValue is a number, which may have blanks around it, a text as it is typed, or nil where a
// cell is empty.
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

// number reads one that may be NaN or infinite: a float64, or Typed.
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

// withNumbers has a number for each json.Number of a document.
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

// JSONInputs reads the documents that cells come from, each once: JSON, or another form of
// the same values.
type JSONInputs struct {
	x    *step.IO
	read map[document]any
	told map[string]bool // what Told has warned of
}

// document is a file with the end of its name, which says how it is read.
type document struct {
	digest artifacts.Digest
	ending string
}

// NewJSONInputs reads through a step's IO.
func NewJSONInputs(x *step.IO) *JSONInputs {
	return &JSONInputs{x: x, read: map[document]any{}, told: map[string]bool{}}
}

// fileOfTree picks the file of a tree, such as a command's output, that a path starts
// with, as in "metrics.json:accuracy"; a tree of one file needs no name. For other inputs
// the whole path is the field's, and the file is called by its type.
func fileOfTree(in step.Input, path string) (artifacts.File, string, error) {
	a := in.Artifact
	if a.Files == nil {
		return artifacts.File{Name: "the input, of type " + a.Type, Digest: a.Digest, Size: a.Size}, path, nil
	}
	name, field, named := strings.Cut(path, ":")
	if !named && len(a.Files) == 1 {
		name, field, named = a.Files[0].Name, path, true
	}
	f, ok := a.File(name)
	if !named || !ok {
		return f, "", fmt.Errorf("field %q names no file of the tree; write FILE:FIELD with one of %s", path, strings.Join(Names(a.Files), ", "))
	}
	return f, field, nil
}

// Summary is the mean of n values with their sample standard deviation, if that
// is what is at a path; without a value if the mean is not finite.
func Summary(at any) (render.Cell, bool) {
	m, _ := at.(map[string]any)
	mean, isMean := Float(m["mean"])
	std, isStd := Float(m["std"])
	n, isN := Float(m["n"])
	if !isMean || !isStd || !isN || !isFinite(n) {
		return render.Cell{}, false
	}
	if !isFinite(mean) {
		return render.Cell{}, true
	}
	c := render.Cell{Value: &mean, N: int(n)}
	if n > 1 && isFinite(std) {
		c.Std = &std
	}
	return c, true
}

// document is a file, read whole the first time.
func (d *JSONInputs) document(f artifacts.File) (any, error) {
	key := document{f.Digest, path.Ext(f.Name)}
	if doc, known := d.read[key]; known {
		return doc, nil
	}
	r, err := d.x.OpenFile(f)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	b, err := io.ReadAll(io.LimitReader(r, mostBytes+1))
	if err != nil {
		return nil, err
	}
	if len(b) > mostBytes {
		return nil, fmt.Errorf("%s: values are read of files of up to %d MiB", f.Name, mostBytes>>20)
	}
	doc, err := parseValues(f.Name, b)
	if err != nil {
		return nil, step.Permanent(fmt.Errorf("%s: %w", f.Name, err))
	}
	d.read[key] = doc
	return doc, nil
}

// Number is the number at a path in an input; anything else there is an error.
func (d *JSONInputs) Number(in step.Input, path string) (float64, error) {
	at, err := d.Find(in, path)
	if err != nil {
		return 0, err
	}
	if v, ok := at.(NotFinite); ok {
		return 0, fmt.Errorf("field %q is %v, not a finite number", path, v.Value)
	}
	if v, ok := at.(Typed); ok && values.Inexact(v.Text) {
		return 0, fmt.Errorf("field %q is %s, more digits than are calculated with, 53 bits", path, v.Text)
	}
	v, text, ok, err := Scalar(at, path)
	if err == nil && (!ok || text != "") {
		err = fmt.Errorf("field %q is not a number", path)
	}
	return v, err
}

// Find follows a path in an input, as Follow does. A value that is NaN or infinite is reported.
func (d *JSONInputs) Find(in step.Input, path string) (any, error) {
	at, err := d.Look(in, path)
	if _, ok := at.(NotFinite); ok {
		d.Told(in, path, IsNotFinite)
	}
	return at, err
}

// Look is Find without a report.
func (d *JSONInputs) Look(in step.Input, path string) (any, error) {
	file, field, err := fileOfTree(in, path)
	if err != nil {
		return nil, err
	}
	doc, err := d.document(file)
	if err != nil {
		return nil, err
	}
	at, err := Follow(doc, field)
	var lost *step.NoFieldError
	if errors.As(err, &lost) {
		hint := ""
		switch {
		case lost.Within != "":
		case lost.Is == step.List:
			hint = fmt.Sprintf("; rows are named by number, from 0: \"0.%s\"", lost.Name)
		case lost.Is != step.Object:
			hint = "; it is a single value: write \".\" for the field"
		}
		err = fmt.Errorf("%s: %w%s", file.Name, err, hint)
	}
	return at, err
}

// IsNotFinite is what a value is that is NaN or infinite, for Told.
const IsNotFinite = "NaN or infinite"

// Told counts a value that is shown as missing for what it is, and warns of it once with the
// name of its file.
func (d *JSONInputs) Told(in step.Input, path, is string) {
	d.x.Count("values "+is, 1)
	file, field, _ := fileOfTree(in, path)
	if what := file.Name + ": " + field + " is " + is; !d.told[what] {
		d.told[what] = true
		d.x.Log.Warn(what + ": it is shown as missing")
	}
}

// Follow is what a path leads to in a document, by the rule of what is missing that the
// package comment gives: Absent, NotFinite, nil, or a *step.NoFieldError.
func Follow(at any, path string) (any, error) {
	w := step.WalkPath(path)
	whole := path == "" || path == "."
	for {
		if m, _ := at.(map[string]any); len(m) == 1 {
			if why, ok := m["absent"].(string); ok {
				return Absent{why}, nil
			}
		}
		if at == nil || whole || !w.Next() {
			if v, ok := Float(at); ok && !isFinite(v) {
				t, _ := at.(Typed)
				return NotFinite{v, t.Text}, nil
			}
			return at, nil
		}
		switch v := at.(type) {
		case map[string]any:
			next, there := v[w.Name]
			if !there {
				return nil, w.Lost(step.Object, slices.Sorted(maps.Keys(v)))
			}
			at = next
		case []any:
			i, ok := w.Index()
			if !ok {
				return nil, w.Lost(step.List, nil)
			}
			if i >= len(v) {
				return nil, nil
			}
			at = v[i]
		default:
			return nil, w.Lost(typeOf(at), nil)
		}
	}
}

func typeOf(scalar any) step.TypeKind {
	switch scalar.(type) {
	case string:
		return step.String
	case bool:
		return step.Bool
	}
	return step.Float
}

// Scalar reads a number, a text, or null for "does not apply".
func Scalar(at any, path string) (v float64, text string, ok bool, err error) {
	switch at := at.(type) {
	case float64:
		return at, "", true, nil
	case Typed:
		return at.Value, "", true, nil
	case string:
		return 0, at, at != "", nil
	case bool:
		return 0, map[bool]string{true: "✓", false: "–"}[at], true, nil
	case nil, Absent, NotFinite:
		return 0, "", false, nil
	}
	b, _ := json.Marshal(at)
	return 0, "", false, fmt.Errorf("field %q is %.60s, not a number or a text", path, b)
}

// Absent replaces in a report an example that was asked for and is not in
// the data: the paper's examples are not in everybody's files, and what else the step
// counts does not depend on them. Cells that read it show "not in these files".
type Absent struct {
	Why string `json:"absent"`
}

// Example is an example in a report, or an Absent in its place.
type Example[T any] struct {
	Found  T
	Absent *Absent // nil if it is in the data
}

// ExampleOf is an example that is in the data or, with an error, one that is not for
// that reason, which is counted.
func ExampleOf[T any](x *step.IO, v T, err error) Example[T] {
	if err == nil {
		return Example[T]{Found: v}
	}
	x.Count("examples_not_in_these_files", 1)
	return Example[T]{Absent: &Absent{err.Error()}}
}

// Map makes another example of one that is in the data.
func Map[T, U any](e Example[T], f func(T) U) Example[U] {
	if e.Absent != nil {
		return Example[U]{Absent: e.Absent}
	}
	return Example[U]{Found: f(e.Found)}
}

// MarshalJSON writes one or the other.
func (e Example[T]) MarshalJSON() ([]byte, error) {
	var v any = e.Found
	if e.Absent != nil {
		v = e.Absent
	}
	return values.JSON(v, "") // the outer encoder has the say about HTML
}

// JSONFields are those of the example.
func (Example[T]) JSONFields() *step.Fields { return step.FieldsOf[T]() }
