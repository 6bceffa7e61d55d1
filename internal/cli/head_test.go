package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/host/devserver"
	"github.com/redsi/redsi/internal/system/errtest"
	"github.com/redsi/redsi/internal/system/filetest"
)

// TestStoresOfOneServer: runs with two stores share the server of a state folder, each done by workers with its store, on both
// queues: the process of one run, and a worker of the other's, whose process leaves steps to it.
func TestStoresOfOneServer(t *testing.T) {
	t.Parallel()
	const steps = 4
	one, openOne := gated(t, steps)
	two, openTwo := gated(t, steps)
	for _, dir := range []string{one, two} {
		file := filepath.Join(dir, "pipelines.hcl")
		src, err := os.ReadFile(file)
		errtest.None(t, err)
		filetest.Write(t, file, string(src)+"\n"+strings.Replace(oneStep, `"one" {`, `"card" {
  resources {
    queue = "gpu"
  }`, 1))
	}
	state := filepath.Join(one, ".redsi")
	first := startRedsi(t, one, "run")
	first.says(t, "step.command.one")
	second := startRedsi(t, two, "run", "--state", state, "--store", "store", "--slots", "0")
	profile := "TEMPORAL_CONFIG_FILE=" + filepath.Join(state, "temporal", devserver.ProfileFile)
	startRedsiWith(t, two, []string{profile}, "worker", "--temporal-profile", devserver.ProfileName, "--allow-cpu", "--store", "store", "--state", filepath.Join(two, ".redsi"))
	openTwo()
	second.succeeds(t)
	openOne()
	first.succeeds(t)
	for _, p := range []*redsiProcess{first, second} {
		if want := fmt.Sprintf("0 hit, %d ran", steps+1); !strings.Contains(p.out.String(), want) {
			t.Errorf("%v did not say %q:\n%s", p.Args[1:], want, p.out)
		}
	}
}
