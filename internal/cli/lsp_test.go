package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/textproto"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redsi/redsi/internal/system/errtest"
	"github.com/redsi/redsi/internal/system/fault"
	"github.com/redsi/redsi/internal/system/filetest"
)

const edited = `variable "scale" {
  description = "How much."
  default     = "toy"
}

locals {
  sizes = { tiny = 1, base = 2 }
  files = step.download.nq["base"].files
}

step "download" "nq" {
  for_each = local.sizes
  urls     = ["https://127.0.0.1/${each.key}"]
  license  = var.scale
}

step "extract" "train" {
  files = local.files
  split = "train"
}

step "dedup" "nq" {
  train = step.extract.train.headers
  key   = "url"
}
`

func TestLanguageServer(t *testing.T) {
	t.Parallel()
	e := startEditor(t, map[string]string{"pipelines.hcl": edited})
	e.initialize()
	if d := e.open("pipelines.hcl", edited); d != "" {
		t.Fatalf("diagnostics of a valid pipeline: %s", d)
	}
	if d := e.change("pipelines.hcl", strings.Replace(edited, `key   = "url"`, `kee = "😀"`, 1)); !strings.Contains(d, "23:2-23:5 Unknown attribute\n") {
		t.Errorf("diagnostics: %s", d)
	}
	// Positions are in UTF-16, also where the text is not in NFC.
	if d := e.change("pipelines.hcl", "locals {\n  a = [\"x\u0302😀\", local.b]\n  c = local.a\n  d = local.c\n  e = local.d\n}\n"); !strings.Contains(d, "1:15-1:22 Undeclared local value\n") {
		t.Errorf("diagnostics behind wide characters: %s", d)
	}
	if d := e.change("pipelines.hcl", "step \"extract\" {"); !strings.Contains(d, "0:") {
		t.Errorf("diagnostics of what is no HCL: %q", d)
	}

	tests := []struct {
		name, text string
		want       []string // the first ones
		without    []string
	}{
		{"top", "|", []string{"step", "source", "environment", "table", "figure", "claim", "locals", "variable", "module", "output", "checklist", "paper", "publish", "limits", "results"}, nil},
		{"kind", edited + "step \"ext|", []string{"agree", "atomic_ids"}, []string{"render_table"}},
		{"attributes", edited + "step \"extract\" \"dev\" {\n  |\n}\n", []string{"files", "split"}, nil},
		{"written ones", strings.Replace(edited, "split = \"train\"", "split = \"train\"\n  |", 1), nil, []string{"files", "split"}},
		{"enum", edited + "step \"extract\" \"dev\" {\n  split = |", []string{`"dev"`, `"train"`}, nil},
		{"enum in quotes", edited + "step \"extract\" \"dev\" {\n  split = \"|\n}\n", []string{"dev", "train"}, nil},
		{"artifacts", edited + "step \"dedup\" \"x\" {\n  train = [|", []string{"step.extract.train.headers"}, []string{`step.download.nq["base"].files`}},
		{"variables", edited + "locals { x = var.|", []string{"scale"}, nil},
		{"locals", edited + "locals { x = \"${local.|", []string{"files", "sizes"}, nil},
		{"fields", edited + "locals { x = local.sizes.|", []string{"base", "tiny"}, nil},
		{"kinds", edited + "locals { x = step.|", []string{"dedup", "download", "extract"}, nil},
		{"accepting", edited + "step \"dedup\" \"x\" {\n  train = [step.|]\n}\n", []string{"extract"}, []string{"download"}},
		{"names", edited + "locals { x = step.extract.|", []string{"train"}, nil},
		{"outputs", edited + "locals { x = step.extract.train.|", []string{"headers", "records", "report"}, nil},
		{"instances", edited + "locals { x = step.download.nq[|", []string{`"base"`, `"tiny"`}, nil},
		{"instances in quotes", edited + "locals { x = step.download.nq[\"|", []string{"base", "tiny"}, nil},
		{"each", strings.Replace(edited, "{each.key}", "{each.|", 1), []string{"key", "value"}, nil},
		{"table columns", edited + "table \"t\" {\n  columns = [{ id = \"a\", | }]\n}\n", []string{"id", "title", "align"}, []string{"caption"}},
		{"sources", edited + "source \"raw\" { path = \".\" }\nlocals { x = source.|", []string{"raw"}, nil},
		{"files of a source", edited + "source \"raw\" { path = \".\" }\nlocals { x = source.raw.|", []string{"files"}, nil},
		{"attributes of a source", edited + "source \"raw\" {\n  |\n}\n", []string{"path"}, []string{"source"}},
		{"a comment", edited + "# step.|", nil, []string{"dedup"}},
		{"resources", edited + "step \"dedup\" \"x\" {\n  resources {\n    queue = |", []string{`"cpu"`, `"gpu"`}, nil},
	}
	e.change("pipelines.hcl", edited) // values are those of the last text that was HCL
	for _, test := range tests {
		got := e.labels("pipelines.hcl", test.text)
		if len(got) < len(test.want) || !slices.Equal(got[:len(test.want)], test.want) {
			t.Errorf("%s: offered %v, want %v first", test.name, got[:min(len(got), 12)], test.want)
		}
		for _, no := range test.without {
			if slices.Contains(got, no) {
				t.Errorf("%s: offers %s", test.name, no)
			}
		}
	}
	if got := e.labels("pipelines.hcl", edited+"locals { x = |"); !slices.Contains(got, "merge") || !slices.Contains(got, "local.sizes") {
		t.Errorf("an expression: offered %v", got)
	}

	if got := e.ask("textDocument/hover", e.at("pipelines.hcl", edited+"environment \"py\" { uv = \"uv.lock\" }\nlocals { y = environment.p|y }\n")); !strings.Contains(got, "as a lock file has it") {
		t.Errorf("an environment: %s", got)
	}
	e.answers("textDocument/hover", "pipelines.hcl", edited, map[string]string{
		`spl|it = "train"`:                 "train",
		`step "ext|ract" "train"`:          "**MAYBE** `step.extract.train`",
		`st|ep "dedup" "nq"`:               "**MAYBE** `step.dedup.nq`",
		`train = step.extract.tr|ain.head`: "**MAYBE**",
		`train.head|ers`:                   "artifact of type",
		`for_each = local.si|zes`:          "base = 2, tiny = 1",
		`license  = var.sc|ale`:            "toy",
		`var|iable "scale"`:                "toy",
		`for_|each = local.sizes`:          "each.key",
		`step "download" "n|q" {`:          "**RUN** `step.download.nq[\\\"base\\\"]`",
	})
	e.answers("textDocument/definition", "pipelines.hcl", edited, map[string]string{
		`train = step.extract.tr|ain.head`: `"line":16,"character":0`,
		`files = local.fi|les`:             `"line":7,"character":2`,
		`license  = var.sc|ale`:            `"line":0,"character":0`,
		`{each.k|ey}`:                      `"line":11,"character":2`,
		`sp|lit = "train"`:                 "null",
	})

	e.at("pipelines.hcl", edited+"|")
	document := object{"textDocument": object{"uri": e.uri("pipelines.hcl")}}
	if got := e.ask("textDocument/documentSymbol", document); !strings.Contains(got, `"name":"step.extract.train"`) || !strings.Contains(got, `"name":"local.sizes"`) {
		t.Errorf("symbols: %s", got)
	}
	e.end()
}

