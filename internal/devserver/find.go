package devserver

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
)

// ErrNoServer says that no temporal program was found.
var ErrNoServer = errors.New("no temporal server program found: run `make deps`, or name one in REDSI_TEMPORAL, or give an existing cluster with --temporal-address")

// Find returns the path of the temporal program: REDSI_TEMPORAL, else the one
// that `make` installed (newest version), else one on PATH.
func Find() (string, error) {
	if p := os.Getenv("REDSI_TEMPORAL"); p != "" {
		if _, err := os.Stat(p); err != nil {
			return "", fmt.Errorf("REDSI_TEMPORAL: %w", err)
		}
		return p, nil
	}
	if found := installed(depsDir()); found != "" {
		return found, nil
	}
	if p, err := exec.LookPath("temporal"); err == nil {
		return p, nil
	}
	return "", ErrNoServer
}

func depsDir() string {
	if d := os.Getenv("REDSI_DEPS"); d != "" {
		return d
	}
	d, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(d, "redsi")
}

func installed(deps string) string {
	found, err := filepath.Glob(filepath.Join(deps, "temporal", "*", "temporal"))
	if err != nil || len(found) == 0 {
		return ""
	}
	sort.Strings(found)
	return found[len(found)-1]
}
