package devserver

import (
	"debug/buildinfo"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/redsi/redsi/internal/host/revision"
)

// ErrNoServer says that no server program was found.
var ErrNoServer = errors.New("the embedded Temporal server was not found")

// Get says how the server program is installed.
func Get() string {
	if pip := revision.Pip("redsi"); pip != "" {
		return "reinstall redsi with --force-reinstall: " + pip
	}
	return "make deps-embedded"
}

// beside is the server program's name if it is not in a folder of its own.
const beside = "redsi-temporal-server"

// Find returns the path of the server program: REDSI_TEMPORAL_SERVER, else redsi-temporal-server beside this program, as
// in an archive of `make dist`, else the program that `make` installed last, else redsi-temporal-server on PATH.
func Find() (string, error) {
	if p := os.Getenv("REDSI_TEMPORAL_SERVER"); p != "" {
		if _, err := os.Stat(p); err != nil {
			return "", fmt.Errorf("REDSI_TEMPORAL_SERVER: %w", err)
		}
		return p, nil
	}
	if self := revision.Program(); self != "" {
		if p, err := exec.LookPath(filepath.Join(filepath.Dir(self), beside)); err == nil {
			return p, nil
		}
	}
	if found := installed(); found != "" {
		return found, nil
	}
	if p, err := exec.LookPath(beside); err == nil {
		return p, nil
	}
	return "", fmt.Errorf("%w: there is no %s beside redsi; %s, or set REDSI_TEMPORAL_SERVER to its path, or give an existing cluster with --temporal-address", ErrNoServer, beside, Get())
}

// installed returns the program that `make` installed last; "" if there is none.
func installed() (newest string) {
	deps := os.Getenv("REDSI_DEPS")
	if deps == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return ""
		}
		deps = filepath.Join(cache, "redsi")
	}
	found, _ := fs.Glob(os.DirFS(deps), "temporal-server/*/temporal-server") // the pattern is valid
	at := time.Time{}
	for _, name := range found {
		p := filepath.Join(deps, name)
		if st, err := os.Stat(p); err == nil && st.ModTime().After(at) {
			newest, at = p, st.ModTime()
		}
	}
	return newest
}

// Temporal returns the version of Temporal in a server program.
func Temporal(program string) string {
	if info, err := buildinfo.ReadFile(program); err == nil {
		for _, m := range info.Deps {
			if m.Path == "go.temporal.io/server" {
				return strings.TrimPrefix(m.Version, "v")
			}
		}
	}
	return revision.Unknown
}
