package lockfile

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/redsi/redsi/internal/system/errtest"
	"github.com/redsi/redsi/step"
)

// TestProcessesKeepAllPins adds 200 pins, one by one, from each of two processes.
func TestProcessesKeepAllPins(t *testing.T) {
	const each = 200
	path := filepath.Join(t.TempDir(), Name)
	if to := os.Getenv("REDSI_TEST_PINS"); to != "" { // one of the two
		for i := range each {
			errtest.None(t, Add(to, []step.Pin{pin(fmt.Sprintf("https://%s/%d", os.Getenv("REDSI_TEST_NAME"), i), "x")}))
		}
		return
	}
	var running []*exec.Cmd
	for _, name := range []string{"one", "two"} {
		c := exec.Command(os.Args[0], "-test.run", "^TestProcessesKeepAllPins$")
		c.Env = append(os.Environ(), "REDSI_TEST_PINS="+path, "REDSI_TEST_NAME="+name)
		errtest.None(t, c.Start())
		running = append(running, c)
	}
	for _, c := range running {
		if err := c.Wait(); err != nil {
			t.Error(err)
		}
	}
	f, err := Read(path)
	if err != nil || len(f.Sources) != 2*each {
		t.Fatalf("%d pins kept of %d, %v", len(f.Sources), 2*each, err)
	}
}
