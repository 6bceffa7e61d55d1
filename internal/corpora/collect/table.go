package collect

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/corpora/trec"
	"github.com/redsi/redsi/internal/corpora/unpack"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/words"
)

var byteOrderMark = []byte("\xef\xbb\xbf")

// plainColumns lists, by role and number, the columns of tables without column names, as MS MARCO and BEIR publish them.
// Four columns of judgments are TREC's, separated by any white space.
var plainColumns = map[Role]map[int][]string{
	Documents: {2: {"id", "text"}, 3: {"id", "title", "text"}, 4: {"id", "url", "title", "text"}},
	Queries:   {2: {"id", "text"}},
	Judgments: {2: {"query", "document"}, 3: {"query", "document", "grade"}, 4: {"query", "", "document", "grade"}},
}

// columnsAttribute is the attribute by which a user names columns of a role.
var columnsAttribute = map[Role]string{Documents: "columns", Queries: "query_columns", Judgments: "qrels_columns"}

// header finds a schema's columns in a line of names; false if the line lacks a needed column.
func (s schema) header(names []string) (places []int, ok bool) {
	places = make([]int, len(s))
	for i, c := range s {
		places[i] = -1
		for _, alias := range c.aliases {
			if places[i] < 0 {
				places[i] = slices.IndexFunc(names, func(name string) bool { return strings.EqualFold(strings.TrimSpace(name), alias) })
			}
		}
		if c.needed && places[i] < 0 {
			return nil, false
		}
	}
	return places, true
}

// anIdentifier matches names of columns of identifiers, of any role, also within quotes.
var anIdentifier = regexp.MustCompile(`^["#]?((?i:(\w*[_-]|(query|topic|corpus|doc|document|passage) )?id|qid|pid|docid|docno)|\w*[a-z]I[dD])"?$`)

// names reports whether a field of the first line is the name of a column, not a value.
func (s schema) names(field string) bool {
	field = strings.TrimSpace(field)
	return anIdentifier.MatchString(field) || slices.ContainsFunc(s, func(c column) bool {
		return slices.ContainsFunc(c.aliases, func(alias string) bool { return strings.EqualFold(field, alias) })
	})
}

// named finds a schema's columns among columns given by FieldNames.
func (s schema) named(columns []string) []int {
	return lists.Map(s, func(c column) int { return slices.Index(columns, c.name) })
}

// tabular turns fields of lines into records, for any separator.
type tabular struct {
	role    Role
	schema  schema
	columns []string // given by the user; none: by the first line
	places  []int
	width   int // fields of a line, the last takes the rest; 0 before the first line, if it tells
	rec     record
}

// begin looks at the first line: it returns errHeader for names, nil for the first record.
func (t *tabular) begin(fields []string) error {
	if len(t.columns) > 0 {
		t.places, t.rec.names = t.schema.named(t.columns), t.columns
		return nil
	}
	if places, ok := t.schema.header(fields); ok {
		t.places, t.width, t.rec.names = places, len(fields), fields
		return errHeader
	}
	if at := slices.IndexFunc(fields, t.schema.names); at >= 0 {
		return &unreadable{fmt.Sprintf("the first line has %q, a name of a column, but not all names that are needed: its fields are %s; say which they are by %s, or, if the line is a record, by %s",
			fields[at], words.Quoted(fields, mostNames), attributeOf[t.role], columnsAttribute[t.role])}
	}
	columns, ok := plainColumns[t.role][len(fields)]
	if !ok {
		return &unreadable{fmt.Sprintf("%d columns without names, in which redsi cannot find the fields of %s: name them in a first line, or by %s", len(fields), t.role, columnsAttribute[t.role])}
	}
	t.places, t.width, t.rec.names = t.schema.named(columns), len(fields), columns
	return nil
}

// take turns a line's fields into a record, which shares their memory.
func (t *tabular) take(fields []string) (*record, error) {
	if t.places == nil {
		if err := t.begin(slices.Clone(fields)); err != nil {
			return nil, err
		}
	}
	if len(fields) != t.width {
		return nil, nq.Faultf(nq.MissingField, "%d columns, want %d", len(fields), t.width)
	}
	for i, at := range t.places {
		t.rec.values[i].texts = nil
		if at >= 0 {
			t.rec.values[i].texts = fields[at : at+1]
		}
	}
	return &t.rec, nil
}

// tabs reads fields between tabs, with quotation marks as text, and further tabs in the last column of documents.
type tabs struct {
	tabular
	lines *unpack.Lines
	blank bool // any white space separates: TREC's judgments
}

func (t *tabs) at() int64 { return int64(t.lines.Number()) }

func (t *tabs) next() (*record, error) {
	line, err := t.lines.Next()
	if err != nil {
		return nil, err
	}
	if t.lines.Number() == 1 {
		line = bytes.TrimPrefix(line, byteOrderMark)
	}
	line = bytes.TrimSuffix(line, []byte{'\r'})
	if len(bytes.TrimSpace(line)) == 0 || t.role == Judgments && isComment(string(line)) {
		return nil, errBlank
	}
	if !utf8.Valid(line) {
		return nil, nq.Faultf(nq.BadUTF8, "the line is not UTF-8")
	}
	return t.take(t.cut(string(line)))
}

// isComment distinguishes a comment among judgments from a query such as #2, whose line has tabs or four fields.
func isComment(line string) bool {
	f := trec.Fields(line)
	return line[0] == '#' && !strings.Contains(line, "\t") && (f[0] == "#" || len(f) != 4)
}

func (t *tabs) cut(line string) []string {
	if t.role == Judgments {
		if t.places == nil {
			t.blank = len(t.columns) == 0 && len(trec.Fields(line)) == 4 && !strings.Contains(line, "\t\t")
		}
		if t.blank {
			return trec.Fields(line)
		}
		return lists.Map(strings.Split(line, "\t"), trec.Unquoted)
	}
	if t.width > 0 {
		return strings.SplitN(line, "\t", t.width)
	}
	return strings.Split(line, "\t")
}

// quoted reads CSV, with commas or tabs, where fields may be quoted and hold line breaks.
type quoted struct {
	tabular
	in   *csv.Reader
	line int
}

// newQuoted separates at tabs if the first line has one, else at commas.
func newQuoted(r io.Reader, head []byte, table tabular) *quoted {
	in := csv.NewReader(r)
	in.FieldsPerRecord, in.ReuseRecord = -1, true
	first, _, _ := bytes.Cut(head, []byte{'\n'})
	if bytes.IndexByte(first, '\t') >= 0 {
		in.Comma = '\t'
	}
	return &quoted{tabular: table, in: in}
}

func (q *quoted) at() int64 { return int64(q.line) }

func (q *quoted) next() (*record, error) {
	fields, err := q.in.Read()
	if parse := (*csv.ParseError)(nil); errors.As(err, &parse) {
		q.line = parse.StartLine
		return nil, nq.Faultf(nq.BadType, "not CSV: line %d, column %d: %v", parse.Line, parse.Column, parse.Err)
	} else if err != nil {
		return nil, err
	}
	q.line, _ = q.in.FieldPos(0)
	for i, f := range fields {
		if i == 0 && q.places == nil {
			fields[0] = strings.TrimPrefix(f, string(byteOrderMark))
		}
		if !utf8.ValidString(f) {
			return nil, nq.Faultf(nq.BadUTF8, "column %d is not UTF-8", i+1)
		}
	}
	return q.take(fields)
}
