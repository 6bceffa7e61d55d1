package files

import (
	"strings"

	"github.com/redsi/redsi/internal/pipeline"
)

// NameOf is the file name of a step's output: that of the output; for tables and figures, the
// block's name with its for_each key, and the extension of the form.
func NameOf(address, output string) string {
	if !pipeline.IsRendered(address) {
		return output
	}
	return nameOf(address) + "." + extension(output)
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
