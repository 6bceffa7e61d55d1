package pipeline

import (
	"encoding/json"
	"path/filepath"

	"github.com/redsi/redsi/step"
)

// SourceOf returns the path that the task of a source block names, as it is from the folder of
// this process, and whether .gitignore files count there; ok is false of other tasks.
func SourceOf(t step.Task, pos Pos) (path string, ignore, ok bool) {
	var c struct {
		Path   string `json:"path"`
		Ignore bool   `json:"ignore"`
	}
	if t.Kind != SourceKind || json.Unmarshal(t.Config, &c) != nil {
		return "", false, false
	}
	if path = filepath.FromSlash(c.Path); !filepath.IsAbs(path) {
		path = filepath.Join(filepath.Dir(filepath.FromSlash(pos.File)), path)
	}
	return path, c.Ignore, true
}
