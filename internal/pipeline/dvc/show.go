package dvc

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

// show writes tables of metrics and figures of plots, of stages and of the whole file.
func (c *conversion) show(top map[string]any) string {
	metrics, plots := entries(top["metrics"]), entries(top["plots"])
	for _, s := range c.stages {
		for _, in := range s.list {
			for _, m := range entries(s.body["metrics"]) {
				metrics = append(metrics, c.path(s, in, m))
			}
			for _, p := range entries(s.body["plots"]) {
				_, options := named(p)
				plots = append(plots, map[string]any{c.path(s, in, p): options})
			}
		}
	}
	for _, m := range metrics {
		c.metrics(fmt.Sprint(m))
	}
	var b strings.Builder
	for _, s := range c.stages {
		if len(s.columns) == 0 {
			continue
		}
		fmt.Fprintf(&b, "table %q {\nstubs = [\"Stage\"]\ncolumns = [\n", s.label)
		for _, name := range slices.Sorted(maps.Keys(s.columns)) {
			format := `"fixed", decimals = 3`
			if s.columns[name] {
				format = `"integer"`
			}
			fmt.Fprintf(&b, "{ id = %q, title = %s, field = %[2]s, format = %s },\n", regexp.MustCompile(`\W+`).ReplaceAllString(name, "_"), quote(name), format)
		}
		fmt.Fprintf(&b, "]\nrows = [\n%s]\n}\n\n", s.rows.String())
	}
	for _, p := range plots {
		name, options := named(p)
		b.WriteString(c.plot(name, options))
	}
	return b.String()
}

// metrics adds a row to the table of the stage that makes a file, with the numbers that the
// file has here.
func (c *conversion) metrics(at string) {
	s, key := c.maker(at)
	doc, err := c.plain(decoded(at))
	columns := map[string]bool{}
	numbers(columns, "", doc)
	if s == nil || err != nil || len(columns) == 0 {
		c.note(s, "metrics %s: no such file with numbers by name is here: write a table once a run has made it", at)
		return
	}
	maps.Copy(s.columns, columns)
	fmt.Fprintf(&s.rows, "{ id = %q, titles = [%s], value = %s, at = %s },\n", label(at), quote(cmp.Or(key, s.name)), s.ref(key), quote(at+":"))
}

// numbers lists the paths of a document's numbers, and whether each is a whole one.
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

// plot writes a figure of a file that has rows with the columns x and y that a plot names.
func (c *conversion) plot(at string, given any) string {
	options, _ := given.(map[string]any)
	text := func(option, otherwise string) string {
		if t, ok := options[option].(string); ok {
			return t
		}
		return otherwise
	}
	s, key := c.maker(at)
	x, y, rows := text("x", ""), text("y", ""), c.rows(at, text("x", ""))
	if s == nil || x == "" || y == "" || rows == "" || !slices.Contains([]string{"linear", "simple"}, text("template", "linear")) {
		c.note(nil, "plot %s: drawn are lines of a column x and a column y, of CSV or of JSON that is here", at)
		return ""
	}
	return fmt.Sprintf("figure %q {\ncaption = %s\nx = { title = %s }\ny = { title = %s }\nseries = [{ id = \"y\", curve = { value = %s, list = %s, x = %s, y = %s } }]\n}\n\n", label(at),
		quote(text("title", at)), quote(text("x_label", x)), quote(text("y_label", y)), s.ref(key), quote(at+":"+rows), quote(x), quote(y))
}

// rows names the list in a file that has a column: all of a table, or what JSON here has.
func (c *conversion) rows(at, column string) string {
	doc, _ := c.plain(decoded(at)) // without the file there are no rows
	lists, _ := doc.(map[string]any)
	for _, name := range append(slices.Sorted(maps.Keys(lists)), ".") {
		rows, _ := lists[name].([]any)
		if name == "." {
			rows, _ = doc.([]any)
		}
		if slices.ContainsFunc(rows, func(r any) bool { o, _ := r.(map[string]any); return o[column] != nil }) {
			return name
		}
	}
	if ext := path.Ext(at); ext == ".csv" || ext == ".tsv" {
		return "."
	}
	return ""
}
