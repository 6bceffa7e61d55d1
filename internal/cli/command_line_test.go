package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/redsi/redsi/internal/host/isolation"
	"github.com/redsi/redsi/internal/session"
	"github.com/redsi/redsi/internal/system/fault"
	"github.com/redsi/redsi/internal/system/testkit"
	"github.com/redsi/redsi/kinds"
	"github.com/redsi/redsi/step"
)

// TestBudget: a command takes no more of the processor's time than what is bearable at a prompt, at a tabulator key and
// for each load of a large block. The bounds are five times what an idle machine takes; the least of three counts.
func TestBudget(t *testing.T) {
	large := filepath.Join(t.TempDir(), "pipelines.hcl")
	testkit.Write(t, large, `step "command" "w" {
  for_each = toset([for i in range(1000) : format("%04d", i)])
  argv     = ["sh", "-c", "echo ${each.key}"]
}
`)
	paper, err := filepath.Abs(filepath.Join("..", ".."))
	testkit.None(t, err)
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
			testkit.None(t, c.Run(), tt.args)
			least = min(least, c.ProcessState.UserTime()+c.ProcessState.SystemTime())
		}
		if least > tt.bound {
			t.Errorf("redsi %v takes %s of the processor's time, more than %s", tt.args, least, tt.bound)
		}
	}
}

const twoSteps = `results {
  from = ["gopher://x"]
}
step "command" "good" {
  argv    = ["sh", "-c", "echo a > out/a"]
  outputs = ["a"]
}
step "command" "bad" {
  argv    = ["no-such-program"]
  outputs = ["a"]
}
`

