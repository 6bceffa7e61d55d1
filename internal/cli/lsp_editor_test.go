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

	"github.com/redsi/redsi/internal/system/fault"
	"github.com/redsi/redsi/internal/system/testkit"
)

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
	testkit.None(t, err)
	for name, text := range files {
		testkit.Write(t, filepath.Join(dir, name), text)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute) // a server that hangs ends the test
	t.Cleanup(cancel)
	e := &editor{t: t, dir: dir, cmd: exec.CommandContext(ctx, "redsi", append([]string{"lsp"}, args...)...), msgs: make(chan map[string]json.RawMessage, 100),
		errs: &strings.Builder{}, diag: map[string]string{}}
	e.cmd.Dir, e.cmd.Stderr = dir, e.errs
	in, err := e.cmd.StdinPipe()
	testkit.None(t, err)
	out, err := e.cmd.StdoutPipe()
	testkit.None(t, err)
	testkit.None(t, e.cmd.Start())
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
	testkit.None(e.t, testkit.Err(fmt.Fprintf(e.in, "Content-Length: %d\r\n\r\n%s", len(body), body)))
}

func (e *editor) send(m object) {
	e.t.Helper()
	m["jsonrpc"] = "2.0"
	b, err := json.Marshal(m)
	testkit.None(e.t, err)
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
		testkit.None(e.t, json.Unmarshal(m["params"], &p))
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
