package scratch

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
)

// ContainerSuffix ends the name of a file beside a folder, with the name of the engine whose container works there. The
// container may outlive the engine's client; whoever sweeps the folder ends it.
const ContainerSuffix = ".container"

// Container returns the name of the container that works in a folder of New.
func Container(dir string) string {
	return "redsi-" + filepath.Base(filepath.Dir(dir)) + "-" + filepath.Base(dir)
}

var ended = regexp.MustCompile(`(?i)no such container|not running|no container with`)

// EndContainer ends the container of a folder, if it runs.
func EndContainer(engine, dir string) error {
	ctx, cancel := context.WithTimeout(context.Background(), lastWord)
	defer cancel()
	out, err := exec.CommandContext(ctx, engine, "kill", Container(dir)).CombinedOutput()
	if err != nil && !ended.Match(out) {
		return fmt.Errorf("%s kill %s: %w: %s", engine, Container(dir), err, out)
	}
	return nil
}