// TestLanguageServerAtOnce asks about a step before its pipeline has been loaded.
func TestLanguageServerAtOnce(t *testing.T) {
	t.Parallel()
	e := startEditor(t, nil)
	e.initialize()
	e.notify("textDocument/didOpen", object{"textDocument": object{"uri": e.uri("p.hcl"), "languageId": "hcl", "version": 1, "text": edited}})
	place := object{"textDocument": object{"uri": e.uri("p.hcl")}, "position": object{"line": 10, "character": 2}}
	if got := e.ask("textDocument/hover", place); !strings.Contains(got, "**RUN**") {
		t.Error(got)
	}
	e.end()
}

// TestLanguageServerFolder: files of one folder are one pipeline if they are not one each.
func TestLanguageServerFolder(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"a.hcl": "locals {\n  x = 1\n}\n",
		"b.hcl": "step \"download\" \"nq\" {\n  urls = [\"${local.x}\"]\n}\n",
	}
	e := startEditor(t, files)
	e.initialize()
	if d := e.open("b.hcl", files["b.hcl"]); d != "" {
		t.Errorf("b.hcl: %s", d)
	}
	e.answers("textDocument/definition", "b.hcl", files["b.hcl"], map[string]string{"local.|x": "a.hcl"})
	// What is typed in one file shows in the other.
	if d := e.open("a.hcl", "locals {\n  y = 1\n}\n"); d != "" && !strings.Contains(d, "Unused") {
		t.Errorf("a.hcl: %s", d)
	}
	if d := e.diagnostics("b.hcl"); !strings.Contains(d, "1:13-1:20 Undeclared local value") {
		t.Errorf("b.hcl after a.hcl: %s", d)
	}
	// Changes of a part of a text, counted in UTF-16.
	e.notify("textDocument/didChange", object{"textDocument": object{"uri": e.uri("a.hcl"), "version": 2}, "contentChanges": []object{
		{"range": object{"start": object{"line": 1, "character": 6}, "end": object{"line": 1, "character": 7}}, "text": "\"😀1\""},
		{"range": object{"start": object{"line": 1, "character": 9}, "end": object{"line": 1, "character": 10}}, "text": "2"},
		{"range": object{"start": object{"line": 1, "character": 2}, "end": object{"line": 1, "character": 3}}, "text": "x"},
	}})
	if d := e.diagnostics("b.hcl"); d != "" {
		t.Errorf("b.hcl after it was mended: %s", d)
	}
	e.answers("textDocument/hover", "b.hcl", files["b.hcl"], map[string]string{"local.|x": "😀2"})
	e.notify("textDocument/didClose", object{"textDocument": object{"uri": e.uri("a.hcl")}})
	e.end()
}

