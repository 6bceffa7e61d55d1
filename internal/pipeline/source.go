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
func (d *declarer) parse() {
	names := syntax.Pipelines(d.files)
	if len(names) == 0 {
		d.Diags.Error(hcl.Range{Filename: syntax.DefaultFile, Start: hcl.InitialPos, End: hcl.InitialPos},
			"No pipeline", "There is no file whose name ends in .hcl.")
	}
	for _, name := range names {
		b, ok := d.parsed[name]
		if !ok {
			if b = syntax.ParseFile(name, d.files[name], d.Diags); b != nil {
				d.Rewrite(b.Body)
			}
			d.parsed[name] = b
		}
		if b != nil {
			d.bodies = append(d.bodies, b)
		}
	}
}

// leavesOf are those of a step that is made: what its configuration names, or what lies
// where a source block says.
func leavesOf(files *language.Files, t step.Task, at syntax.Pos, spec *step.Spec) language.Leaves {
	return func(output string) ([]string, bool) {
		path, ignore, ok := SourceOf(t, at)
		if !ok {
			return spec.Leaves(t, output)
		}
		return files.Folder(path, ignore)
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
