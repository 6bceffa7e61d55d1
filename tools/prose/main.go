// Command prose tries redsi check on a paper whose numbers are known: the cells of a
// numbers.tex get the values of assets/paper, what the paper prints, and the paper's
// source is read against them.
//
//	redsi report --var scale=toy --latex latex
//	go run ./tools/prose -numbers latex/numbers.tex paper.tex
//
// The source is one file, in which a line "%% file: NAME" begins each file of the paper,
// or a main file with the others beside it. A line is printed for each number that is
// typed: what was found for it, for people to judge. docs/expectations.md has what they said.
package main

import (
	"encoding/csv"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing/fstest"

	"github.com/redsi/redsi/internal/paper/prose"
	"github.com/redsi/redsi/internal/paper/render"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

func run(args []string, out, errs io.Writer) int {
	f := flag.NewFlagSet("prose", flag.ContinueOnError)
	f.SetOutput(errs)
	numbers := f.String("numbers", "results/latex/numbers.tex", "file of numbers, whose cells get the paper's values")
	values := f.String("values", filepath.Join("assets", "paper"), "folder with a CSV file for each table: row, column, value, std, text")
	write := f.String("write", "", "file to write the numbers to that were made so")
	if f.Parse(args) != nil || f.NArg() != 1 {
		fmt.Fprintln(errs, "usage: prose [-numbers FILE] [-values FOLDER] [-write FILE] PAPER.tex")
		return 2
	}
	if err := try(*numbers, *values, *write, f.Arg(0), out); err != nil {
		fmt.Fprintln(errs, err)
		return 2
	}
	return 0
}

func try(numbers, values, write, file string, out io.Writer) error {
	b, err := os.ReadFile(numbers)
	if err != nil {
		return err
	}
	n, err := prose.ReadTeX(numbers, string(b))
	if err != nil {
		return err
	}
	another, err := prose.ReadTeX(numbers, string(b)) // as they are: a run whose numbers are others
	if err != nil {
		return err
	}
	if err := asPrinted(n, values); err != nil {
		return err
	}
	if write != "" {
		var b strings.Builder
		if err := n.WriteTeX(&b); err != nil {
			return err
		}
		if err := os.WriteFile(write, []byte(b.String()), 0o644); err != nil {
			return err
		}
	}
	folder, name, err := files(file)
	if err != nil {
		return err
	}
	p, err := prose.Read(folder, name)
	if err != nil {
		return err
	}
	r := prose.Check(p, n, nil)
	found := map[prose.Place]bool{}
	for _, t := range r.Typed {
		c := t.Candidates[0]
		found[t.Place] = true
		fmt.Fprintf(out, "found\t%s\t%s\t%s\t%.3f\t%s\t%s\n", t.Place, t.Text, t.Scope, t.Chance, c.Write, c.Words)
	}
	for _, t := range p.Numbers() {
		if !found[t.Place] {
			fmt.Fprintf(out, "not found\t%s\t%s\n", t.Place, t.Text)
		}
	}
	cells := 0
	for _, t := range n.Tables {
		cells += len(t.Cells)
	}
	fmt.Fprintf(out, "%d files, %d cells; of %d numbers %d are a cell's, %d may be one's; %d tables and figures are not there\n",
		len(p.Files), cells, r.Numbers, len(r.Typed), r.Vague, len(r.Absent))
	changed := prose.Check(p, another, n)
	fmt.Fprintf(out, "where all cells are those of %s: %d are a cell's, %d are no longer\n", numbers, len(changed.Typed), len(changed.Stale))
	return nil
}

// asPrinted gives cells the paper's values; what it does not print is left out.
func asPrinted(n *prose.Numbers, folder string) error {
	if _, err := os.Stat(folder); err != nil {
		return err
	}
	for i := range n.Tables {
		t := &n.Tables[i]
		name := t.Address[strings.IndexByte(t.Address, '.')+1:]
		lines, err := readValues(filepath.Join(folder, name+".csv"))
		if err != nil {
			return err
		}
		if t.Address == "table.published_dsi_nq" {
			if err := addBaselines(lines, filepath.Join(folder, "published_baselines.csv")); err != nil {
				return err
			}
		}
		t.Cells = slices.DeleteFunc(t.Cells, func(c prose.Cell) bool { return lines[c.Name] == nil })
		for k := range t.Cells {
			c := &t.Cells[k]
			if err := set(c, lines[c.Name]); err != nil {
				return fmt.Errorf("%s:%s: %w", t.Address, c.Name, err)
			}
		}
	}
	return nil
}

// addBaselines adds what others reported, which is in a file of its own form.
func addBaselines(lines map[string]map[string]string, file string) error {
	rows, err := readRows(file)
	for _, row := range rows {
		for _, column := range []string{"atomic", "naive", "semantic"} {
			if row[column] != "" {
				lines[row["id"]+"."+column] = map[string]string{"value": row[column]}
			}
		}
		lines[row["id"]+".documents"] = map[string]string{"text": row["documents"]}
	}
	return err
}

// readValues reads what the paper prints of a table, by ROW.COLUMN; no file is nothing.
func readValues(file string) (map[string]map[string]string, error) {
	rows, err := readRows(file)
	out := map[string]map[string]string{}
	for _, line := range rows {
		if line["row"] != "" && line["value"]+line["text"] != "" {
			out[line["row"]+"."+line["column"]] = line
		}
	}
	return out, err
}

// readRows reads the rows of a CSV file by their heads; no file has none.
func readRows(file string) (out []map[string]string, err error) {
	f, err := os.Open(file)
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	for _, row := range rows[1:] {
		line := map[string]string{}
		for i, head := range rows[0] {
			line[head] = row[i]
		}
		out = append(out, line)
	}
	return out, nil
}

// set makes a cell print a value.
func set(c *prose.Cell, line map[string]string) error {
	c.Value, c.Std, c.ShowsStd = line["value"], line["std"], line["std"] != ""
	if c.Value == "" {
		c.TeX, c.Std, c.ShowsStd = `\redsitext{`+render.TeX(line["text"])+`}`, "", false
		return nil
	}
	v, err := strconv.ParseFloat(c.Value, 64)
	if err != nil {
		return err
	}
	s := strconv.FormatFloat(v, 'f', c.Decimals, 64)
	switch c.Style {
	case "integer":
		s = grouped(strconv.FormatFloat(v, 'f', 0, 64))
	case "kilo":
		s = strconv.FormatFloat(v/1000, 'f', c.Decimals, 64) + `\,\mbox{K}`
	case "signed":
		s = fmt.Sprintf(`\ensuremath{%+.*f}`, c.Decimals, v)
	case "text":
		s = strconv.FormatFloat(v, 'f', -1, 64)
	}
	if c.ShowsStd {
		s = `\ensuremath{` + s + ` \pm ` + c.Std + `}`
	}
	c.TeX = s
	return nil
}

func grouped(s string) string {
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "{,}" + s[i:]
	}
	return s
}

var fileMark = regexp.MustCompile(`(?m)^%% file: (\S+)\n`)

// files are those of a paper, and the name of the first.
func files(file string) (fs.FS, string, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, "", err
	}
	src := string(b)
	marks := fileMark.FindAllStringSubmatchIndex(src, -1)
	if len(marks) == 0 {
		return os.DirFS(filepath.Dir(file)), filepath.Base(file), nil
	}
	out := fstest.MapFS{}
	for i, m := range marks {
		end := len(src)
		if i+1 < len(marks) {
			end = marks[i+1][0]
		}
		out[path.Clean(src[m[2]:m[3]])] = &fstest.MapFile{Data: []byte(src[m[1]:end])}
	}
	return out, path.Clean(src[marks[0][2]:marks[0][3]]), nil
}