// TestLanguageServerParts: a file beside pipelines.hcl is checked together with it, also one
// that could stand alone.
func TestLanguageServerParts(t *testing.T) {
	t.Parallel()
	whole := "step \"download\" \"nq\" {\n  urls = [local.x]\n}\n"
	e := startEditor(t, map[string]string{"pipelines.hcl": whole, "part.hcl": "locals {\n  x = \"a\"\n}\n", "part.test.hcl": "", ".part.hcl": "no"})
	e.initialize()
	if d := e.open("pipelines.hcl", whole); d != "" {
		t.Errorf("pipelines.hcl: %s", d)
	}
	if d := e.open("part.hcl", "locals {\n  x = \"a\"\n}\nstep \"download\" \"nq\" {\n  urls = []\n}\n"); !strings.Contains(d, "Declared twice") {
		t.Errorf("part.hcl: %s", d)
	}
	e.end()
}

// TestLanguageServerBadMessages: each is answered by an error that says what is wrong, and
// the server goes on.
func TestLanguageServerBadMessages(t *testing.T) {
	e := startEditor(t, nil)
	e.raw("{nonsense")
	if got := e.answer("null"); !strings.Contains(got, "-32700") {
		t.Errorf("no JSON: %s", got)
	}
	e.raw("[1]")
	if got := e.answer("null"); !strings.Contains(got, "-32600") {
		t.Errorf("no object: %s", got)
	}
	if got := e.ask("textDocument/hover", object{}); !strings.Contains(got, "-32002") {
		t.Errorf("before initialize: %s", got)
	}
	e.initialize()
	for _, m := range []struct {
		method string
		params any
		want   string
	}{
		{"textDocument/rename", object{}, "-32601"},
		{"textDocument/hover", "text", "-32602"},
		{"textDocument/hover", object{"textDocument": object{"uri": "http://x/y"}}, "not the URI of a file"},
		{"textDocument/hover", object{"textDocument": object{"uri": e.uri("none.hcl")}}, "is not open"},
		{"textDocument/completion", nil, "-32602"},
		{"initialize", object{}, "twice"},
	} {
		if got := e.ask(m.method, m.params); !strings.Contains(got, m.want) {
			t.Errorf("%s %v: %s, want %s", m.method, m.params, got, m.want)
		}
	}
	e.open("x.hcl", "a")
	for _, p := range []object{{"line": -1, "character": -1}, {"line": 1 << 30, "character": 1 << 30}} {
		if got := e.ask("textDocument/completion", object{"textDocument": object{"uri": e.uri("x.hcl")}, "position": p}); !strings.Contains(got, "items") {
			t.Errorf("a place beyond the text: %s", got)
		}
	}
	e.end()
}

