package reference

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	wordwrap "github.com/mitchellh/go-wordwrap"

	"github.com/redsi/redsi/internal/pipeline/language"
	"github.com/redsi/redsi/internal/system/values"
)

// List writes one line per kind.
func List(w io.Writer, kinds []Kind) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, k := range kinds {
		name := k.Name
		if k.Block != "step" {
			name = k.Block
		}
		fmt.Fprintf(t, "%s\t%s\n", name, k.Summary)
	}
	return t.Flush()
}

// Text writes everything about one kind, for a terminal.
func Text(w io.Writer, k Kind, width int) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "%s (version %d, queue %s)\n\n", k.longName, k.Version, k.Queue)
	fmt.Fprintf(b, "%s\n", wrap(k.Doc, width))
	if k.Needs != "" {
		fmt.Fprintf(b, "\nWork that needs %s is done by redsi-models.\n", k.Needs)
	}
	fmt.Fprintf(b, "\nAttributes\n")
	for _, r := range rows(k.Attrs, "") {
		fmt.Fprintf(b, "  %-20s %s%s\n", r.path, r.attr.form(), r.attr.status())
		indent(b, r.attr.Help, width)
	}
	fmt.Fprintf(b, "\nOutputs\n")
	for _, o := range k.Outputs {
		fmt.Fprintf(b, "  %-20s %s\n", o.Name, o.form())
		indent(b, o.Help, width)
		indent(b, "compared by "+o.compared(), width)
		if len(o.Fields) > 0 {
			indent(b, o.fieldList(""), width)
		}
	}
	if k.Example != "" {
		fmt.Fprintf(b, "\nExample\n")
		for line := range strings.Lines(k.Example) {
			fmt.Fprintf(b, "  %s", line)
		}
		fmt.Fprintln(b)
	}
	return b.Flush()
}

// FunctionText writes one line per function, in groups.
func FunctionText(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	group := ""
	for _, f := range language.Functions() {
		if f.Group != group {
			if group != "" {
				fmt.Fprintln(t)
			}
			group = f.Group
			fmt.Fprintf(t, "%s\n", group)
		}
		fmt.Fprintf(t, "  %s\t%s\n", f.Usage, f.Help)
	}
	return t.Flush()
}

func (a Attr) status() string {
	switch {
	case a.Required:
		return ", required"
	case a.Default != nil:
		return ", default " + literal(a.Default)
	}
	return ""
}

func (o Output) form() string {
	t := o.Type
	if o.Tree {
		t += " (many files)"
	}
	return t
}

// literal writes a default as a pipeline file would.
func literal(v any) string {
	b, err := values.JSON(v, "")
	if err != nil {
		panic(fmt.Sprintf("default %v: %v", v, err)) // a default is a configuration tree
	}
	return string(b)
}

func indent(b *bufio.Writer, text string, width int) {
	const by = 23
	if text == "" {
		return
	}
	if width > 0 {
		text = wordwrap.WrapString(text, uint(max(width-by, 30)))
	}
	for line := range strings.Lines(text) {
		fmt.Fprintf(b, "%*s%s\n", by, "", strings.TrimRight(line, "\n"))
	}
}

// wrap wraps a text of paragraphs; indented lines stay as they are.
func wrap(s string, width int) string {
	if width <= 0 {
		return s
	}
	return wordwrap.WrapString(s, uint(width))
}
