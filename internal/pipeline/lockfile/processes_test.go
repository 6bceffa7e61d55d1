package lockfile

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/redsi/redsi/step"
)

// TestProcessesKeepAllPins adds 200 pins, one by one, from each of two processes.
func TestProcessesKeepAllPins(t *testing.T) {
	const each = 200
	path := filepath.Join(t.TempDir(), Name)
	if to := os.Getenv("REDSI_TEST_PINS"); to != "" { // one of the two
		for i := range each {
			if err := Add(to, []step.Pin{pin(fmt.Sprintf("https://%s/%d", os.Getenv("REDSI_TEST_NAME"), i), "x")}); err != nil {
				t.Fatal(err)
			}
		}
		return
	}
	var running []*exec.Cmd
	for _, name := range []string{"one", "two"} {
		c := exec.Command(os.Args[0], "-test.run", "^TestProcessesKeepAllPins$")
		c.Env = append(os.Environ(), "REDSI_TEST_PINS="+path, "REDSI_TEST_NAME="+name)
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
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
