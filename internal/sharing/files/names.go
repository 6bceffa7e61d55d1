package files

import (
	"cmp"
	"strings"

	"golang.org/x/text/cases"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/address"
)

// Names has the suffixes of tables and figures whose names would otherwise be equal, by address.
type Names map[string]string

// NamesOf tells apart the tables and figures of a pipeline that would share a file, also where a file system takes a for
// A: each has a part of its address's digest in its name.
func NamesOf(steps []pipeline.Step) Names {
	n, taken := Names{}, map[string]string{}
	for _, s := range steps {
		if !address.Of(s.Address).IsRendered() {
			continue // of 100,000 it takes a while
		}
		name := cases.Fold().String(s.Block + "/" + strings.TrimSuffix(nameOf(s.Address), ".vl")) // of .vl.json
		if other := taken[name]; other != "" {
			for _, address := range []string{other, s.Address} {
				n[address] = "-" + artifacts.Sum([]byte(address)).Hex()[:8]
			}
		}
		taken[name] = s.Address
	}
	return n
}

// Of returns the file name of a step's output: the output's name; for tables and figures, the block's name with its
// for_each key, and the extension of the form.
func (n Names) Of(step, output string) string {
	if !address.Of(step).IsRendered() {
		return output
	}
	return nameOf(step) + n[step] + "." + cmp.Or(extensions[output], output)
}

var extensions = map[string]string{"markdown": "md", "latex": "tex", "vega": "vl.json"} // of outputs with another name

// nameOf returns a file name for a table or figure: dedup_counts, or first.dedup_counts in a module.
func nameOf(item string) string {
	a := address.Of(item)
	a.Modules, a.Name = strings.TrimPrefix(a.Modules, "module."), a.Label()
	name := strings.Map(func(r rune) rune {
		switch {
		case r == '"' || r == ']':
			return -1
		case r == '[' || r == '/' || r == '\\' || r < ' ':
			return '-'
		}
		return r
	}, a.String())
	return strings.ToValidUTF8(name[:min(len(name), longestName)], "")
}

const longestName = 200 // leaves room for a digest and an extension, in bytes: file systems take 255
