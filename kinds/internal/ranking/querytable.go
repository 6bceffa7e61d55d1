package ranking

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/redsi/redsi/internal/corpora/trec"
	"github.com/redsi/redsi/internal/corpora/unpack"
	"github.com/redsi/redsi/internal/ranking/metrics"
	"github.com/redsi/redsi/internal/system/values"
)

// queryTable is the values of queries as files have them: lines of fields with tabs
// between them, the first one "query" and the metrics' names.
type queryTable struct {
	Metrics []metrics.Metric
	Rows    []metrics.QueryScore
}

// write writes it, values as fractions in the fewest digits that read back the same.
func (t *queryTable) write(to io.Writer) error {
	w := bufio.NewWriter(to)
	line := []byte("query")
	for _, m := range t.Metrics {
		line = append(append(line, '\t'), m.String()...)
	}
	w.Write(append(line, '\n'))
	for _, row := range t.Rows {
		line = append(line[:0], trec.EncodeName(row.Query)...)
		for _, v := range row.Scores {
			line = strconv.AppendFloat(append(line, '\t'), v, 'g', -1, 64)
		}
		w.Write(append(line, '\n'))
	}
	return w.Flush()
}

// readQueryTable reads what write wrote, or another program. Errors name the line.
func readQueryTable(r io.Reader) (*queryTable, error) {
	lines := unpack.NewLines(r)
	t := &queryTable{}
	seen := map[string]int{}
	err := lines.Each(func(line []byte) error {
		fields := bytes.Split(bytes.TrimSuffix(line, []byte("\r")), []byte("\t"))
		if lines.Number() == 1 {
			return t.head(fields)
		}
		return t.row(fields, seen, lines.Number())
	})
	if err != nil {
		return nil, fmt.Errorf("scores: %w", err)
	}
	if len(t.Rows) == 0 {
		return nil, fmt.Errorf("scores: they have no query")
	}
	return t, nil
}

func (t *queryTable) head(fields [][]byte) error {
	if string(fields[0]) != "query" || len(fields) < 2 {
		return fmt.Errorf("want \"query\" and names of measures, with tabs between them")
	}
	for _, f := range fields[1:] {
		m, err := metrics.Parse(string(f))
		if err != nil {
			return err
		}
		if slices.Contains(t.Metrics, m) {
			return fmt.Errorf("%s occurs twice", m)
		}
		t.Metrics = append(t.Metrics, m)
	}
	return nil
}

func (t *queryTable) row(fields [][]byte, seen map[string]int, n int) error {
	if len(fields) != len(t.Metrics)+1 {
		return fmt.Errorf("%d fields, want %d: a query and its values", len(fields), len(t.Metrics)+1)
	}
	query, err := trec.DecodeName(string(fields[0]))
	if err != nil {
		return err
	}
	if at, ok := seen[query]; ok {
		return fmt.Errorf("query %.80q is on line %d already", query, at)
	}
	seen[query] = n
	row := metrics.QueryScore{Query: query}
	for _, f := range fields[1:] {
		v, err := values.Float(string(f))
		if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("value %.20q is not a number", f)
		}
		row.Scores = append(row.Scores, v)
	}
	t.Rows = append(t.Rows, row)
	return nil
}

// column is the place of a metric among the table's; -1 if it is not there.
func (t *queryTable) column(m metrics.Metric) int { return slices.Index(t.Metrics, m) }
