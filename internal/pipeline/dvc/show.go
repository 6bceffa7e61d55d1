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

func (c *conversion) show(top map[string]any) string {
	var b strings.Builder
	for _, m := range append(entries(top["metrics"]), c.shown["metrics"]...) {
		c.metrics(m.name)
	}
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
			title := strings.ReplaceAll(name, "'", "")
			fmt.Fprintf(&b, "{ id = %q, title = %s, field = %s, format = %s },\n", regexp.MustCompile(`\W+`).ReplaceAllString(title, "_"), quote(title), quote(name), format)
		}
		fmt.Fprintf(&b, "]\nrows = [\n%s]\n}\n\n", s.rows.String())
	}
	for _, p := range append(entries(top["plots"]), c.shown["plots"]...) {
		c.plot(&b, p.name, p.options)
	}
	return b.String()
}

// metrics adds a row to the table of the stage that makes a file: the numbers that the file has here.
func (c *conversion) metrics(at string) {
	m, ok := c.maker(at)
	doc, err := c.plain(decoded(at))
	columns := map[string]bool{}
	numbers(columns, "", doc)
	if !ok || err != nil || len(columns) == 0 {
		c.note(m.stage, "metrics %s: no such file with numbers by name is here: write a table once a run has made it", at)
		return
	}
	maps.Copy(m.columns, columns)
	fmt.Fprintf(&m.rows, "{ id = %q, titles = [%s], value = %s, at = %s },\n", label(at), quote(cmp.Or(m.key, m.name)), m.ref, quote(at+":"))
}

// numbers lists the paths of a document's numbers, and whether each is an integer.
func numbers(to map[string]bool, at string, v any) {
	switch v := v.(type) {
	case map[string]any:
		for name, inner := range v {
			if strings.Contains(name, ".") {
				name = "'" + name + "'"
			}
			numbers(to, strings.TrimPrefix(at+"."+name, "."), inner)
		}
	case json.Number:
		to[at] = !strings.ContainsAny(v.String(), ".eE")
	}
}

// plot writes a figure of a picture, or of a file with the columns x and y that a plot names.
func (c *conversion) plot(b *strings.Builder, at string, given any) {
	options, _ := given.(map[string]any)
	text := func(option, otherwise string) string {
		t, _ := options[option].(string)
		return cmp.Or(t, otherwise)
	}
	m, ok := c.maker(at)
	x, y := text("x", ""), text("y", "")
	rows := c.rows(at, x)
	drawn := ""
	switch {
	case ok && slices.Contains([]string{".png", ".svg", ".pdf"}, path.Ext(at)):
		drawn = fmt.Sprintf("image = %s[%s]", m.ref, quote(at))
	case ok && x != "" && y != "" && rows != "" && slices.Contains([]string{"linear", "simple"}, text("template", "linear")):
		drawn = fmt.Sprintf("x = { title = %s }\ny = { title = %s }\nseries = [{ id = \"y\", curve = { value = %s, list = %s, x = %s, y = %s } }]",
			quote(text("x_label", x)), quote(text("y_label", y)), m.ref, quote(at+":"+rows), quote(x), quote(y))
	default:
		c.note(c.top, "plot %s: drawn are pictures, and lines of a column x and a column y, of CSV or of JSON that is here", at)
		return
	}
	fmt.Fprintf(b, "figure %q {\ncaption = %s\n%s\n}\n\n", label(at), quote(text("title", at)), drawn)
}

// rows names the list in a file that has a column: all of a table, or what JSON here has.
func (c *conversion) rows(at, column string) string {
	if ext := path.Ext(at); ext == ".csv" || ext == ".tsv" {
		return "."
	}
	doc, _ := c.plain(decoded(at)) // without the file there are no rows
	lists, ok := doc.(map[string]any)
	if !ok {
		lists = map[string]any{".": doc}
	}
	for _, name := range slices.Sorted(maps.Keys(lists)) {
		rows, _ := lists[name].([]any)
		if slices.ContainsFunc(rows, func(r any) bool { o, _ := r.(map[string]any); return o[column] != nil }) {
			return name
		}
	}
	return ""
}
