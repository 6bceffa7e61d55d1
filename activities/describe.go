package activities

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/host/usage"
	"github.com/redsi/redsi/internal/system/words"
	"github.com/redsi/redsi/step"
	"github.com/redsi/redsi/workflows"
)

// Bounds of what a step's page shows.
const (
	pageRows   = 20
	pageValue  = 200      // bytes of one value
	pageReport = 64 << 10 // of a report whose numbers are shown
)

// Describe says, in Markdown, what a step is made of and, with a key, what it left: what
// the UI shows of it. It is for people only: what cannot be read is left out.
func (a *Activities) Describe(ctx context.Context, req workflows.DescribeRequest) (string, error) {
	var b strings.Builder
	if req.Key.IsZero() {
		a.describeTask(ctx, &b, req.Task)
		return b.String(), nil
	}
	if r, err := artifacts.Lookup(ctx, a.Store, req.Key); err == nil && r != nil {
		a.describeResult(ctx, &b, req, r)
	}
	return b.String(), nil
}

func (a *Activities) describeTask(ctx context.Context, b *strings.Builder, task artifacts.Digest) {
	var t step.Task
	if err := readJSON(ctx, a.Store.Blobs, task, &t); err != nil {
		return
	}
	tree, err := t.Tree()
	if err != nil {
		return
	}
	var inputs, config [][]string
	for _, name := range slices.Sorted(maps.Keys(tree)) {
		found := inputsOf(name, tree[name])
		inputs = append(inputs, found...)
		if len(found) == 0 {
			value, err := json.Marshal(tree[name])
			if err != nil {
				continue
			}
			config = append(config, []string{code(name), code(string(value))})
		}
	}
	table(b, "Inputs", []string{"attribute", "type", "size", "digest"}, inputs)
	table(b, "Configuration", []string{"attribute", "value"}, config)
}

// inputsOf are the rows of the artifacts within a value of a configuration.
func inputsOf(path string, v any) (rows [][]string) {
	switch v := v.(type) {
	case step.Input:
		if v.Artifact != nil {
			rows = append(rows, artifactRow(path, *v.Artifact))
		}
	case step.Inputs:
		for i, in := range v {
			rows = append(rows, inputsOf(fmt.Sprintf("%s[%d]", path, i), in)...)
		}
	case []any:
		for i, e := range v {
			rows = append(rows, inputsOf(fmt.Sprintf("%s[%d]", path, i), e)...)
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			rows = append(rows, inputsOf(path+"."+name, v[name])...)
		}
	}
	return rows
}

func (a *Activities) describeResult(ctx context.Context, b *strings.Builder, req workflows.DescribeRequest, r *artifacts.Result) {
	fmt.Fprintf(b, "Made by run %s as %s in %s, finished %s.\n", code(r.Origin.RunID), code(r.Origin.Step),
		r.Took.Round(time.Millisecond), r.Finished.UTC().Format(time.DateTime))
	var outputs, counts, numbers [][]string
	names := slices.Sorted(maps.Keys(r.Outputs))
	for _, name := range names {
		outputs = append(outputs, artifactRow(name, r.Outputs[name]))
	}
	// The shortest first: it sums up what longer ones have in full.
	slices.SortStableFunc(names, func(x, y string) int { return cmp.Compare(r.Outputs[x].Size, r.Outputs[y].Size) })
	for _, name := range names {
		if len(numbers) <= pageRows && a.declaresFields(req.Kind, name) {
			numbers = append(numbers, a.numbersOf(ctx, name, r.Outputs[name])...)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.Counts)) {
		counts = append(counts, []string{code(name), humanize.Comma(r.Counts[name])})
	}
	var used [][]string
	for _, x := range usage.Rows(r.Used) {
		used = append(used, []string{x.What, x.Value})
	}
	table(b, "Outputs", []string{"output", "type", "size", "digest"}, outputs)
	table(b, "Counts", []string{"count", "value"}, counts)
	table(b, "Used", []string{"what", "value"}, used)
	table(b, "Metrics", []string{"field", "value"}, numbers)
}

func (a *Activities) declaresFields(kind, output string) bool {
	spec := a.Registry.Lookup(kind)
	if spec == nil {
		return false
	}
	o, ok := spec.Output(output)
	return ok && o.Fields != nil
}

// numbersOf are the first numbers of a JSON report, in its order.
func (a *Activities) numbersOf(ctx context.Context, output string, of artifacts.Artifact) (rows [][]string) {
	if of.Size > pageReport || len(of.Files) > 0 {
		return nil
	}
	text, err := artifacts.ReadBlob(ctx, a.Store.Blobs, of.Digest, artifacts.AnySize)
	if err != nil {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var walk func(path string) bool
	walk = func(path string) bool {
		t, err := d.Token()
		if err != nil || len(rows) > pageRows {
			return false
		}
		switch t := t.(type) {
		case json.Number:
			rows = append(rows, []string{code(path), t.String()})
		case json.Delim:
			for i := 0; d.More(); i++ {
				within := path + "." + strconv.Itoa(i)
				if t == '{' {
					name, err := d.Token()
					if err != nil {
						return false
					}
					within = fmt.Sprintf("%s.%v", path, name)
				}
				if !walk(within) {
					return false
				}
			}
			_, err = d.Token()
			return err == nil
		}
		return true
	}
	walk(output)
	return rows
}

func artifactRow(name string, x artifacts.Artifact) []string {
	size := words.Size(x.Size)
	if n := len(x.Files); n > 0 {
		size += " in " + words.Count(n, "file")
	}
	return []string{code(name), code(x.Type), strings.ReplaceAll(size, " ", "\u00a0"), code(x.Digest.Hex())}
}

// code is text as Markdown shows it as it is.
func code(text string) string { return workflows.Code(text, pageValue) }

func table(b *strings.Builder, title string, head []string, rows [][]string) {
	if len(rows) == 0 {
		return
	}
	fmt.Fprintf(b, "\n**%s**\n\n| %s |\n|%s\n", title, strings.Join(head, " | "), strings.Repeat("---|", len(head)))
	for i, row := range rows {
		if i == pageRows {
			fmt.Fprintf(b, "| … |%s\n", strings.Repeat(" |", len(head)-1))
			break
		}
		fmt.Fprintf(b, "| %s |\n", strings.Join(row, " | "))
	}
}