// TestCommandLines: what is wrong with a command line is said before anything else is done,
// and what is right is not refused.
func TestCommandLines(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("TEMPORAL_ADDRESS", "")
	testkit.None(t, os.Mkdir("p", 0o755))
	for name, text := range map[string]string{"from.hcl": twoSteps, "two.hcl": twoSteps[strings.Index(twoSteps, "step"):]} {
		testkit.Write(t, filepath.Join("p", name), text)
	}
	for _, c := range []struct {
		line string // _ is an empty word
		code int
		said string
	}{
		{"gc --free 0B", fault.CodeInput, `--free 0B: want a size above 0, such as 50GB`},
		{"gc --free _", fault.CodeInput, `--free : want a size`},
		{"publish x --without-blobs-over many", fault.CodeInput, `--without-blobs-over many: want a size above 0, such as 100MB`},
		{"publish s3://bucket/x", fault.CodeInput, "s3://bucket/x is not a folder: publish into one .*`redsi push s3://bucket/x`"},
		{"publish", fault.CodeInput, `accepts 1 arg`},
		{"export", fault.CodeInput, `give --archive FILE.zip or --hub DIR`},
		{"export --archive x.zip --hub y", fault.CodeInput, `give either --archive or --hub, not both`},
		{"export --hub y --fit 1GB", fault.CodeInput, `--fit can be used only with --archive`},
		{"export --archive x.zip --namespace me", fault.CodeInput, `--namespace can be used only with --hub`},
		{"export --archive x.tar", fault.CodeInput, `the name must end in .zip`},
		{"export --archive x.zip --blobs some", fault.CodeInput, `--blobs some: want all, tables or none`},
		{"export --archive x.zip --fit lots", fault.CodeInput, `^redsi: --fit lots: want a size above 0, such as 100MB\n$`},
		{"export --archive x.zip --deposit shelf", fault.CodeInput, `--deposit shelf: want zenodo`},
		{"export --archive x.zip --doi mine", fault.CodeInput, `--doi mine: a DOI is written 10.5281/zenodo.1234`},
		{"import data.csv", fault.CodeInput, `does not end in .zip: name the folder with --dir`},
		{"import x.zip --dir new --max-size huge", fault.CodeInput, `--max-size huge: want a size`},
		{"import x.zip --dir new --untrusted maybe", fault.CodeInput, `--untrusted maybe: want use`},
		{"import x.zip --dir new --trust somebody", fault.CodeInput, `--trust: "somebody" is not a public key`},
		{"key sign", fault.CodeInput, `say what to sign: --target TABLE, or --all`},
		{"key sign --all --resigned-from alice", fault.CodeInput, `--resigned-from: "alice" is not a public key: want NAME:BASE64`},
		{"logs", fault.CodeInput, `name a STEP, or give --failed`},
		{"init --paper _ c", fault.CodeInput, `--paper : this redsi has none`},
		{"diff ..HEAD", fault.CodeInput, `is not a range of commits`},
		{"diff HEAD --json --markdown -", fault.CodeInput, `both write to standard output`},
		{"verify --sample 5", fault.CodeInput, `--sample 5: want a share of the bytes, such as 5%; a number of steps is for --rebuild`},
		{"graph --format gif --json", fault.CodeInput, `--format gif`},
		{"graph -f p/two.hcl -t table.of.nothing", fault.CodeInput, "`redsi plan --all -f p/two.hcl` lists them"},
		{"run --detach", fault.CodeInput, `--detach needs a cluster.*redsi dev`},
		{"verify --from x", fault.CodeInput, `--from can be used only with --rebuild`},
		{"accept step.command.one", fault.CodeInput, `--reason is required`},
		{"accept", fault.CodeInput, `give one of STEP, --list and --revoke STEP`},
		{"cancel --all 2099", fault.CodeInput, `give either --all or the names of runs`},
		{"cancel --wait=-1s", fault.CodeInput, `cannot be negative`},
		{"validate -f nowhere", fault.CodeInput, `nowhere`},
		{"validate --var name", fault.CodeInput, `want NAME=VALUE`},
		{"validate --var-file nowhere.hcl", fault.CodeInput, `nowhere.hcl`},
		{"kinds downlaod", fault.CodeInput, `did you mean "download"`},
		{"kinds download --markdown x", fault.CodeInput, `cannot be combined with a kind or other flags`},
		{"check --junit x --markdown x", fault.CodeInput, `must be given different files`},
		{"check paper.bib", fault.CodeInput, `paper.bib is not a LaTeX file: its name must end in .tex`},
		{"check gone.tex", fault.CodeInput, `gone.tex: no such file`},
		{"check paper.tex ../paper.tex", fault.CodeInput, `is not in the folder of paper.tex`},
		{"check paper.tex --since HEAD --against last", fault.CodeInput, `give either --since or --against`},
		{"report --checklist iclr", fault.CodeInput, `--checklist iclr: want one of acl, neurips`},
		{"report --checklist acl --latex doc", fault.CodeInput, `cannot be used with --latex or --pdf`},
		{"console -f none.hcl 1", fault.CodeInput, `name your pipeline`},
		{"diff last~1 last --exit-code", fault.CodeInput, `--markdown and --exit-code compare two versions`},
		{"plan --on voodoo2", fault.CodeInput, `--on: no rates of "voodoo2" are kept; there are rates of v100-paper`},
		{"plan --on v100-paper --price cheap", fault.CodeInput, `invalid argument "cheap" for "--price"`},
		{"plan --on v100-paper --price NaN", fault.CodeInput, `--price NaN: want dollars`},
		{"plan --price 3", fault.CodeInput, `--price can be used only with --on`},
		{"init --corpus nowhere c", fault.CodeInput, `there is no folder nowhere`},
		{"plan --json --markdown -", fault.CodeInput, `give --markdown a file`},
		{"check --json --junit -", fault.CodeInput, `give --junit a file`},
		{"plan -f nowhere.hcl", fault.CodeInput, `(?s)nowhere.hcl.*redsi init`},
		{"nonsense", fault.CodeInput, `unknown command`},
		{"du everything", fault.CodeInput, `unknown command "everything" for "redsi du"\s+usage: redsi du`},
		{"plan --taget table.counts", fault.CodeInput, `(?s)unknown flag: --taget.*usage: redsi plan .flags.; see redsi plan --help`},
		{"why", fault.CodeInput, `usage: redsi why STEP`},
		{"sources chek", fault.CodeInput, `unknown command "chek" for "redsi sources"; did you mean "check"`},
		{"sources chek --gone -f p", fault.CodeInput, `unknown command "chek" for "redsi sources"; did you mean "check"`},
		{"artifacts path X -f F", fault.CodeInput, `unknown command "path" for "redsi artifacts"; did you mean "get"`},
		{"env list", fault.CodeInput, `unknown command "list" for "redsi env"`},
		{"env list --all", fault.CodeInput, `unknown command "list" for "redsi env"`},
		{"key nope -f F", fault.CodeInput, `unknown command "nope" for "redsi key"\s+usage`},
		{"key -f F", fault.CodeInput, `unknown shorthand flag: 'f' in -f`},
		{"gc --keep-runs -1", fault.CodeInput, `cannot be negative`},
		{"completion tcsh", fault.CodeInput, `invalid argument "tcsh"`},
		{"plan --by step", fault.CodeInput, `want block or table`},
		{"plan --slots -1", fault.CodeInput, `cannot be negative`},
		{"push ../copy --only", fault.CodeInput, `--only can be used only with --target`},
		{"push ../copy --only --run last --target table.t", fault.CodeInput, `give either --target or --run`},
		{"verify --rebuild step.command.each --sample 0", fault.CodeInput, `--sample 0: want the number of steps`},
		{"verify --rebuild step.command.each --seed 1", fault.CodeInput, `--seed can be used only with --sample`},
		{"verify --rebuild step.command.each --budget 0s", fault.CodeInput, `--budget 0s: want a time above 0`},
		{"verify --rebuild step.command.each --threads 0", fault.CodeInput, `--threads 0: want at least 1`},
		{"verify --rebuild step.command.each --by _", fault.CodeInput, `is not a valid name`},
		{"search -k 50 x", fault.CodeInput, `use --beams 50`},
		{"serve --listen nowhere:1:2", fault.CodeInput, `--listen`},
		{"serve --queue 0", fault.CodeInput, `at least 1`},
		{"worker --set-current", fault.CodeInput, `give --deployment as well`},
		{"worker --deployment a.b:v1", fault.CodeInput, `a name has no dot`},
		{"worker --queue redsi --temporal-address 127.0.0.1:1 --metrics-address 127.0.0.1:none", fault.CodeInput, `--metrics-address: .*none`},
		{"worker --idle-exit=-1s", fault.CodeInput, `cannot be negative`},
		{"test none", fault.CodeInput, `none`},
		{"test --filter ( study", fault.CodeInput, `filter`},
		{"apply nowhere.plan", fault.CodeInput, `nowhere.plan`},
		{"status --last=-1", fault.CodeInput, `negative`},
		{"verify --rebuild step.command.words --repair", fault.CodeInput, `give either --rebuild or --repair`},
		{"metrics", fault.CodeInput, `(?s)Did you mean this.*\n\s+report\n\s+trace\n`},
		{"repro", fault.CodeInput, `(?s)Did you mean this.*\n\s+run\n`},
		{"dag", fault.CodeInput, `(?s)Did you mean this.*\n\s+graph\n`},
		{"logs --failed --run last -f p/from.hcl", fault.CodeInput, `no store has the scheme "gopher"`},
		{"why x --run last -f p/from.hcl", fault.CodeInput, `no store has the scheme "gopher"`},
		{"diff a b -f p/from.hcl", fault.CodeInput, `no store has the scheme "gopher"`},
		{"diff p/two.hcl p/from.hcl", fault.CodeInput, `no-such-program`},
		{"plan -f p/two.hcl", fault.CodeInput, `(?s)^RUN +step.command.good .*1 step: 0 hit, 1 to run.*step.command.bad: .*no-such-program.*the plan has the other 1 step; left out, since they need this: 1 step\n$`},
		{"plan -f p/two.hcl -t step.command.bad", fault.CodeInput, `^redsi: .*no-such-program.*\n$`},
		{"plan -f p/two.hcl --out x.plan", fault.CodeInput, `^redsi: .*no-such-program.*\n$`},
	} {
		words := strings.Fields(c.line)
		for i := range words {
			words[i] = strings.TrimPrefix(words[i], "_")
		}
		var said bytes.Buffer
		if code := execute(t.Context(), kinds.Registry(), words, &said, &said, Paper{}); code != c.code || !regexp.MustCompile(c.said).MatchString(said.String()) {
			t.Errorf("%s: exit %d:\n%s", c.line, code, &said)
		}
	}
	testkit.Some(t, testkit.Err(os.Stat("x.plan")), "a plan without some of its steps was saved")
}

