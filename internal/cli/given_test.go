package cli

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/runs"
	"github.com/redsi/redsi/internal/session"
	"github.com/redsi/redsi/internal/stores/dir"
	"github.com/redsi/redsi/internal/stores/storetest"
	"github.com/redsi/redsi/internal/system/errtest"
	"github.com/redsi/redsi/internal/system/fault"
	"github.com/redsi/redsi/internal/system/filetest"
	"github.com/redsi/redsi/kinds"
	"github.com/redsi/redsi/step"
)

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
	errtest.None(t, os.Mkdir("p", 0o755))
	for name, text := range map[string]string{"from.hcl": twoSteps, "two.hcl": twoSteps[strings.Index(twoSteps, "step"):]} {
		filetest.Write(t, filepath.Join("p", name), text)
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
		{"plan --on voodoo2", fault.CodeInput, `--on: no rates of "voodoo2" are kept; there are those of v100-paper`},
		{"plan --on v100-paper --price cheap", fault.CodeInput, `invalid argument "cheap" for "--price"`},
		{"plan --on v100-paper --price NaN", fault.CodeInput, `--price NaN: want dollars`},
		{"plan --price 3", fault.CodeInput, `--price can be used only with --on`},
		{"init --corpus nowhere c", fault.CodeInput, `there is no folder nowhere`},
		{"plan --json --markdown -", fault.CodeInput, `give --markdown a file`},
		{"check --json --junit -", fault.CodeInput, `give --junit a file`},
		{"plan -f nowhere.hcl", fault.CodeInput, `(?s)nowhere.hcl.*redsi init`},
		{"nonsense", fault.CodeInput, `unknown command`},
		{"plan --taget table.counts", fault.CodeInput, `(?s)unknown flag: --taget.*usage: redsi plan .flags.; see redsi plan --help`},
		{"why", fault.CodeInput, `usage: redsi why STEP`},
		{"sources chek", fault.CodeInput, `unknown command "chek" for "redsi sources"; did you mean "check"`},
		{"sources chek --gone -f p", fault.CodeInput, `unknown command "chek" for "redsi sources"; did you mean "check"`},
		{"artifacts path X -f F", fault.CodeInput, `unknown command "path" for "redsi artifacts"; did you mean "get"`},
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
	if _, err := os.Stat("x.plan"); err == nil {
		t.Error("a plan without some of its steps was saved")
	}
}

// TestFromFlags: verbs that read results of others have the flags that say whose.
func TestFromFlags(t *testing.T) {
	root := newRoot(newApp(&session.Session{Registry: &step.Registry{}}, io.Discard, io.Discard))
	for _, verb := range []string{"check", "accept", "force", "verify", "lsp", "plan", "run", "report", "trace", "why", "logs"} {
		cmd, _, err := root.Find([]string{verb})
		errtest.None(t, err)
		for _, name := range fromFlags {
			if !understands(cmd, name) {
				t.Errorf("%s has no --%s", verb, name)
			}
		}
	}
}

// TestShellHasTheTerminal: a shell is given the streams of the process, not what we print on.
func TestShellHasTheTerminal(t *testing.T) {
	dir := t.TempDir()
	shell, seen := filepath.Join(dir, "shell"), filepath.Join(dir, "seen")
	filetest.Program(t, shell, "#!/bin/sh\necho prompt >&2\n")
	t.Setenv("SHELL", shell)
	f, err := os.Create(seen)
	errtest.None(t, err)
	defer f.Close()
	was := os.Stderr
	os.Stderr = f
	defer func() { os.Stderr = was }()
	var ours bytes.Buffer
	a := newApp(&session.Session{}, &ours, &ours)
	a.sayer.w = &ours
	errtest.None(t, a.enter(dir, nil))
	if b, err := os.ReadFile(seen); err != nil || string(b) != "prompt\n" {
		t.Errorf("standard error has %q, ours %q, %v", b, &ours, err)
	}
}