// TestLanguageServerEnds: with its client, however that ends.
func TestLanguageServerEnds(t *testing.T) {
	client := exec.Command("sleep", "600")
	errtest.None(t, client.Start())
	for want, end := range map[string]func(*editor){
		"without saying goodbye": func(e *editor) { e.initialize(); e.in.Close() },
		`Content-Length "x"`:     func(e *editor) { io.WriteString(e.in, "Content-Length: x\r\n\r\n") },
		"the client, process": func(e *editor) { // its input stays open
			e.ask("initialize", object{"processId": client.Process.Pid, "capabilities": object{}})
			client.Process.Kill()
			client.Wait()
		},
	} {
		e := startEditor(t, nil)
		end(e)
		if code := e.ended(); code != fault.CodeFailed || !strings.Contains(e.errs.String(), want) {
			t.Errorf("exit %d, not with %q: %s", code, want, e.errs)
		}
	}
}

const firstPaper = `variable "scale" {
  description = "How much."
  default     = "toy"
}

variable "shards" { type = list(string) }

step "download" "nq" {
  urls = [for s in var.shards : "https://127.0.0.1/${s}?${var.scale}"]
}

output "texts" {
  description = "All pages."
  value       = { nq = step.download.nq }
}

output "size" { value = length(var.shards) }
`

const secondPaper = `module "first" {
  source = "SOURCE"
  shards = ["a", "b"]
}

module "twice" {
  source   = "SOURCE"
  for_each = { x = "1", y = "2" }
  shards   = [each.value]
}

step "extract" "train" {
  files = module.first.texts.nq.files
  split = "train"
}

output "sizes" {
  value = [module.first.size, module.twice["x"].size]
}
`

