package activities

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/redsi/redsi/step"
)

// Accepts reports a pipeline file that a workflow's input may not make this worker
// read: HCL can name any program, so anyone who may submit workflows could run
// commands as the worker's user with any file of theirs. Stored plans, which
// `redsi run` makes, need no such leave.
func (a *Activities) Accepts(file string) error {
	path, err := resolved(file)
	if err != nil {
		return step.Permanent(err)
	}
	for _, folder := range a.Accept {
		root, err := resolved(folder)
		if err != nil {
			continue
		}
		if rel, err := filepath.Rel(root, path); err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
			return nil
		}
	}
	return step.Permanent(fmt.Errorf("this worker does not accept %s by name: start it with --accept-pipelines %s, "+
		"or submit by `redsi run`, which sends the plan itself", file, filepath.Dir(file)))
}

// resolved is a path without links. Of a file that is not there, its folder's.
func resolved(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	real, err := filepath.EvalSymlinks(abs)
	if os.IsNotExist(err) {
		folder, ferr := filepath.EvalSymlinks(filepath.Dir(abs))
		if ferr != nil {
			return abs, nil
		}
		return filepath.Join(folder, filepath.Base(abs)), nil
	}
	return real, err
}
