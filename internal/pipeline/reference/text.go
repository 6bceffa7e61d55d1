package reference

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	wordwrap "github.com/mitchellh/go-wordwrap"

	"github.com/redsi/redsi/internal/pipeline/declare"
	"github.com/redsi/redsi/internal/pipeline/language"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/values"
	"github.com/redsi/redsi/step"
)

// List writes one line per kind, below the name of its family.
func List(w io.Writer, kinds []Kind) error {
	return grouped(w, kinds, func(k Kind) (string, string, string) {
		return k.Family, strings.TrimSuffix(k.longName, " block"), k.Summary
	})
}

func FunctionText(w io.Writer) error {
	return grouped(w, language.Functions(), func(f language.Function) (string, string, string) { return f.Group, f.Usage, f.Help })
}

// grouped writes a line for each element, its name and a text, below the name of its group.
func grouped[T any](w io.Writer, list []T, parts func(T) (group, name, text string)) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	last := ""
	for i, x := range list {
		group, name, text := parts(x)
		if i > 0 && group != last {
			fmt.Fprintln(t)
		}
		if i == 0 || group != last {
			fmt.Fprintln(t, group)
		}
		fmt.Fprintf(t, "  %s\t%s\n", name, text)
		last = group
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
		status := ""
		switch {
		case r.attr.Required:
			status = ", required"
		case r.attr.Default != nil:
			status = ", default " + literal(r.attr.Default)
		}
		fmt.Fprintf(b, "  %-20s %s%s\n", r.path, r.attr.form(), status)
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

// wrap wraps a text at a width; 0: not at all.
func wrap(s string, width int) string {
	if width <= 0 {
		return s
	}
	return wordwrap.WrapString(s, uint(width))
}

const generated = "\n<!-- Made by `redsi kinds --markdown`. A test compares it with the code. -->\n"

const intro = "# Kinds and functions\n" + generated + `
A step is a block ` + "`step \"KIND\" \"NAME\" {}`" + ` of a pipeline file. Its kind says what it does, which attributes it
takes and what it leaves; ` + "`redsi kinds KIND`" + ` prints the same as these pages. Expressions may call
[functions](functions.md). [pipelines.md](../pipelines.md) explains how the blocks of a pipeline work together.
`

const blocks = `
## Blocks

| block | what it is | attributes |
|---|---|---|
`

const rest = `
A variable takes the value of ` + "`--var NAME=VALUE`, else of a `--var-file`, else of the environment's `REDSI_VAR_NAME`, else of `redsi.local.hcl`" + `, else its default.
One with ` + "`ask = \"QUESTION\"`, which nobody has set and whose default a step refuses, is asked for at the terminal by `redsi run` and `redsi plan`; the answer is kept in `redsi.local.hcl`" + `.

## What every step takes

Steps, tables and figures take, besides their kinds' attributes:

- ` + "`for_each`" + `: a map or object, a set or list of strings, or another block that has
  for_each; one step for each element, which ` + "`each.key` and `each.value`" + ` stand for. Such a block's
  outputs are ` + "`step.KIND.NAME[\"KEY\"].OUTPUT`" + `, and ` + "`step.KIND.NAME[*].OUTPUT`" + ` is the list of all, by key.
- ` + "`when`" + `: the step is skipped where this is false; ` + "`otherwise`" + ` says why, where people look for it.
- ` + "`on_failure = \"leave_out\"`" + `, ` + "`at_least`" + `: what reads several of the block's steps goes on without the steps that fail
  ([pipelines.md](../pipelines.md#steps-that-fail-and-stop-nothing-else)). Neither is part of a cache key.
- ` + "`fresh = \"24h\"`" + `: a run that begins later than that after its result finished rebuilds it, for steps that look at the
  outside world ([pipelines.md](../pipelines.md#steps-that-look-at-the-outside-world)). It is never part of a cache key.
- ` + "`keep = false`" + `: the bytes of its outputs leave the store when all that read them are done; never part of a
  cache key ([pipelines.md](../pipelines.md#steps-whose-files-need-not-stay)).

- ` + "`resources { cpus, memory, gpus, time, queue, limits }`" + `: what it needs to run, and which workers run it;
  ` + "`retry { times, memory, time }`" + `: how a failed program is tried again. Neither is part of a cache key:
  [pipelines.md](../pipelines.md#resources).

What other steps have made may decide both: ` + "`for_each = files(step.KIND.NAME.OUTPUT, \"PATTERN\")`, `json(…)`" + ` and
` + "`allow_empty`" + `: [pipelines.md](../pipelines.md#steps-that-are-known-only-at-run-time).

A step reads what its attributes refer to and follows the steps that make it; there is no other
order. Everything but the contents of artifacts is known before anything runs, and so are the fields of JSON that a
step writes: a table, figure or effects step that names another one is refused at its line.
A field is named by a path with dots, an element of a list by its number from zero: in the lists below ` + "`[]`" + `
stands for such a number, ` + "`*`" + ` for any name. What has neither type nor unit there is an integer.

Each output says how two results of it are compared where their bytes differ, as on two machines:
` + "`redsi verify --rebuild`" + ` uses it, and it is in no key ([reliability.md](../reliability.md#another-machine)).
By bytes where there are texts and integers, which every machine computes alike; numbers within 1e-09 are sums,
whose last bits a processor that multiplies and adds at once rounds differently.
`

// Markdown is the pages of docs/kinds by file name: README.md, a page for each family, and functions.md.
func Markdown(kinds []Kind) map[string]string {
	index := &strings.Builder{}
	index.WriteString(intro)
	pages := map[string]string{"functions.md": functionPage()}
	for len(kinds) > 0 {
		n := lists.Count(kinds, func(k Kind) bool { return k.Family == kinds[0].Family })
		family := kinds[:n]
		kinds = kinds[n:]
		name, file := family[0].Family, anchor(family[0].Family)+".md"
		fmt.Fprintf(index, "\n## [%s](%s)\n\n%s", name, file, summaries(family, file))
		page := &strings.Builder{}
		fmt.Fprintf(page, "# %s\n%s\n[All kinds](README.md) lists the other families, and says what every step takes.\n\n%s", name, generated, summaries(family, ""))
		for _, k := range family {
			kind(page, k)
		}
		pages[file] = page.String()
	}
	index.WriteString(blocks)
	for _, t := range declare.Types {
		fmt.Fprintf(index, "| `%s", t.Name)
		for _, l := range t.Labels {
			fmt.Fprintf(index, " %q", l)
		}
		fmt.Fprintf(index, " {}` | %s | %s |\n", cell(t.Help), names(&t))
	}
	index.WriteString(rest)
	pages["README.md"] = index.String()
	return pages
}

// summaries is a table of kinds that links to their sections of a page.
func summaries(kinds []Kind, page string) string {
	b := &strings.Builder{}
	b.WriteString("| kind | summary |\n|---|---|\n")
	for _, k := range kinds {
		fmt.Fprintf(b, "| [%s](%s#%s) | %s |\n", k.longName, page, anchor(k.longName), cell(k.Summary))
	}
	return b.String()
}

func functionPage() string {
	b := &strings.Builder{}
	fmt.Fprintf(b, "# Functions\n%s\nAll functions are pure: the same sources and variables give the same pipeline.\n", generated)
	group := ""
	for _, f := range language.Functions() {
		if f.Group != group {
			group = f.Group
			fmt.Fprintf(b, "\n## %s\n\n| function | result |\n|---|---|\n", group)
		}
		fmt.Fprintf(b, "| `%s` | %s |\n", f.Usage, cell(f.Help))
	}
	return b.String()
}

// names are the attributes and blocks of a type that has them of its own.
func names(t *declare.Type) string {
	if t.Form == nil {
		return ""
	}
	return strings.Join(lists.Map(t.Form.Attrs, func(a step.Attr) string {
		if a.Block {
			return "`" + a.Name + " {}`"
		}
		return "`" + a.Name + "`"
	}), ", ")
}

func kind(b io.Writer, k Kind) {
	fmt.Fprintf(b, "\n## %s\n\n%s\n\n", k.longName, k.Doc)
	fmt.Fprintf(b, "Version %d, queue `%s`", k.Version, k.Queue)
	if k.Needs != "" {
		fmt.Fprintf(b, ", work that needs %s is done by redsi-models", k.Needs)
	}
	if len(k.Parts) > 0 {
		fmt.Fprintf(b, ", cut into parts that are cached one by one")
	}
	fmt.Fprintf(b, ".\n\n| attribute | type | default | |\n|---|---|---|---|\n")
	for _, r := range rows(k.Attrs, "") {
		def := ""
		switch {
		case r.attr.Required:
			def = "required"
		case r.attr.Default != nil:
			def = "`" + literal(r.attr.Default) + "`"
		}
		help := r.attr.Help
		if r.attr.NoKey {
			help += " Not part of the cache key."
		}
		fmt.Fprintf(b, "| `%s` | %s | %s | %s |\n", r.path, cell(r.attr.form()), cell(def), cell(help))
	}
	fmt.Fprintf(b, "\n| output | type | | compared by |\n|---|---|---|---|\n")
	for _, o := range k.Outputs {
		fmt.Fprintf(b, "| `%s` | %s | %s | %s |\n", o.Name, cell(o.form()), cell(o.Help), cell(o.compared()))
	}
	for _, o := range k.Outputs {
		if len(o.Fields) > 0 {
			fmt.Fprintf(b, "\n%s\n", wrap(o.fieldList("`"), 118))
		}
	}
	if k.Example != "" {
		fmt.Fprintf(b, "\n```hcl\n%s\n```\n", k.Example)
	}
}

// cell makes a text fit into a table.
func cell(s string) string { return strings.NewReplacer("\n", " ", "|", `\|`).Replace(s) }

// anchor is the name by which GitHub links to a heading.
func anchor(s string) string { return strings.ReplaceAll(strings.ToLower(s), " ", "-") }
