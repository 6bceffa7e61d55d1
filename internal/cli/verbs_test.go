package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
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

	"github.com/redsi/redsi/activities"
	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/host/isolation"
	"github.com/redsi/redsi/internal/paper/alike"
	"github.com/redsi/redsi/internal/paper/expect"
	"github.com/redsi/redsi/internal/runs"
	"github.com/redsi/redsi/internal/session"
	"github.com/redsi/redsi/internal/session/drive"
	"github.com/redsi/redsi/internal/sharing/rebuild"
	"github.com/redsi/redsi/internal/stores/dir"
	"github.com/redsi/redsi/internal/stores/hashed"
	"github.com/redsi/redsi/internal/stores/mem"
	"github.com/redsi/redsi/internal/stores/open"
	"github.com/redsi/redsi/internal/stores/storetest"
	"github.com/redsi/redsi/internal/system/errtest"
	"github.com/redsi/redsi/internal/system/fault"
	"github.com/redsi/redsi/internal/system/filetest"
	"github.com/redsi/redsi/kinds"
	"github.com/redsi/redsi/step"
)

// TestAwait: a change is told once nothing changes any more; a file that comes or goes is a change, and
// one that changed during the run is told at once.
func TestAwait(t *testing.T) {
	at := func(n int64) hashed.Stamp { return hashed.Stamp{Size: n} }
	old := stamps{"a": at(1), "b": at(1)}
	for name, c := range map[string]struct {
		looks []stamps
		want  []string
	}{
		"edited":         {[]stamps{old, {"a": at(2), "b": at(1)}, {"a": at(3), "b": at(1)}, {"a": at(3), "b": at(1)}}, []string{"a"}},
		"two":            {[]stamps{{"a": at(2), "b": at(1)}, {"a": at(2), "b": {}}, {"a": at(2), "b": {}}}, []string{"a", "b"}},
		"new":            {[]stamps{{"a": at(1), "b": at(1), "c": at(1)}, {"a": at(1), "b": at(1), "c": at(1)}}, []string{"c"}},
		"and back again": {[]stamps{{"a": at(2), "b": at(1)}, old, old}, nil},
	} {
		ctx, stop := context.WithCancel(t.Context())
		ticks := make(chan time.Time, len(c.looks))
		for range c.looks {
			ticks <- time.Time{}
		}
		got := await(ctx, old, func() stamps {
			now := c.looks[0]
			if c.looks = c.looks[1:]; len(c.looks) == 0 && c.want == nil {
				stop()
			}
			return now
		}, ticks)
		if stop(); !slices.Equal(got, c.want) || len(c.looks) > 0 {
			t.Errorf("%s: %v, %d looks left", name, got, len(c.looks))
		}
	}
}

// TestLook: watched are the files of the pipeline's folder and what a plan has read, also while they are
// not there, and no settings, which are read once.
func TestLook(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "pipelines.hcl")
	a := newApp(&session.Session{File: file, VarFiles: []string{filepath.Join(dir, "gone.json")}}, io.Discard, io.Discard)
	for _, name := range []string{"pipelines.hcl", "more.hcl", "other.txt", "redsi.local.hcl"} {
		filetest.Write(t, filepath.Join(dir, name), "x")
	}
	before := a.look()
	if len(before) != 3 || before[file].Size != 1 || before[filepath.Join(dir, "gone.json")] != (hashed.Stamp{}) {
		t.Errorf("%v", before)
	}
	errtest.None(t, os.Remove(file))
	if got := a.look().changed(before); !slices.Equal(got, []string{file}) {
		t.Errorf("changed %v", got)
	}
}

