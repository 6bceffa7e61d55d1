package dvc

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"
)

// metric is a row of a stage's table.
type metric struct {
	title, ref, at string
	columns        map[string]bool // whether each is a whole number, by its path in the file
}

// show writes tables of metrics and figures of plots, of stages and of the whole file.
func (c *conversion) show(b *strings.Builder, top map[string]any) {
	for _, s := range c.stages {
		for _, in := range s.list {
			for _, m := range entries(s.body["metrics"]) {
				name, _ := named(m)
				at, _ := c.at(s, name)
				c.metrics(c.known(at, in.each))
			}
		}
		for _, p := range entries(s.body["plots"]) {
			name, options := named(p)
			at, _ := c.at(s, name)
			if s.each != "" {
				c.note(s, "plot %s: of a stage with foreach or matrix", name)
				continue
			}
			c.plot(b, c.known(at, cty.NilVal), options)
		}
	}
	for _, m := range entries(top["metrics"]) {
		c.metrics(fmt.Sprint(m))
	}
	for _, p := range entries(top["plots"]) {
		name, options := named(p)
		c.plot(b, name, options)
	}
	var tables strings.Builder
	for _, s := range c.stages {
		var rows strings.Builder
		columns := map[string]bool{}
		for i, m := range s.metrics {
			maps.Copy(columns, m.columns)
			fmt.Fprintf(&rows, "{ id = \"r%d\", titles = [%s], value = %s, at = %s },\n", i+1, quote(m.title), m.ref, quote(m.at+":"))
		}
		if len(columns) == 0 {
			continue
		}
		fmt.Fprintf(&tables, "table %q {\nstubs = [\"Stage\"]\ncolumns = [\n", s.label)
		for _, name := range slices.Sorted(maps.Keys(columns)) {
			format := `"fixed", decimals = 3`
			if columns[name] {
				format = `"integer"`
			}
			fmt.Fprintf(&tables, "{ id = %q, title = %s, field = %[2]s, format = %s },\n", regexp.MustCompile(`\W+`).ReplaceAllString(name, "_"), quote(name), format)
		}
		fmt.Fprintf(&tables, "]\nrows = [\n%s]\n}\n\n", rows.String())
	}
	before := tables.String() + b.String()
	b.Reset()
	b.WriteString(before)
}

// read is what a file of JSON, YAML or TOML has here; nil if there is none.
func (c *conversion) read(at string) any {
	if v, err := c.plain(decoded(at)); err == nil {
		return v
	}
	return nil
}

// metrics adds a row to the table of the stage that makes a file, with the numbers that the
// file has here.
func (c *conversion) metrics(at string) {
	s, key := c.maker(at)
	m := metric{path.Join(key), "", at, map[string]bool{}}
	numbers(m.columns, "", c.read(at))
	if s == nil || len(m.columns) == 0 {
		c.note(s, "metrics %s: no stage makes it, or no such file with numbers by name is here: write a table once redsi run has made it", at)
		return
	}
	if m.ref = s.ref(key); m.title == "" {
		m.title = s.name
	}
	s.metrics = append(s.metrics, m)
}

func numbers(to map[string]bool, at string, v any) {
	switch v := v.(type) {
	case map[string]any:
		for name, inner := range v {
			if !strings.Contains(name, ".") {
				numbers(to, strings.TrimPrefix(at+"."+name, "."), inner)
			}
		}
	case json.Number:
		to[at] = !strings.ContainsAny(v.String(), ".eE")
	}
}

// plot writes a figure of a plot that names its columns: x, and y of this file or by file.
func (c *conversion) plot(b *strings.Builder, name string, given any) {
	options, _ := given.(map[string]any)
	text := func(option, otherwise string) string {
		if t, ok := options[option].(string); ok {
			return t
		}
		return otherwise
	}
	files, byFile := options["y"].(map[string]any)
	if !byFile && options["y"] != nil {
		files = map[string]any{name: options["y"]}
	}
	x := text("x", "")
	for _, of := range entries(options["x"]) {
		if _, column := named(of); column != nil {
			x = fmt.Sprint(column)
		}
	}
	var series []string
	for _, f := range slices.Sorted(maps.Keys(files)) {
		s, key := c.maker(f)
		rows := c.rows(f, x)
		if s == nil || rows == "" || x == "" {
			series = nil
			break
		}
		for _, y := range entries(files[f]) {
			series = append(series, fmt.Sprintf("{ id = \"s%d\", title = %s, curve = { value = %s, list = %s, x = %s, y = %s } },\n", len(series)+1,
				quote(strings.TrimSuffix(path.Base(f), path.Ext(f))+" "+fmt.Sprint(y)), s.ref(key), quote(f+":"+rows), quote(x), quote(fmt.Sprint(y))))
		}
	}
	if t := text("template", "linear"); len(series) == 0 || t != "linear" && t != "simple" {
		c.note(nil, "plot %s: only lines of columns x and y are drawn, of CSV or of JSON that is here; a picture that a program drew is in its step's outputs", name)
		return
	}
	fmt.Fprintf(b, "figure %q {\ncaption = %s\nx = { title = %s }\ny = { title = %s }\nseries = [\n%s]\n}\n\n",
		label(name), quote(text("title", name)), quote(text("x_label", x)), quote(text("y_label", text("y", "y"))), strings.Join(series, ""))
}

// rows names the list in a file that has a column: all of a table, or what JSON here has.
func (c *conversion) rows(at, column string) string {
	if ext := path.Ext(at); ext == ".csv" || ext == ".tsv" {
		return "."
	}
	has := func(v any) bool {
		rows, _ := v.([]any)
		return slices.ContainsFunc(rows, func(r any) bool { o, _ := r.(map[string]any); return o[column] != nil })
	}
	doc := c.read(at)
	if has(doc) {
		return "."
	}
	lists, _ := doc.(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(lists)) {
		if has(lists[name]) {
			return name
		}
	}
	return ""
}