// moduleFeatures asks about a document that has firstPaper as modules; file is where that
// is, uses the document's text.
func moduleFeatures(t *testing.T, e *editor, file, uses string) {
	t.Helper()
	if d := e.open("second.hcl", uses); d != "" {
		t.Fatalf("diagnostics of a valid pipeline: %s", d)
	}
	source := strings.SplitN(strings.SplitN(uses, "source = \"", 2)[1], "\"", 2)[0]
	for _, test := range []struct {
		text string
		want []string
	}{
		{uses + "module \"third\" {\n  source = \"" + source + "\"\n  |\n}\n", []string{"shards", "for_each", "otherwise", "scale", "when"}},
		{uses + "module \"third\" {\n  source = \"" + source + "\"\n  sh|", []string{"shards", "for_each", "otherwise", "scale", "when"}},
		{uses + "module \"third\" {\n  |", []string{"source", "for_each", "otherwise", "when"}},
		{uses + "output \"x\" {\n  |\n}\n", []string{"value", "description"}},
		{uses + "locals { x = module.|", []string{"first", "twice"}},
		{uses + "locals { x = module.first.|", []string{"size", "texts"}},
		{uses + "locals { x = module.first.texts.|", []string{"nq"}},
		{uses + "locals { x = module.first.texts.nq.|", []string{"files"}},
		{uses + "locals { x = module.twice[|", []string{`"x"`, `"y"`}},
		{uses + "locals { x = module.twice[\"x\"].|", []string{"size", "texts"}},
		{uses + "step \"extract\" \"dev\" {\n  files = module.first.|\n}\n", []string{"size", "texts"}},
		{strings.Replace(uses, "[each.value]", "[each.|", 1), []string{"key", "value"}},
	} {
		if got := e.labels("second.hcl", test.text); !slices.Equal(got, test.want) {
			t.Errorf("%s: offered %v, want %v", test.text[len(uses)-20:], got, test.want)
		}
	}
	e.answers("textDocument/hover", "second.hcl", uses, map[string]string{
		`sha|rds = ["a", "b"]`:   "(list(string), required)",
		`mod|ule "first"`:        "**RUN** `module.first.step.download.nq`",
		`module "fir|st"`:        "`output.texts` All pages.",
		`module.first.te|xts.nq`: "All pages.",
		`module.first.si|ze`:     "```hcl\\n2\\n```",
		`["x"].si|ze`:            "`module.twice[\\\"x\\\"].size`\\n\\n```hcl\\n1\\n```",
		`[module.fir|st.size`:    "The pipeline",
		`output "si|zes"`:        "2, 1",
		`for_e|ach = { x`:        "each.key",
	})
	e.answers("textDocument/definition", "second.hcl", uses, map[string]string{
		`sha|rds = ["a", "b"]`:   file + `","range":{"start":{"line":5,"character":0}`,
		`module.first.te|xts.nq`: file + `","range":{"start":{"line":11,"character":0}`,
		`texts.n|q.files`:        file + `","range":{"start":{"line":11,"character":0}`,
		`["x"].si|ze`:            file + `","range":{"start":{"line":16,"character":0}`,
		`module.tw|ice["x"]`:     `second.hcl","range":{"start":{"line":5,"character":0}`,
		`"` + source[:3] + `|`:   file,
		`[each.va|lue]`:          `second.hcl","range":{"start":{"line":7,"character":2}`,
	})
}

// TestLanguageServerModules: of a folder, whose files may be open as well.
func TestLanguageServerModules(t *testing.T) {
	t.Parallel()
	uses := strings.ReplaceAll(secondPaper, "SOURCE", "./first")
	e := startEditor(t, map[string]string{"first/p.hcl": firstPaper, "second.hcl": uses})
	e.initialize()
	moduleFeatures(t, e, "first/p.hcl", uses)
	e.change("second.hcl", uses)
	if d := e.open("first/p.hcl", firstPaper+"variable \"more\" {}\n"); !strings.Contains(d, "Variable without a value") {
		t.Errorf("first/p.hcl: %s", d)
	}
	if d := e.diagnostics("second.hcl"); !strings.Contains(d, "Variable without a value") {
		t.Errorf("second.hcl after its module: %s", d)
	}
	if got := e.labels("second.hcl", strings.Replace(uses, "\"b\"]\n", "\"b\"]\n  |\n", 1)); !slices.Equal(got, []string{"more", "for_each", "otherwise", "scale", "when"}) {
		t.Errorf("offered %v", got)
	}
	e.end()
}