// TestNotify: the end of a run is told by HTTP or to a command, a second time if that failed, and what
// fails in the end is a warning without the address.
func TestNotify(t *testing.T) {
	defer func(d time.Duration) { notifyAgain = d }(notifyAgain)
	notifyAgain = 0
	var got []string
	refuse := 1
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		got = append(got, r.Method+" "+r.Header.Get("Content-Type")+" "+string(b))
		if refuse--; refuse >= 0 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	defer server.Close()
	var said bytes.Buffer
	a := newApp(&session.Session{File: "p.hcl"}, io.Discard, io.Discard)
	a.Log = slog.New(slog.NewTextHandler(&said, nil))
	sum := &drive.Summary{Pipeline: "p.hcl", Hit: 3, Ran: 1}
	sum.Of.Store = artifacts.Alone(mem.New())
	a.notify(t.Context(), server.URL+"/?token=hidden", time.Now(), sum, nil)
	if len(got) != 2 || got[0] != got[1] || said.Len() > 0 {
		t.Fatalf("got %q, said %s", got, &said)
	}
	var n notice
	if text, ok := strings.CutPrefix(got[1], "POST application/json "); !ok || json.Unmarshal([]byte(text), &n) != nil || n.Pipeline != "p.hcl" || !n.OK || n.Counts["hit"] != 3 || n.Counts["ran"] != 1 {
		t.Errorf("%q", got[1])
	}
	cancelled, stop := context.WithCancel(t.Context())
	stop()
	file := filepath.Join(t.TempDir(), "notice")
	a.notify(cancelled, "cat > '"+file+"'", time.Now(), nil, errors.New("a step said a secret"))
	if b, err := os.ReadFile(file); err != nil || !strings.HasPrefix(string(b), `{"pipeline":"p.hcl","ok":false,"cancelled":true,"seconds":`) || said.Len() > 0 {
		t.Errorf("%q, %v, said %s", b, err, &said)
	}
	refuse = 2
	a.notify(t.Context(), server.URL+"/?token=hidden", time.Now(), sum, nil)
	a.notify(t.Context(), "echo no such address; exit 3", time.Now(), sum, nil)
	for _, want := range []string{"503 Service Unavailable", "exit status 3: no such address"} {
		if !strings.Contains(said.String(), want) || strings.Contains(said.String(), "hidden") {
			t.Errorf("said %s", &said)
		}
	}
	for to, ok := range map[string]bool{"": true, "https://x": true, "http://x": true, "notify-send done": true, "curl -d @- https://x": true, "ftp://x": false, "slack://x": false} {
		if err := (runOptions{notify: to}).checkNotify(); (err == nil) != ok {
			t.Errorf("%s: %v", to, err)
		}
	}
}

// TestBudget: a command takes no more of the processor's time than what is bearable at a prompt, at a tabulator key and
// for each load of a large block. The bounds are five times what an idle machine takes; the least of three counts.
func TestBudget(t *testing.T) {
	large := filepath.Join(t.TempDir(), "pipelines.hcl")
	filetest.Write(t, large, `step "command" "w" {
  for_each = toset([for i in range(1000) : format("%04d", i)])
  argv     = ["sh", "-c", "echo ${each.key}"]
}
`)
	paper, err := filepath.Abs(filepath.Join("..", ".."))
	errtest.None(t, err)
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
			if err := c.Run(); err != nil {
				t.Fatalf("%v: %v", tt.args, err)
			}
			least = min(least, c.ProcessState.UserTime()+c.ProcessState.SystemTime())
		}
		if least > tt.bound {
			t.Errorf("redsi %v takes %s of the processor's time, more than %s", tt.args, least, tt.bound)
		}
	}
}

// TestWorkerModules: the files and modules of a pipeline that a workflow names lie where the
// worker accepts pipelines.
func TestWorkerModules(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	for name, text := range map[string]string{
		"in/good.hcl":   "module \"m\" {\n  source = \"./m.hcl\"\n}\n",
		"in/bad.hcl":    "module \"m\" {\n  source = \"../out/m.hcl\"\n}\n",
		"in/remote.hcl": "module \"m\" {\n  source = \"git::file:///nowhere?ref=v1\"\n}\n",
		"in/m.hcl":      "",
		"out/m.hcl":     "",

		"in/whole/pipelines.hcl":  "locals {\n  x = local.y\n}\n",
		"in/whole/more.hcl":       "locals {\n  y = 1\n}\n",
		"in/linked/pipelines.hcl": "",
		"in/module.hcl":           "module \"m\" {\n  source = \"./linked\"\n}\n",
	} {
		path := filepath.Join(top, name)
		filetest.Write(t, path, text)
	}
	errtest.None(t, os.Symlink(filepath.Join(top, "out", "m.hcl"), filepath.Join(top, "in", "linked", "more.hcl")))
	a := newApp(&session.Session{Registry: kinds.Registry(), StateDir: filepath.Join(top, "state")}, nil, nil)
	accept := (&activities.Activities{Accept: []string{filepath.Join(top, "in")}}).Accepts
	const refused = "does not accept"
	for file, want := range map[string]string{"good.hcl": "", "bad.hcl": refused, "remote.hcl": "is not pinned",
		"whole/pipelines.hcl": "", "linked/pipelines.hcl": refused, "linked": refused, "module.hcl": refused} {
		_, _, err := a.OpenForWorker(t.Context(), accept, filepath.Join(top, "in", file), nil, nil)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", file, err, want)
		}
	}
}

