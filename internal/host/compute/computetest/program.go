// Package computetest has the second program for tests that start redsi as people do.
package computetest

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/redsi/redsi/internal/host/compute"
)

// Tests are the tests of a package, with the second program to be found.
type Tests struct{ *testing.M }

// Run runs the tests with the program that the environment names, as `make test` does, else with a build of this tree.
func (t Tests) Run() int {
	if os.Getenv(compute.Variable) != "" {
		return t.M.Run()
	}
	dir, err := os.MkdirTemp("", "redsi-models-")
	path := filepath.Join(dir, compute.Name)
	if err = cmp.Or(err, os.Setenv(compute.Variable, path)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	if out, err := exec.Command("go", "build", "-o", path, "github.com/redsi/redsi/cmd/redsi-models").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build %s: %v\n%s\n", compute.Name, err, out)
		return 1
	}
	return t.M.Run()
}
