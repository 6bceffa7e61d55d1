package realize

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/redsi/redsi/internal/host/command"
	"github.com/redsi/redsi/internal/host/environment"
	"github.com/redsi/redsi/internal/host/scratch"
	"github.com/redsi/redsi/internal/system/words"
)

// The Env of a step without an environment is nil, with which Close, Reads, Start, Ended and Unchanged do nothing.

// Close gives the environment back.
func (h *Env) Close() error {
	if h == nil || h.lock == nil {
		return nil
	}
	return h.lock.Close()
}

// String describes the environment on a line.
func (h *Env) String() string {
	text := fmt.Sprintf("%s: %s of %s for %s", h.Name, words.Count(len(h.List), "package"), h.Lock, h.Platform)
	if h.Python != "" {
		text += ", Python " + h.Python
	}
	return text + ", made by " + h.Program
}

// Find returns the path of one of its programs.
func (h *Env) Find(name string) (string, error) {
	if h.Recipe.Kind == environment.Image {
		return command.Find(h.Engine) // which starts the program
	}
	for _, dir := range filepath.SplitList(h.Path()) {
		at := filepath.Join(dir, name)
		if info, err := os.Stat(at); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return at, nil
		}
	}
	return "", fmt.Errorf("%s has no program %s: add the package that brings it and make %s anew, or give the program's path", h.Name, name, h.Lock)
}

// Path returns the folders in which programs are looked up before PATH.
func (h *Env) Path() string {
	if h.Recipe.Kind == environment.Nix {
		return h.Nix
	}
	return filepath.Join(h.Dir, "bin")
}

// Reads returns the folders that a program in it may read under isolation.
func (h *Env) Reads() []string {
	if h == nil || h.Recipe.Kind == environment.Nix {
		return nil // the system's
	}
	return []string{h.Dir}
}

// Start changes a run to take place in the environment.
func (h *Env) Start(run *command.Run) {
	if h == nil {
		return
	}
	switch h.Recipe.Kind {
	case environment.Image:
		h.engine(run)
		return
	case environment.UV, environment.Pylock, environment.Requirements:
		run.Env["VIRTUAL_ENV"] = h.Dir
	case environment.Conda:
		run.Env["CONDA_PREFIX"] = h.Dir
	}
	run.Env["PATH"] = h.Path() + string(os.PathListSeparator) + run.Env["PATH"]
}

// Ended ends the container of a failed run, which the end of the engine's client does not.
func (h *Env) Ended(dir string, err error) error {
	if h == nil || h.Recipe.Kind != environment.Image || h.Engine == apptainer || err == nil {
		return nil
	}
	return scratch.EndContainer(h.Engine, dir)
}
