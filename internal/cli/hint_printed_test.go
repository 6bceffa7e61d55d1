package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/cobra"

	"github.com/redsi/redsi/internal/host/isolation"
	"github.com/redsi/redsi/internal/session"
	"github.com/redsi/redsi/kinds"
	"github.com/redsi/redsi/step"
)

// printedCommand is what a message tells a person to run: between backquotes, or after a
// colon at the end of a line.
var printedCommand = regexp.MustCompile("`(redsi [^`\n]+)`|: (redsi [a-z]+(?: .*)?)(?:\n|$)")

// mainHeld is the program as scripts call it. It fails if anything that it printed tells
// a person to run what the program would not understand.
func mainHeld() int {
	isolation.Helper() // if this process is one
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var said lockedBuffer
	code := execute(ctx, kinds.Registry(), os.Args[1:], io.MultiWriter(os.Stdout, &said), io.MultiWriter(os.Stderr, &said), Paper{})
	if len(os.Args) > 1 && os.Args[1] == "kinds" { // a reference, which talks of verbs
		return code
	}
	for _, m := range printedCommand.FindAllStringSubmatch(said.String(), -1) {
		line := m[1] + m[2]
		if strings.Contains(line, `\"`) { // within JSON or Go quotes
			continue
		}
		if err := understood(line); err != nil {
			fmt.Fprintf(os.Stderr, "the command that was printed is wrong: %s: %v\n", line, err)
			return 99
		}
	}
	return code
}

// understood reports what is wrong with a command line, as a shell and the program read it.
func understood(line string) error {
	out, err := exec.Command("sh", "-c", `redsi() { printf '%s\0' "$@"; }; `+line).Output()
	if err != nil {
		return err
	}
	words := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	cmd, rest, err := newRoot(newApp(&session.Session{Registry: &step.Registry{}}, io.Discard, io.Discard)).Find(words)
	if err == nil {
		err = cmd.ParseFlags(rest)
	}
	if err == nil {
		err = cmd.ValidateRequiredFlags()
	}
	if err == nil && !strings.HasSuffix(line, cmd.CommandPath()) { // else it names the verb
		err = cmd.ValidateArgs(cmd.Flags().Args())
	}
	if err == nil && cmd.HasSubCommands() && cmd.Flags().NArg() > 0 {
		err = fmt.Errorf("%s has no verb %q", cmd.CommandPath(), cmd.Flags().Arg(0))
	}
	return err
}

func TestUnderstood(t *testing.T) {
	for line, want := range map[string]bool{
		`redsi run --target 'step.a["b c"]' --var a=b`: true,
		`redsi sources update x`:                       true,
		`redsi force`:                                  true, // what it is called
		`redsi force --downstream`:                     false,
		`redsi run --traget x`:                         false,
		`redsi run x`:                                  false,
		`redsi rnu`:                                    false,
		`redsi sources updat`:                          false,
		`redsi gc --forget-run`:                        false,
		`redsi run --target 'x`:                        false,
	} {
		if err := understood(line); (err == nil) != want {
			t.Errorf("%s: %v", line, err)
		}
	}
	said := "a\nx: redsi run -t y\n`redsi gc` and `redsi status`: redsi verify"
	if n := len(printedCommand.FindAllString(said, -1)); n != 4 {
		t.Error(n)
	}
}

// TestExamplesOfHelp: what --help shows is understood. `make try-docs` runs it.
func TestExamplesOfHelp(t *testing.T) {
	t.Parallel()
	n := 0
	var each func(*cobra.Command)
	each = func(cmd *cobra.Command) {
		for line := range strings.Lines(cmd.Example) {
			line, _, _ = strings.Cut(strings.TrimSpace(line), "  #")
			for _, part := range shellOperator.Split(line, -1) {
				if part = strings.TrimSpace(part); !strings.HasPrefix(part, "redsi ") {
					continue
				}
				n++
				if err := understood(part); err != nil {
					t.Errorf("%s --help: %s: %v", cmd.CommandPath(), part, err)
				}
			}
		}
		for _, c := range cmd.Commands() {
			each(c)
		}
	}
	each(newRoot(newApp(&session.Session{Registry: &step.Registry{}}, io.Discard, io.Discard)))
	if n < 140 {
		t.Errorf("%d examples", n)
	}
}

// shellOperator is what separates commands of one line.
var shellOperator = regexp.MustCompile(` [|>] | && `)
