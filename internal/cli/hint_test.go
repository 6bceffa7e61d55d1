package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/redsi/redsi/internal/host/isolation"
	"github.com/redsi/redsi/internal/session"
	"github.com/redsi/redsi/internal/system/errtest"
	"github.com/redsi/redsi/kinds"
	"github.com/redsi/redsi/step"
)

// TestHint: a command that is printed reads and keeps where the command at work does, and
// a shell gives its words back as they were.
func TestHint(t *testing.T) {
	for _, c := range []struct {
		at      string // the command line at work
		secrets map[string]string
		verb    string
		args    []string
		want    string
	}{
		{"plan", nil, "run", nil, `redsi run`},
		{"plan --json -t x", nil, "run", nil, `redsi run`},
		{"plan -f a.hcl --var scale=toy --var b=2 --store s", nil, "run", []string{"--target", `step.train.dsi["a b"]`},
			`redsi run --target 'step.train.dsi["a b"]' -f a.hcl --var scale=toy --var b=2 --store s`},
		{"plan --var scale=toy --state x", nil, "gc", []string{"--forget-run", "r"}, `redsi gc --forget-run r --state x`},
		{"plan --var token=abc", map[string]string{"token": "abc"}, "run", nil, `redsi run --var token=...`},
		{"plan --store s3://b/p?endpoint=h:1", nil, "verify", []string{"--repair"}, `redsi verify --repair --store 's3://b/p?endpoint=h:1'`},
		{"run --store a --state b", nil, "run", []string{"--store", "c"}, `redsi run --store c --state b`},
		{"plan", nil, "trace", []string{"it's", ""}, `redsi trace 'it'\''s' ''`},
		{"run --temporal-address h:1 --var a=b", nil, "status", nil, `redsi status --temporal-address h:1`},
	} {
		a := newApp(&session.Session{Registry: &step.Registry{}, Secrets: c.secrets}, io.Discard, io.Discard)
		root := newRoot(a)
		words := strings.Fields(c.at)
		at, rest, err := root.Find(words)
		errtest.None(t, err)
		errtest.None(t, at.ParseFlags(rest))
		a.cmd = at
		got := a.hint(c.verb, c.args...)
		if got != c.want {
			t.Errorf("%s: %s, not %s", c.at, got, c.want)
		}
		out, err := exec.Command("sh", "-c", `redsi() { printf '%s\n' "$@"; }; `+got).Output()
		if said := strings.Split(string(out), "\n")[1:]; err != nil || !slices.Equal(said[:len(c.args)], c.args) {
			t.Errorf("%s: a shell says %q, %v", got, said, err)
		}
	}
}

// TestHintOfSettings: a verb that does not read the settings of the command at work is
// given what they set.
func TestHintOfSettings(t *testing.T) {
	for file, want := range map[string]string{"study/redsi.local.hcl": "redsi gc --store s", "redsi.local.hcl": "redsi gc"} {
		a := newApp(&session.Session{Registry: &step.Registry{}, Local: session.Local{File: file, Flags: map[string]bool{"store": true}}}, io.Discard, io.Discard)
		at, _, err := newRoot(a).Find([]string{"run"})
		errtest.None(t, err)
		if a.cmd = at; at.ParseFlags(nil) != nil || at.Flags().Lookup("store").Value.Set("s") != nil {
			t.Fatal("no --store")
		}
		if got := a.hint("gc"); got != want {
			t.Errorf("%s: %s, not %s", file, got, want)
		}
		if got := a.hint("plan"); got != "redsi plan" {
			t.Errorf("%s: %s", file, got)
		}
	}
}

// TestCarried: each flag of a pipeline, a store or a cluster is one that hints carry.
func TestCarried(t *testing.T) {
	root := newRoot(newApp(&session.Session{Registry: &step.Registry{}}, io.Discard, io.Discard))
	shared := map[string]int{}
	for _, cmd := range root.Commands() {
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) { shared[f.Name]++ })
	}
	root.PersistentFlags().VisitAll(func(f *pflag.Flag) { shared[f.Name] = len(root.Commands()) })
	// What several verbs have and one command line is not the next one's business.
	own := []string{"all", "as-job", "beams", "by", "cpus", "detach", "device", "dry-run", "fail-fast", "gpu-slots", "help", "json", "limit", "listen", "log-level", "markdown", "memory", "metrics-address",
		"model", "notify", "only", "out", "port", "precision", "priority", "progress", "queue", "quiet", "results", "run", "skip-failed", "slots", "strict", "target", "temporal-ui", "threads", "ui-port", "unconstrained", "verbose", "without-blobs-over", "yes"}
	for name, n := range shared {
		if n > 1 && !slices.Contains(carried, name) && !slices.Contains(own, name) {
			t.Errorf("--%s is a flag of %d verbs: does the next command need it?", name, n)
		}
	}
	for _, name := range carried {
		if shared[name] == 0 {
			t.Errorf("no verb has --%s", name)
		}
	}
}

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