// TestFromFlags: verbs that read results of others have the flags that say whose.
func TestFromFlags(t *testing.T) {
	root := newRoot(newApp(&session.Session{Registry: &step.Registry{}}, io.Discard, io.Discard))
	for _, verb := range []string{"check", "accept", "force", "verify", "lsp", "plan", "run", "report", "trace", "why", "logs"} {
		cmd, _, err := root.Find([]string{verb})
		testkit.None(t, err)
		for _, name := range fromFlags {
			if !understands(cmd, name) {
				t.Errorf("%s has no --%s", verb, name)
			}
		}
	}
}

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
		testkit.None(t, err)
		testkit.None(t, at.ParseFlags(rest))
		a.cmd = at
		got := a.hint(c.verb, c.args...)
		testkit.Is(t, got, c.want, c.at)
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
		testkit.None(t, err)
		if a.cmd = at; at.ParseFlags(nil) != nil || at.Flags().Lookup("store").Value.Set("s") != nil {
			t.Fatal("no --store")
		}
		testkit.Is(t, a.hint("gc"), want, file)
		testkit.Is(t, a.hint("plan"), "redsi plan", file)
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
	testkit.Is(t, len(printedCommand.FindAllString(said, -1)), 4)
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
				testkit.None(t, understood(part), cmd.CommandPath(), part)
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
