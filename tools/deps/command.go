package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

// shownOnFailure is how many of a failed command's last lines are repeated.
const shownOnFailure = 40

// runShown runs a command that may take minutes. The state shows the time, what is left of it and the latest line of
// output, unless take makes states of its own; when it fails, its last lines are part of the error, without those
// for which take returns true. The command and its children keep the part's locks, see partPlace.
func runShown(ctx context.Context, p partPlace, show *progress, what string, cmd *exec.Cmd, take func(line string) bool) error {
	reader, writer := io.Pipe()
	cmd.Stdout, cmd.Stderr = writer, writer
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // so that its children end with it
	cmd.ExtraFiles = p.locks
	if os.Getenv("GOGC") == "" { // Go's compiler takes about a sixth less of the processor so, and twice the memory
		cmd.Env = append(cmd.Environ(), "GOGC=off", "GOMEMLIMIT=1GiB")
	}
	if show.board.holds() { // the processors are left to the program that has the terminal
		if nice, err := exec.LookPath("nice"); err == nil {
			cmd.Path, cmd.Args = nice, append([]string{"nice", "-n", "19"}, cmd.Args...)
		}
	}
	start, expected := time.Now(), costs[show.name]
	defer show.end()
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	stop := context.AfterFunc(ctx, func() { syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) })
	defer stop()

	lines := make(chan string)
	go func() {
		defer close(lines)
		for in := bufio.NewReader(reader); ; {
			line, err := in.ReadString('\n')
			if line = strings.TrimSpace(line); line != "" {
				lines <- line
			}
			if err != nil {
				return
			}
		}
	}()
	exited := make(chan error, 1)
	go func() {
		err := cmd.Wait()
		writer.Close() // after all that it wrote
		exited <- err
	}()
	var tail []string
	printed := 0
	state := func() {
		text := fmt.Sprintf("%s, %s", what, time.Since(start).Round(time.Second))
		if left := expected.left(time.Since(start), printed); left != "" {
			text += ", " + left
		}
		if len(tail) > 0 {
			text += "  " + tail[len(tail)-1]
		}
		show.state("%s", text)
	}
	state()
	ticks := time.NewTicker(time.Second)
	defer ticks.Stop()
	for reading := true; reading; {
		select {
		case line, ok := <-lines:
			if reading = ok; ok && (take == nil || !take(line)) {
				printed++
				tail = append(tail[max(0, len(tail)+1-shownOnFailure):], line)
			}
		case <-ticks.C:
			if take == nil {
				state()
			}
		}
	}
	switch err := <-exited; {
	case ctx.Err() != nil:
		return fmt.Errorf("%s: interrupted", what)
	case err != nil:
		return fmt.Errorf("%s: %w; its last lines:\n  %s", what, err, strings.Join(tail, "\n  "))
	}
	return nil
}

// runFirst runs a command on the terminal, where Ctrl-C reaches it, until it ends in its own way.
func runFirst(command string) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	cmd := exec.CommandContext(ctx, "sh", "-c", "exec "+command)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w", command, err)
	}
	return nil
}
