package python

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/redsi/redsi/internal/system/lists"
)

// IsNotebook reports whether a file is a Jupyter notebook, by its name.
func IsNotebook(name string) bool { return path.Ext(name) == ".ipynb" }

// Notebook is a notebook's cells without outputs, counts, ids, and metadata but for the tags that decide how cells run.
type Notebook []Cell

// Cell is a cell of a notebook.
type Cell struct {
	Type     string `json:"cell_type"` // "code", "markdown" or "raw"
	Source   lines  `json:"source"`
	Metadata struct {
		Tags []string `json:"tags"`
	} `json:"metadata"`
}

// heeded are the tags that decide how nbclient runs a cell.
var heeded = []string{"raises-exception", "skip-execution"}

func (c Cell) heeded() []string {
	return lists.Filter(heeded, func(tag string) bool { return slices.Contains(c.Metadata.Tags, tag) })
}

// Bare returns a notebook without outputs and execution counts.
func Bare(text string) (string, error) {
	var n map[string]any
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&n); err != nil {
		return "", fmt.Errorf("it is not a notebook: %w", err)
	}
	cells, _ := n["cells"].([]any)
	for _, c := range cells {
		if cell, ok := c.(map[string]any); ok && cell["cell_type"] == "code" {
			cell["outputs"], cell["execution_count"] = []any{}, nil
		}
	}
	b, err := json.Marshal(n)
	return string(b), err
}

// lines is a text, which notebooks may write as a list of its lines.
type lines string

func (l *lines) UnmarshalJSON(b []byte) error {
	var list []string
	if json.Unmarshal(b, &list) == nil {
		*l = lines(strings.Join(list, ""))
		return nil
	}
	return json.Unmarshal(b, (*string)(l))
}

// kernels maps the usual names of kernels to languages.
var kernels = map[string]string{"ir": "R", "julia": "Julia", "bash": "Bash"}

// ParseNotebook reads a notebook of Python, in format 4.
func ParseNotebook(text string) (Notebook, error) {
	var n struct {
		Format   int `json:"nbformat"`
		Metadata struct {
			Kernel struct{ Name, Language string } `json:"kernelspec"`
			Info   struct{ Name string }           `json:"language_info"`
		} `json:"metadata"`
		Cells Notebook `json:"cells"`
	}
	if err := json.Unmarshal([]byte(text), &n); err != nil {
		return nil, fmt.Errorf("it is not a notebook: %w", err)
	}
	kernel := n.Metadata.Kernel
	switch language := cmp.Or(kernel.Language, n.Metadata.Info.Name, kernels[strings.TrimRight(kernel.Name, "-.0123456789")]); {
	case n.Format != 4:
		return nil, fmt.Errorf("it is a notebook of format %d, and 4 is needed: open and save it in a Jupyter of today", n.Format)
	case language != "" && !strings.EqualFold(language, "python"):
		return nil, fmt.Errorf("its cells are %s, not Python", language)
	case len(n.Cells) == 0:
		return nil, errors.New("it has no cells")
	}
	return n.Cells, nil
}

// magic is a line that IPython reads before Python does: %run, !ls, x = !ls, name?
var magic = regexp.MustCompile(`(?m)^[ \t]*(?:[%!?][^\n]*|[\w., ]+=[ \t]*[%!][^\n]*|[\w.]+\?\??[ \t]*)$`)

// code returns a code cell's tokens and lines for IPython. A cell of another language, such as %%bash, has no tokens.
func (c Cell) code() (tokens []token, magics []string) {
	text := unified(string(c.Source))
	if strings.HasPrefix(strings.TrimLeft(text, " \t\n"), "%%") {
		return nil, []string{text}
	}
	if tokens, err := scan(text); err == nil && !magic.MatchString(text) {
		return tokens, nil
	}
	magics = magic.FindAllString(text, -1)
	tokens, err := scan(magic.ReplaceAllString(text, "pass"))
	if err != nil {
		return nil, []string{text} // IPython will say what it is
	}
	return tokens, magics
}

// Normal returns what a notebook computes: the tokens and magics of each code cell.
func (n Notebook) Normal() string {
	type cell struct {
		Code, Magics string
		Tags         []string
	}
	var list []cell
	for _, c := range n {
		if c.Type != "code" {
			continue
		}
		tokens, magics := c.code()
		if len(tokens) > 0 || len(magics) > 0 {
			list = append(list, cell{written(tokens), strings.Join(magics, "\n"), c.heeded()})
		}
	}
	b, _ := json.Marshal(list) // texts can always be encoded
	return string(b)
}

// Exact returns all that is written in a notebook's cells, whatever their types.
func (n Notebook) Exact() string {
	for i := range n {
		n[i].Metadata.Tags = n[i].heeded()
	}
	b, _ := json.Marshal(n)
	return string(b)
}

// timed begins a cell whose other lines are Python.
var timed = regexp.MustCompile(`^(\s*%%(time|timeit|capture|prun)\b.*)+`)

// notebookImports is Imports for a notebook, without the cells that IPython will not take.
func notebookImports(text string) (list []Import, all []string, err error) {
	n, err := ParseNotebook(text)
	for _, c := range n {
		if c.Type == "code" {
			c.Source = lines(timed.ReplaceAllString(string(c.Source), ""))
			tokens, _ := c.code()
			found, _, _ := importsIn(tokens)
			list = append(list, found...)
		}
	}
	return list, nil, err
}
