package pipeline

import (
	"encoding/json"
	"path/filepath"

	"github.com/hashicorp/hcl/v2"

	"github.com/redsi/redsi/internal/pipeline/language"
	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/step"
)

// parse reads the files; what is not HCL is reported and left out.
func (l *loader) parse() {
	names := syntax.Pipelines(l.files)
	if len(names) == 0 {
		l.Diags.Error(hcl.Range{Filename: syntax.DefaultFile, Start: hcl.InitialPos, End: hcl.InitialPos},
			"No pipeline", "There is no file whose name ends in .hcl.")
	}
	for _, name := range names {
		b, ok := l.parsed[name]
		if !ok {
			if b = syntax.ParseFile(name, l.files[name], l.Diags); b != nil {
				l.Rewrite(b.Body)
			}
			l.parsed[name] = b
		}
		if b != nil {
			l.bodies = append(l.bodies, b)
		}
	}
}

// leavesOf are those of a step that is made: what its configuration names, or what lies
// where a source block says.
func (f *frame) leavesOf(t step.Task, at syntax.Pos, spec *step.Spec) language.Leaves {
	return func(output string) ([]string, bool) {
		path, ignore, ok := SourceOf(t, at)
		if !ok {
			return spec.Leaves(t, output)
		}
		return f.Folder(path, ignore)
	}
}

// SourceOf returns the path that the task of a source block names, as it is from the folder of
// this process, and whether .gitignore files count there; ok is false of other tasks, and while
// steps have yet to decide the path.
func SourceOf(t step.Task, pos syntax.Pos) (path string, ignore, ok bool) {
	var c struct {
		Path   string `json:"path"`
		Ignore bool   `json:"ignore"`
	}
	if t.Kind != SourceKind || json.Unmarshal(t.Config, &c) != nil || c.Path == "" {
		return "", false, false
	}
	if path = filepath.FromSlash(c.Path); !filepath.IsAbs(path) {
		path = filepath.Join(filepath.Dir(filepath.FromSlash(pos.File)), path)
	}
	return path, c.Ignore, true
}
