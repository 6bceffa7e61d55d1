package cli

import (
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/system/fault"
	"github.com/redsi/redsi/internal/system/testkit"
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
	testkit.Says(t, e.change("pipelines.hcl", "step \"extract\" {"), "0:")

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
	got := e.ask("textDocument/documentSymbol", document)
	testkit.Says(t, got, `"name":"step.extract.train"`, `"name":"local.sizes"`)
	e.end()
}

// TestLanguageServerAtOnce asks about a step before its pipeline has been loaded.
func TestLanguageServerAtOnce(t *testing.T) {
	t.Parallel()
	e := startEditor(t, nil)
	e.initialize()
	e.notify("textDocument/didOpen", object{"textDocument": object{"uri": e.uri("p.hcl"), "languageId": "hcl", "version": 1, "text": edited}})
	place := object{"textDocument": object{"uri": e.uri("p.hcl")}, "position": object{"line": 10, "character": 2}}
	testkit.Says(t, e.ask("textDocument/hover", place), "**RUN**")
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
	testkit.Is(t, e.open("b.hcl", files["b.hcl"]), "")
	e.answers("textDocument/definition", "b.hcl", files["b.hcl"], map[string]string{"local.|x": "a.hcl"})
	// What is typed in one file shows in the other.
	if d := e.open("a.hcl", "locals {\n  y = 1\n}\n"); d != "" && !strings.Contains(d, "Unused") {
		t.Errorf("a.hcl: %s", d)
	}
	testkit.Says(t, e.diagnostics("b.hcl"), "1:13-1:20 Undeclared local value")
	// Changes of a part of a text, counted in UTF-16.
	e.notify("textDocument/didChange", object{"textDocument": object{"uri": e.uri("a.hcl"), "version": 2}, "contentChanges": []object{
		{"range": object{"start": object{"line": 1, "character": 6}, "end": object{"line": 1, "character": 7}}, "text": "\"😀1\""},
		{"range": object{"start": object{"line": 1, "character": 9}, "end": object{"line": 1, "character": 10}}, "text": "2"},
		{"range": object{"start": object{"line": 1, "character": 2}, "end": object{"line": 1, "character": 3}}, "text": "x"},
	}})
	testkit.Is(t, e.diagnostics("b.hcl"), "")
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
	testkit.Is(t, e.open("pipelines.hcl", whole), "")
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
	testkit.Says(t, e.answer("null"), "-32700")
	e.raw("[1]")
	testkit.Says(t, e.answer("null"), "-32600")
	testkit.Says(t, e.ask("textDocument/hover", object{}), "-32002")
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
	testkit.None(t, client.Start())
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
