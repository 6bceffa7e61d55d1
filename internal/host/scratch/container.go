package scratch

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// containerSuffix is beside a folder the name of the engine whose container works in it: that is
// no process of its client's, and outlives it.
const containerSuffix = ".container"

// Container names the container that works in a folder of New.
func Container(dir string) string {
	return "redsi-" + filepath.Base(filepath.Dir(dir)) + "-" + filepath.Base(dir)
}

// Contained records that an engine, podman or docker, runs Container: if this process dies, the
// next one ends it.
func Contained(engine, dir string) error {
	return os.WriteFile(dir+containerSuffix, []byte(engine), 0o600)
}

// EndContainer ends the container of a folder, if it runs.
func EndContainer(engine, dir string) error {
	ctx, cancel := context.WithTimeout(context.Background(), lastWord)
	defer cancel()
	out, err := exec.CommandContext(ctx, engine, "kill", Container(dir)).CombinedOutput()
	said := strings.ToLower(string(out))
	if err != nil && !strings.Contains(said, "no such container") && !strings.Contains(said, "not running") && !strings.Contains(said, "no container with") {
		return fmt.Errorf("%s kill %s: %w: %s", engine, Container(dir), err, out)
	}
	return nil
}
