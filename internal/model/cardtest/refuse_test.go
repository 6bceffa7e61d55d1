//go:build linux

package cardtest

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestRefuses: without a card the tests of a real one end with 2 and say what to do; so they do of a card that nobody knows.
func TestRefuses(t *testing.T) {
	for card, want := range map[string]string{"real": "redsi doctor", "paper": "fake and real are known"} {
		c := exec.Command(os.Args[0], "-card="+card, "-test.run=TestGradients")
		c.Env = append(os.Environ(), "REDSI_CUDA=off")
		var stderr bytes.Buffer
		c.Stderr = &stderr
		var exit *exec.ExitError
		if err := c.Run(); !errors.As(err, &exit) || exit.ExitCode() != 2 || !strings.Contains(stderr.String(), want) {
			t.Errorf("-card=%s: %v\n%s", card, err, &stderr)
		}
	}
}
