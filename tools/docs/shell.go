package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// limit bounds the time of a command.
const limit = 20 * time.Minute

// Shell runs commands one after the other as a person at a terminal would: the folder and
// exported variables stay.
type Shell struct {
	Root string   // where it begins
	Env  []string // what it begins with
	keep string   // folder for what stays between commands
}

// Run runs a command and returns its output and its exit code. With until, the command is interrupted when it has
// printed that text, and must end.
func (s *Shell) Run(ctx context.Context, text, until string) (printed string, exit int, err error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	env, dir := filepath.Join(s.keep, "env"), filepath.Join(s.keep, "dir")
	script := fmt.Sprintf("if test -f '%[1]s'; then . '%[1]s'; fi\ncd \"$(cat '%[2]s' 2>/dev/null || pwd)\" || exit 125\n%[3]s\nrc=$?\nexport -p > '%[1]s'; pwd > '%[2]s'; exit $rc\n", env, dir, text)
	if until != "" {
		script = fmt.Sprintf("if test -f '%[1]s'; then . '%[1]s'; fi\ncd \"$(cat '%[2]s' 2>/dev/null || pwd)\" || exit 125\nexec %[3]s\n", env, dir, text)
	}
	cmd := exec.CommandContext(ctx, "sh", "-c", script)
	cmd.Dir, cmd.Env = s.Root, s.Env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 10 * time.Second
	out := &watched{until: until}
	out.seen = func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) }
	cmd.Stdout, cmd.Stderr = out, out
	err = cmd.Run()
	var ended *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return out.String(), 0, fmt.Errorf("did not end within %s", limit)
	case errors.As(err, &ended):
		return out.String(), ended.ExitCode(), nil
	case err == nil && until != "" && !strings.Contains(out.String(), until):
		return out.String(), 0, fmt.Errorf("ended without printing %q", until)
	}
	return out.String(), 0, err
}

// To goes to a folder below Root; "" is Root.
func (s *Shell) To(folder string) error {
	return os.WriteFile(filepath.Join(s.keep, "dir"), []byte(filepath.Join(s.Root, folder)), 0o644)
}

// watched keeps what is written, by one writer, and calls seen once it has the text until.
type watched struct {
	b     bytes.Buffer // a field: its ReadFrom would go past Write
	until string
	told  bool
	seen  func()
}

func (w *watched) Write(p []byte) (int, error) {
	n, err := w.b.Write(p)
	if !w.told && w.until != "" && strings.Contains(w.String(), w.until) {
		w.told = true
		w.seen()
	}
	return n, err
}

func (w *watched) String() string { return w.b.String() }
