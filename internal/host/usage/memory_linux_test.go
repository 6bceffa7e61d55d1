package usage

import (
	"os"
	"os/exec"
	"strconv"
	"testing"
)

// TestOwn: what a process has had at most is nothing of what the process had that started it.
func TestOwn(t *testing.T) {
	const child = "REDSI_TEST_OWN"
	if os.Getenv(child) != "" {
		os.Stdout.WriteString(strconv.FormatInt(Own(), 10))
		os.Exit(0)
	}
	block := make([]byte, 256<<20)
	for i := 0; i < len(block); i += 4096 {
		block[i] = 1
	}
	cmd := exec.Command("/proc/self/exe", "-test.run=^TestOwn$")
	cmd.Env = append(os.Environ(), child+"=1")
	out, err := cmd.Output()
	n, bad := strconv.ParseInt(string(out), 10, 64)
	if err != nil || bad != nil || n <= 0 || n >= int64(len(block)) || Own() < int64(len(block)) {
		t.Errorf("%d of a child, %d here: %v, %v", n, Own(), err, bad)
	}
}
