package general

import (
	_ "embed"
	"os"
	"path"
	"path/filepath"

	"github.com/redsi/redsi/internal/host/python"
	"github.com/redsi/redsi/internal/host/secret"
	"github.com/redsi/redsi/step"
)

//go:embed redsi_notebook.py
var notebookDriver string

// Where the folder of a notebook's step has what runs it, and what becomes of it.
const (
	driverFile     = step.OwnFolder + "/redsi_notebook.py"
	executedFolder = step.OwnFolder + "/executed"
)

// line is the command line of the script or, of a notebook, of what runs it.
func (c pythonConfig) line() []string {
	if python.IsNotebook(c.Script) {
		return []string{c.Python, driverFile, c.Script, path.Join(executedFolder, path.Base(c.Script))}
	}
	return append([]string{c.Python, c.Script}, c.Arguments...)
}

// collectNotebook keeps the executed copy of a notebook, and its page if there is one.
func collectNotebook(x *step.IO, dir string, secrets secret.Set) error {
	folder := filepath.Join(dir, filepath.FromSlash(executedFolder))
	entries, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := keepFile(x, "notebook", folder, e.Name(), secrets); err != nil {
			return err
		}
	}
	return nil
}
