package pipeline

import (
	"github.com/hashicorp/hcl/v2"

	"github.com/redsi/redsi/internal/pipeline/syntax"
)

// parse reads the loader's files; what is not HCL is reported and left out.
func (l *loader) parse() {
	names := syntax.Pipelines(l.files)
	if len(names) == 0 {
		l.diags.Error(hcl.Range{Filename: syntax.DefaultFile, Start: hcl.InitialPos, End: hcl.InitialPos},
			"No pipeline", "There is no file whose name ends in .hcl.")
	}
	read := l.read
	if l.parent != nil {
		read = l.modRead
	}
	for _, name := range names {
		read[name] = l.files[name]
		b, ok := l.parsed[name]
		if !ok {
			if b = syntax.ParseFile(name, l.files[name], l.diags); b != nil {
				l.rewrite(b.Body)
			}
			l.parsed[name] = b
		}
		if b != nil {
			l.bodies = append(l.bodies, b)
		}
	}
}
