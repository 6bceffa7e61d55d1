package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/redsi/redsi/internal/system"
)

// Schemes are the transports that neither run a program named by a URL nor accept bytes from an unauthenticated server.
var Schemes = []string{"https", "ssh", "file"}

// Run runs the program and returns its output, trimmed.
func Run(ctx context.Context, args ...string) (string, error) {
	var out bytes.Buffer
	err := To(ctx, &out, nil, args...)
	return strings.TrimSpace(out.String()), err
}

// To runs the program with an extended environment and writes its output to out.
func To(ctx context.Context, out io.Writer, env []string, args ...string) error {
	cmd := exec.CommandContext(ctx, "git", append([]string{"-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false"}, args...)...)
	cmd.Env = append(environment(), env...)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = out, &said
	cmd.SysProcAttr = system.Session() // git's helpers end with it, and have no terminal to ask on
	cmd.Cancel = func() error { return system.KillGroup(cmd.Process.Pid) }
	cmd.WaitDelay = 5 * time.Second
	err := cmd.Run()
	switch {
	case err == nil:
		return nil
	case errors.Is(err, exec.ErrNotFound):
		return errors.New("reading repositories needs the program git, which is not installed")
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	return fmt.Errorf("git: %s", reason(said.String(), err))
}

// reason returns the first line in which git says what is wrong.
func reason(said string, err error) string {
	lines := strings.Split(strings.TrimSpace(said), "\n")
	for _, line := range lines {
		for _, prefix := range []string{"fatal: ", "error: "} {
			if what, ok := strings.CutPrefix(line, prefix); ok {
				return what
			}
		}
	}
	if lines[0] == "" {
		return err.Error()
	}
	return lines[len(lines)-1]
}

// environment returns this process's variables without those that lead git to another repository, and with variables by
// which git never prompts, uses only Schemes and fetches no missing objects.
func environment() []string {
	leading := []string{"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_COMMON_DIR", "GIT_NAMESPACE",
		"GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_PREFIX", "GIT_CONFIG_PARAMETERS", "GIT_CONFIG_COUNT"}
	env := slices.DeleteFunc(os.Environ(), func(e string) bool {
		name, _, _ := strings.Cut(e, "=")
		return slices.Contains(leading, name)
	})
	return append(env, "GIT_TERMINAL_PROMPT=0", "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL="+strings.Join(Schemes, ":"), "LC_ALL=C")
}
