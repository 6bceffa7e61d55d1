// Package computetest has the second program for tests that start redsi as people do.
package computetest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/redsi/redsi/internal/host/compute"
)

// Tests are those of a package, which find the second program.
type Tests struct{ *testing.M }

// Run runs them.
func (t Tests) Run() int {
	done, err := Program()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer done()
	return t.M.Run()
}

// Program sees to it that what this process starts finds the second program: the one that
// the environment names, as `make test` does, or one that is built now of this tree.
func Program() (done func(), err error) {
	if os.Getenv(compute.Variable) != "" {
		return func() {}, nil
	}
	dir, err := os.MkdirTemp("", "redsi-models-")
	if err != nil {
		return nil, err
	}
	path := filepath.Join(dir, compute.Name)
	if out, err := exec.Command("go", "build", "-o", path, "github.com/redsi/redsi/cmd/redsi-models").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build %s: %w\n%s", compute.Name, err, out)
	}
	return func() { os.RemoveAll(dir) }, os.Setenv(compute.Variable, path)
}
