package files

import (
	"strings"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/pipeline"
)

// NameOf is the file name of a step's output by itself: that of the output; for tables and
// figures, the block's name with its for_each key, and the extension of the form.
func NameOf(address, output string) string { return Names{}.Of(address, output) }

// Names are the file names, without extension, of tables and figures that are written into one
// folder. Those that NamesOf leaves out are nameOf.
type Names map[string]string

// NamesOf tells tables or figures of a pipeline apart that would have one name, also where a
// file system takes a for A: each has a part of its address's digest in its name.
func NamesOf(steps []pipeline.Step) Names {
	sharing := map[string][]string{}
	for _, s := range steps {
		if pipeline.IsRendered(s.Address) {
			name := strings.ToLower(s.Block + "/" + strings.TrimSuffix(nameOf(s.Address), ".vl")) // of .vl.json
			sharing[name] = append(sharing[name], s.Address)
		}
	}
	n := Names{}
	for _, addresses := range sharing {
		for _, address := range addresses {
			if len(addresses) > 1 {
				n[address] = nameOf(address) + "-" + artifacts.Sum([]byte(address)).Hex()[:8]
			}
		}
	}
	return n
}

// Of is the file name of a step's output.
func (n Names) Of(address, output string) string {
	if !pipeline.IsRendered(address) {
		return output
	}
	name, ok := n[address]
	if !ok {
		name = nameOf(address)
	}
	return name + "." + extension(output)
}

// nameOf is a file name for a table or figure: dedup_counts, or first.dedup_counts in a module.
func nameOf(address string) string {
	module, local := pipeline.SplitAddress(address)
	_, name, _ := strings.Cut(local, ".")
	if module != "" {
		name = strings.TrimPrefix(module, "module.") + "." + name
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r == '"' || r == ']':
			return -1
		case r == '[' || r == '/' || r == '\\' || r < ' ':
			return '-'
		}
		return r
	}, name)
}

// extension is the file extension of a rendered output.
func extension(output string) string {
	switch output {
	case "markdown":
		return "md"
	case "latex":
		return "tex"
	case "vega":
		return "vl.json"
	}
	return output
}
