package files

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/system/atomicfile"
)

// Rendered is one file of a table or figure.
type Rendered struct {
	Address string           `json:"address"`
	Path    string           `json:"path"`
	Digest  artifacts.Digest `json:"digest"`
}

// Stale are the files that earlier runs left of tables and figures, and that the newest run of the
// same pipeline, which wrote now, should have written or does not know: asked says so of an
// address. memory is the file in which redsi remembers what it wrote.
func Stale(memory string, now []Rendered, asked func(address string) bool) (stale []Rendered, err error) {
	var before []Rendered
	b, err := os.ReadFile(memory)
	if err == nil {
		err = json.Unmarshal(b, &before)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s, in which redsi remembers the tables and figures that it wrote: %w; without that file it begins anew", memory, err)
	}
	current := map[string]bool{}
	all := append([]Rendered{}, now...)
	for _, f := range now {
		current[f.Path] = true
	}
	for _, f := range before {
		if _, err := os.Lstat(f.Path); err != nil || current[f.Path] {
			continue
		}
		if all = append(all, f); asked(f.Address) {
			stale = append(stale, f)
		}
	}
	if len(before)+len(all) == 0 {
		return nil, nil
	}
	if b, err = json.Marshal(all); err == nil {
		err = atomicfile.WriteFile(memory, b, 0o644)
	}
	return stale, err
}
