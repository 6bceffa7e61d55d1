package cli

import (
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/redsi/redsi/internal/system/errtest"
	"github.com/redsi/redsi/internal/system/filetest"
)

// TestBudget: a command takes no more of the processor's time than what is bearable at a prompt, at a tabulator key and
// for each load of a large block. The bounds are five times what an idle machine takes; the least of three counts.
func TestBudget(t *testing.T) {
	large := filepath.Join(t.TempDir(), "pipelines.hcl")
	filetest.Write(t, large, `step "command" "w" {
  for_each = toset([for i in range(1000) : format("%04d", i)])
  argv     = ["sh", "-c", "echo ${each.key}"]
}
`)
	paper, err := filepath.Abs(filepath.Join("..", ".."))
	errtest.None(t, err)
	for _, tt := range []struct {
		dir   string
		bound time.Duration
		args  []string
	}{
		{paper, 150 * time.Millisecond, []string{"version"}},
		{paper, 300 * time.Millisecond, []string{"__complete", "run", "-t", ""}},
		{filepath.Dir(large), 600 * time.Millisecond, []string{"validate"}},
	} {
		least := time.Hour
		for range 3 {
			c := exec.Command("redsi", tt.args...)
			c.Dir = tt.dir
			if err := c.Run(); err != nil {
				t.Fatalf("%v: %v", tt.args, err)
			}
			least = min(least, c.ProcessState.UserTime()+c.ProcessState.SystemTime())
		}
		if least > tt.bound {
			t.Errorf("redsi %v takes %s of the processor's time, more than %s", tt.args, least, tt.bound)
		}
	}
}
