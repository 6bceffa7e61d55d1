package kinds_test

import (
	"strings"
	"testing"

	"github.com/redsi/redsi/kinds"
)

// TestTableChecks: mistakes in a table are told before anything runs.
func TestTableChecks(t *testing.T) {
	row := map[string]any{"id": "r", "titles": []any{"Row"}, "numbers": map[string]any{"c": 1.5}}
	for name, c := range map[string]struct {
		column, row map[string]any
		want        string // "" if nothing is wrong
	}{
		"sound":            {map[string]any{"id": "c", "title": "C", "format": "fixed", "decimals": int64(1)}, nil, ""},
		"no format":        {map[string]any{"id": "c", "title": "C"}, nil, `columns[0].format: is needed: "integer", "fixed"`},
		"rows have one":    {map[string]any{"id": "c", "title": "C"}, map[string]any{"format": "fixed"}, ""},
		"unknown format":   {map[string]any{"id": "c", "title": "C", "format": "percent"}, nil, `columns[0].format: "percent" is not one of`},
		"minus of nothing": {map[string]any{"id": "c", "title": "C", "format": "fixed", "minus": []any{"c", "d"}}, nil, `columns[0].minus: there is no column "d"`},
		"second alone":     {map[string]any{"id": "c", "title": "C", "format": "fixed", "second": true}, nil, "rows: column c: second needs best"},
		"mark of nothing":  {map[string]any{"id": "c", "title": "C", "format": "fixed"}, map[string]any{"marks": map[string]any{"d": "*"}}, `rows[0].marks: there is no column "d"`},
		"no superscript":   {map[string]any{"id": "c", "title": "C", "format": "fixed"}, map[string]any{"marks": map[string]any{"c": "a b"}}, `rows[0].marks: "a b" cannot be a superscript`},
		"decimal texts":    {map[string]any{"id": "c", "title": "C", "format": "text", "align": "decimal"}, nil, `align = "decimal" is for numbers`},
		"prefix alone":     {map[string]any{"id": "c", "title": "C", "format": "fixed"}, map[string]any{"prefix": "n ="}, "rows[0].prefix: is for rows with format"},
		"two in one":       {map[string]any{"id": "c", "title": "C", "format": "fixed"}, map[string]any{"rule": true}, "rows[0]: is exactly one of"},
		"a prefix of TeX":  {map[string]any{"id": "c", "title": "C", "format": "fixed"}, map[string]any{"format": "fixed", "prefix": `}\input{x}`}, `rows[0].format: prefix "}\\input{x}" may have only`},
	} {
		r := map[string]any{}
		for _, m := range []map[string]any{row, c.row} {
			for k, v := range m {
				r[k] = v
			}
		}
		_, err := kinds.Registry().Lookup("render_table").Complete(map[string]any{
			"caption": "C", "stubs": []any{"S"}, "columns": []any{c.column}, "rows": []any{r}})
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
}

// TestLabelChecks: what is not a label of LaTeX is told before anything runs; formulas
// are quoted on request, and nothing else can be requested.
func TestLabelChecks(t *testing.T) {
	table := map[string]any{"stubs": []any{"S"}, "columns": []any{}, "rows": []any{}}
	figure := map[string]any{"flow": []any{map[string]any{"title": "T"}}}
	for kind, config := range map[string]map[string]any{"render_table": table, "render_figure": figure} {
		for _, c := range []struct{ attribute, value, want string }{
			{"paper", "tab:dedup-counts", ""},
			{"paper", "sec:a_b.c/d", ""},
			{"paper", `tab:x}\input{/etc/passwd}`, "paper: "},
			{"paper", "tab:x\n", "paper: "},
			{"csv_formulas", "quote", ""},
			{"csv_formulas", "keep", "csv_formulas: "},
		} {
			given := map[string]any{c.attribute: c.value}
			for k, v := range config {
				given[k] = v
			}
			_, err := kinds.Registry().Lookup(kind).Complete(given)
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%s, %s = %q: %v, want %q", kind, c.attribute, c.value, err, c.want)
			}
		}
	}
}
