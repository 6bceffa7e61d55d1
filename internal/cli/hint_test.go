package cli

import (
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/redsi/redsi/internal/session"
	"github.com/redsi/redsi/internal/system/errtest"
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
