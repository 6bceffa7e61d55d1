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

// Tests are the tests of a package, with the second program to be found.
type Tests struct{ *testing.M }

// Run runs the tests.
func (t Tests) Run() int {
	done, err := Program()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer done()
	return t.M.Run()
}

// Program sees to it that programs which this process starts find the second program: the program that the environment
// names, as `make test` does, else a build of this tree.
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