// TestLanguageServerRepository: a module of a git repository is known if it is pinned, and
// is not fetched otherwise.
func TestLanguageServerRepository(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	repository, err := filepath.EvalSymlinks(t.TempDir())
	errtest.None(t, err)
	filetest.Write(t, filepath.Join(repository, "p.hcl"), firstPaper)
	command := func(dir, name string, args ...string) {
		t.Helper()
		cmd := exec.Command(name, args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s %v: %v\n%s", name, args, err, out)
		}
	}
	command(repository, "git", "init", "--quiet", "--initial-branch=main")
	command(repository, "git", "add", ".")
	command(repository, "git", "-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "--quiet", "-m", "first")
	uses := strings.ReplaceAll(secondPaper, "SOURCE", "git::file://"+repository+"//p.hcl?ref=main")

	e := startEditor(t, map[string]string{"second.hcl": uses})
	e.initialize()
	if d := e.open("second.hcl", uses); !strings.Contains(d, "Module not available") {
		t.Errorf("not pinned: %s", d)
	}
	if _, err := os.Stat(filepath.Join(e.dir, "redsi.lock")); err == nil {
		t.Error("the editor pinned it")
	}
	command(e.dir, "redsi", "validate", "-f", "second.hcl")
	moduleFeatures(t, e, "p.hcl", uses)
	e.end()
}

// editor is a client of the language server: the program, over its standard streams.
type editor struct {
	t    *testing.T
	dir  string
	cmd  *exec.Cmd
	in   io.WriteCloser
	msgs chan map[string]json.RawMessage
	errs *strings.Builder
	id   int
	diag map[string]string // the last diagnostics of each file
}

type object = map[string]any

// startEditor starts a server in a folder with the given files.
func startEditor(t *testing.T, files map[string]string, args ...string) *editor {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	errtest.None(t, err)
	for name, text := range files {
		filetest.Write(t, filepath.Join(dir, name), text)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute) // a server that hangs ends the test
	t.Cleanup(cancel)
	e := &editor{t: t, dir: dir, cmd: exec.CommandContext(ctx, "redsi", append([]string{"lsp"}, args...)...), msgs: make(chan map[string]json.RawMessage, 100),
		errs: &strings.Builder{}, diag: map[string]string{}}
	e.cmd.Dir, e.cmd.Stderr = dir, e.errs
	in, err := e.cmd.StdinPipe()
	errtest.None(t, err)
	out, err := e.cmd.StdoutPipe()
	errtest.None(t, err)
	errtest.None(t, e.cmd.Start())
	e.in = in
	go func() {
		defer close(e.msgs)
		r := bufio.NewReader(out)
		for {
			h, err := textproto.NewReader(r).ReadMIMEHeader()
			if err != nil {
				return
			}
			n, _ := strconv.Atoi(h.Get("Content-Length"))
			b := make([]byte, n)
			if _, err := io.ReadFull(r, b); err != nil {
				return
			}
			var m map[string]json.RawMessage
			if json.Unmarshal(b, &m) == nil {
				e.msgs <- m
			}
		}
	}()
	return e
}

func (e *editor) raw(body string) {
	e.t.Helper()
	errtest.None(e.t, errtest.Of(fmt.Fprintf(e.in, "Content-Length: %d\r\n\r\n%s", len(body), body)))
}

func (e *editor) send(m object) {
	e.t.Helper()
	m["jsonrpc"] = "2.0"
	b, err := json.Marshal(m)
	errtest.None(e.t, err)
	e.raw(string(b))
}

func (e *editor) notify(method string, params any) {
	e.t.Helper()
	e.send(object{"method": method, "params": params})
}

// next is the next message; diagnostics are kept.
func (e *editor) next() map[string]json.RawMessage {
	e.t.Helper()
	m, ok := <-e.msgs
	if !ok {
		e.cmd.Wait()
		e.t.Fatalf("the server ended: %s", e.errs)
	}
	if string(m["method"]) == `"textDocument/publishDiagnostics"` {
		var p struct {
			URI         string
			Diagnostics []struct {
				Range   struct{ Start, End struct{ Line, Character int } }
				Message string
			}
		}
		errtest.None(e.t, json.Unmarshal(m["params"], &p))
		text := ""
		for _, d := range p.Diagnostics {
			r := d.Range
			text += fmt.Sprintf("%d:%d-%d:%d %s\n", r.Start.Line, r.Start.Character, r.End.Line, r.End.Character, strings.SplitN(d.Message, "\n", 2)[0])
		}
		e.diag[filepath.Base(p.URI)] = text
	}
	return m
}

// ask sends a request and returns its result, or its error as text.
func (e *editor) ask(method string, params any) string {
	e.t.Helper()
	e.id++
	e.send(object{"id": e.id, "method": method, "params": params})
	return e.answer(strconv.Itoa(e.id))
}

func (e *editor) answer(id string) string {
	e.t.Helper()
	for {
		m := e.next()
		if string(m["id"]) != id || m["method"] != nil {
			continue
		}
		if m["error"] != nil {
			return "error " + string(m["error"])
		}
		return string(m["result"])
	}
}

func (e *editor) uri(file string) string {
	return "file://" + filepath.ToSlash(filepath.Join(e.dir, file))
}

func (e *editor) initialize() {
	e.t.Helper()
	if got := e.ask("initialize", object{"processId": os.Getpid(), "rootUri": "file://" + e.dir, "capabilities": object{}}); !strings.Contains(got, `"hoverProvider":true`) {
		e.t.Fatal(got)
	}
	e.notify("initialized", object{})
}

// open opens a file and waits for its diagnostics.
func (e *editor) open(file, text string) string {
	e.t.Helper()
	e.notify("textDocument/didOpen", object{"textDocument": object{"uri": e.uri(file), "languageId": "hcl", "version": 1, "text": text}})
	return e.diagnostics(file)
}

func (e *editor) diagnostics(file string) string {
	e.t.Helper()
	file = filepath.Base(file)
	delete(e.diag, file)
	for {
		if d, ok := e.diag[file]; ok {
			return d
		}
		e.next()
	}
}

// change replaces the text of a file and waits for its diagnostics.
func (e *editor) change(file, text string) string {
	e.t.Helper()
	e.notify("textDocument/didChange", object{"textDocument": object{"uri": e.uri(file), "version": 2}, "contentChanges": []object{{"text": text}}})
	return e.diagnostics(file)
}

// at is the parameters of a request about the place of a "|" in a text, which the document
// then has without it.
func (e *editor) at(file, text string) object {
	e.t.Helper()
	before, after, ok := strings.Cut(text, "|")
	if !ok {
		e.t.Fatalf("no place in %q", text)
	}
	e.change(file, before+after)
	line := before[strings.LastIndexByte(before, '\n')+1:]
	units := 0
	for _, r := range line {
		if units++; r > 0xFFFF {
			units++
		}
	}
	return object{"textDocument": object{"uri": e.uri(file)}, "position": object{"line": strings.Count(before, "\n"), "character": units}}
}

// answers asks about places of a text, each a part of it with a "|", and looks for what the answer has.
func (e *editor) answers(request, file, text string, want map[string]string) {
	e.t.Helper()
	for place, want := range want {
		plain := strings.Replace(place, "|", "", 1)
		if got := e.ask(request, e.at(file, strings.Replace(text, plain, place, 1))); !strings.Contains(got, want) {
			e.t.Errorf("%s %s: %s, want %s", request, place, got, want)
		}
	}
}

// labels are what is offered, in the order in which clients show it.
func (e *editor) labels(file, text string) []string {
	e.t.Helper()
	var list struct {
		Items []struct{ Label, SortText string }
	}
	got := e.ask("textDocument/completion", e.at(file, text))
	if err := json.Unmarshal([]byte(got), &list); err != nil {
		e.t.Fatal(got)
	}
	slices.SortStableFunc(list.Items, func(a, b struct{ Label, SortText string }) int { return strings.Compare(a.SortText, b.SortText) })
	var labels []string
	for _, i := range list.Items {
		labels = append(labels, i.Label)
	}
	return labels
}

// end says goodbye, and the server must end well.
func (e *editor) end() {
	e.t.Helper()
	e.ask("shutdown", nil)
	e.notify("exit", nil)
	if code := e.ended(); code != fault.CodeOK {
		e.t.Errorf("exit %d: %s", code, e.errs)
	}
}

// ended waits for the end of the server, and returns its exit code.
func (e *editor) ended() int {
	for range e.msgs {
	}
	e.cmd.Wait()
	return e.cmd.ProcessState.ExitCode()
}
