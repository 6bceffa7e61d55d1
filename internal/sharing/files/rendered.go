package files

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/system/atomicfile"
	"github.com/redsi/redsi/internal/system/lists"
)

// Rendered is one file of a table or figure.
type Rendered struct {
	Address string           `json:"address"`
	Path    string           `json:"path"`
	Digest  artifacts.Digest `json:"digest"`
}

// Stale returns the files of tables and figures that earlier runs left and that the newest run, which wrote now, should
// have written or no longer has: asked says so of an address. memory is the file that records what redsi wrote.
func Stale(memory string, now []Rendered, asked func(address string) bool) (stale []Rendered, err error) {
	var before []Rendered
	if err := recall(memory, &before); err != nil || len(before)+len(now) == 0 {
		return nil, err
	}
	all := slices.Clone(now)
	current := lists.Set(lists.Map(now, func(f Rendered) string { return absolute(f.Path) }))
	for _, f := range before {
		if _, err := os.Lstat(f.Path); err != nil || current[absolute(f.Path)] {
			continue
		}
		if all = append(all, f); asked(f.Address) {
			stale = append(stale, f)
		}
	}
	return stale, atomicfile.WriteJSON(memory, all, " ", 0o644)
}

// absolute returns a path that does not depend on how a folder was given.
func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

// recall reads the records in a file, if it exists.
func recall(memory string, what any) error {
	b, err := os.ReadFile(memory)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = json.Unmarshal(b, what)
	}
	if err != nil {
		return fmt.Errorf("%s, in which redsi remembers what it wrote: %w; without that file it takes all that is there for yours", memory, err)
	}
	return nil
}