// TestDamagedChecks: JSON that something stands behind is not what the table had.
func TestDamagedChecks(t *testing.T) {
	dir := t.TempDir()
	store, err := open.Store(t.Context(), dir)
	errtest.None(t, err)
	d := storetest.Put(t, store, []byte(`{"stubs": []}`))
	r := &artifacts.Result{Outputs: map[string]artifacts.Artifact{"json": {Type: "table/json", Digest: d}}}
	errtest.None(t, errtest.Of(expect.Result(t.Context(), "table.x", []byte(`{}`), r, store.Blobs.Open)))
	blobs, err := filepath.Glob(filepath.Join(dir, "blobs", "*", "*"))
	if err != nil || len(blobs) != 1 {
		t.Fatalf("%q, %v", blobs, err)
	}
	errtest.None(t, errors.Join(os.Chmod(blobs[0], 0o644), os.WriteFile(blobs[0], []byte(`{"stubs": []} `), 0o644)))
	var damaged *artifacts.IntegrityError
	if _, err := expect.Result(t.Context(), "table.x", []byte(`{}`), r, store.Blobs.Open); !errors.As(err, &damaged) {
		t.Errorf("a damaged blob: %v", err)
	}
}

// fitted is a kind that leaves another model each time, and asking one that says how good
// a model is.
type fitted struct {
	Seed int `hcl:"seed" help:"of the model"`
}

type asking struct {
	Model   step.Input `hcl:"model" help:"the model"`
	Queries int        `hcl:"queries" help:"how many"`
}

func modelKinds() *step.Registry {
	write := func(x *step.IO, output, text string) error {
		w, err := x.Create(output)
		if err != nil {
			return err
		}
		if _, err := io.WriteString(w, text); err != nil {
			return err
		}
		return w.Close()
	}
	made := 0
	return step.NewRegistry(
		step.Define(step.Kind[fitted]{Name: "fit", Version: 1, Doc: "Fit.", Inline: true,
			Outputs: []step.Output{{Name: "model", Type: "m", Alike: step.Evaluated{By: "ask", Output: "report", Fields: map[string]step.Margin{"mrr": {Abs: 1}}}}},
			Run: func(_ context.Context, x *step.IO, c fitted) error {
				made++
				return write(x, "model", fmt.Sprint(c.Seed+made/3)) // the third one is another
			}}),
		step.Define(step.Kind[asking]{Name: "ask", Version: 1, Doc: "Ask.", Inline: true, Outputs: []step.Output{{Name: "report", Type: "r"}},
			Run: func(_ context.Context, x *step.IO, c asking) error {
				r, err := x.Open(c.Model)
				if err != nil {
					return err
				}
				defer r.Close()
				b, err := io.ReadAll(r)
				if err != nil {
					return err
				}
				return write(x, "report", fmt.Sprintf(`{"mrr": %s, "queries": %d}`, b, c.Queries))
			}}))
}

// TestRebuildAsks: the steps that evaluate a model are found in the whole pipeline, though
// the model needs none of them, and those of other models are left alone.
func TestRebuildAsks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "pipelines.hcl")
	filetest.Write(t, file, `
step "fit" "a" {
  for_each = toset(["x", "y"])
  seed     = each.key == "x" ? 50 : 70
}
step "ask" "few" {
  model   = step.fit.a["x"].model
  queries = 10
}
step "ask" "many" {
  for_each = toset(["100", "200"])
  model    = step.fit.a["x"].model
  queries  = tonumber(each.key)
}
step "ask" "other" {
  model   = step.fit.a["y"].model
  queries = 10
}
`)
	p := &paper{t: t, kinds: modelKinds(), args: []string{"-f", file, "--state", filepath.Join(dir, "state")}}
	rebuilt := func(args ...string) (all rebuild.All) {
		t.Helper()
		p.json(&all, append([]string{"verify", "--json", "--rebuild"}, args...)...)
		return all
	}
	p.run("run")
	got := rebuilt(`step.fit.a["x"]`)
	if got.Within != 1 || len(got.Steps) != 1 {
		t.Fatalf("%+v", got)
	}
	f := got.Steps[0].Outputs[0]
	want := []string{"step.ask.few", `step.ask.many["100"]`, `step.ask.many["200"]`}
	if f.Verdict != alike.Within || !slices.Equal(f.By, want) || got.Steps[0].Attestation == "" {
		t.Errorf("%+v, attested as %q", f, got.Steps[0].Attestation)
	}
	if late := rebuilt(`step.fit.a`, "--budget", "1ns"); len(late.LeftOut) != 2 || len(late.Steps) != 0 || late.LeftOut[0].ExpectsS <= 0 {
		t.Errorf("%+v", late)
	}
	plan := p.run("plan", "--detailed-exitcode")
	if !bytes.Contains(plan, []byte("6 hit")) {
		t.Errorf("what stands is another:\n%s", plan)
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
		{"plan --on voodoo2", fault.CodeInput, `--on: no rates of "voodoo2" are kept; there are rates of v100-paper`},
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
