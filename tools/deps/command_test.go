package main

import (
	"context"
	"os/exec"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/system/testkit"
)

func TestRunShown(t *testing.T) {
	var taken []string
	take := func(line string) bool {
		if strings.HasPrefix(line, "bytes ") {
			taken = append(taken, line)
			return true
		}
		return false
	}
	script := `echo "bytes 1 2"; for i in $(seq 50); do echo "line $i"; done; echo "the reason" >&2; exit 3`
	err := runShown(t.Context(), partPlace{}, quiet(), "builder", exec.Command("sh", "-c", script), take)
	if err == nil {
		t.Fatal("no error")
	}
	message := err.Error()
	testkit.Says(t, message, "builder: exit status 3", "line 50", "the reason")
	if strings.Contains(message, "line 5\n") || strings.Contains(message, "bytes") {
		t.Errorf("too much in %q", message)
	}
	testkit.Is(t, len(taken), 1, taken)
}

func TestRunShownInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	started := func(line string) bool { cancel(); return true }
	// The grandchild holds the pipe open: it must end too, or this test never does.
	err := runShown(ctx, partPlace{}, quiet(), "builder", exec.Command("sh", "-c", "sleep 600 & echo started; wait"), started)
	testkit.ErrSays(t, err, "builder: interrupted")
}