// TestOutcomesAreThoseOfPlan: an editor shows results of others as plan does, and counts
// none that the pipeline does not believe.
func TestOutcomesAreThoseOfPlan(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", "")
	t.Setenv("REDSI_SIGNING_KEY", "")
	root := t.TempDir()
	file := filepath.Join(root, "pipelines.hcl")
	filetest.Write(t, file, "step \"command\" \"a\" {\n  argv    = [\"sh\", \"-c\", \"echo a > out/a\"]\n  outputs = [\"a\"]\n}\n")
	app := func(state string) *app { // with the store that a state folder has
		a := newApp(&session.Session{Registry: kinds.Registry(), Log: slog.New(slog.DiscardHandler), File: file,
			StateDir: filepath.Join(root, state), StoreURL: filepath.Join(root, state, "store")}, io.Discard, io.Discard)
		a.cmd = newRoot(newApp(&session.Session{Registry: &step.Registry{}}, nil, nil))
		return a
	}
	a := app("theirs")
	v, err := a.Preview(t.Context(), session.Everything)
	errtest.None(t, err)
	d := storetest.Put(t, v.Store.Own, []byte("a"))
	r := artifacts.Result{Key: v.Items[0].Key, Preimage: v.Items[0].Preimage, Outputs: map[string]artifacts.Artifact{"stdout": {Type: "file", Digest: d, Size: 1}}}
	if _, _, err := artifacts.Publish(t.Context(), v.Store, r); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		state, from, untrusted, shared, want string
	}{
		{"mine", "", "", "", "RUN"},
		{"theirs", "", "", "", "HIT"},
		{"theirs", "", "", "run", "RUN"},
		{"mine", "theirs/store", "use", "", "HIT"},
		{"mine", "theirs/store", "", "", "RUN"},
	} {
		a := app(c.state)
		a.Others.Untrusted = c.untrusted
		if c.from != "" {
			a.Others.From = []string{c.from}
		}
		p, _, err := a.Evaluate(t.Context())
		errtest.None(t, err)
		p.Results.Shared = c.shared
		got, err := a.outcomes(t.Context(), root, file, p)
		if err != nil || got["step.command.a"].Word != c.want {
			t.Errorf("%+v: %+v, %v", c, got, err)
		}
	}
	if _, err := os.Stat(filepath.Join(root, "mine", "store")); err == nil {
		t.Error("a store was made")
	}
}

// TestShared: a file of two publish blocks is refused with the names of both, also where only a
// file system takes the two names for one.
func TestShared(t *testing.T) {
	owners := map[string]string{}
	for i, c := range []struct{ block, to, files, want string }{
		{"n", "results/metrics", "metrics.json a/b", ""},
		{"s", "results/metrics/", "other.json", ""},
		{"t", "results/Metrics", "new.json metrics.json", "publish n writes the file results/Metrics/metrics.json, too"},
		{"u", "results", "metrics/a/b", "publish n writes the file results/metrics/a/b, too"},
		{"u", "results", "b", ""},
	} {
		var list []artifacts.File
		for name := range strings.FieldsSeq(c.files) {
			list = append(list, artifacts.File{Name: name})
		}
		err := shared(owners, c.block, c.to, list)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%d: %v", i, err)
		}
	}
}

// TestOverwritten: on a terminal, of a progress bar the last state is shown.
func TestOverwritten(t *testing.T) {
	for text, want := range map[string]string{
		"plain\nlines\n":             "plain\nlines\n",
		"a\n 0%\r 50%\r100%\nb\n":    "a\n100%\nb\n",
		"\r 0%|  |\r 9%|# |\r\nnext": " 9%|# |\r\nnext",
		"dos\r\nlines\r\n":           "dos\r\nlines\r\n",
	} {
		if got := overwritten.ReplaceAllString(text, "$1"); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// TestSaidLast: what is said as the showing of a run ends is shown, though nobody reads what is said any more.
func TestSaidLast(t *testing.T) {
	var errw strings.Builder
	a := newApp(&session.Session{}, nil, &errw)
	a.sayer.w = &errw
	_, _, over := a.show()
	a.Say("took back pilots")
	over()
	if a.Say("the end"); errw.String() != "took back pilots\nthe end\n" {
		t.Errorf("%q", errw.String())
	}
}

// Where the results of a pipeline are under keys of another format, `redsi plan` says so.
func TestPlanOfOtherKeyFormat(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, "pipelines.hcl")
	filetest.Write(t, file, "step \"command\" \"x\" {\n  argv = [\"sh\"]\n  outputs = [\"o\"]\n}\n")
	state := filepath.Join(folder, ".redsi")
	store, err := dir.Open(filepath.Join(state, "store"))
	errtest.None(t, err)
	key := artifacts.Sum([]byte("a key of another format"))
	body := fmt.Appendf(nil, `{"format":%q,"key":%q,"preimage":{"format":"redsi-key/9"},"outputs":{},"finished":"2026-01-01T00:00:00Z","origin":{},"took_s":1`, artifacts.ResultFormat, key)
	errtest.None(t, store.Records.Create(t.Context(), artifacts.ResultName(key), fmt.Appendf(body, `,"seal":%q}`, artifacts.Sum(body))))
	rec := runs.Record{RunID: "20260101T000000Z-00000000", Pipeline: filepath.Base(file),
		Steps: []runs.Step{{Address: "step.command.x", Key: key, Outcome: runs.Ran}}}
	errtest.None(t, runs.Write(t.Context(), store, rec))
	var out, errw bytes.Buffer
	if code := execute(t.Context(), kinds.Registry(), []string{"plan", "-f", file, "--state", state}, &out, &errw, Paper{}); code != fault.CodeOK {
		t.Fatalf("exit %d: %s", code, &errw)
	}
	for _, want := range []string{"keys moved", "redsi-key/9", step.KeyFormat} {
		if !strings.Contains(errw.String(), want) {
			t.Errorf("it does not say %q: %s%s", want, &out, &errw)
		}
	}
}
