package lsp

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/textproto"
	"net/url"
	"path/filepath"
	"sort"
	"strconv"
	"sync"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
)

// The parts of the Language Server Protocol 3.17 that this server speaks, by the names and numbers of its specification.

type position struct {
	Line      int `json:"line"`
	Character int `json:"character"` // UTF-16 code units
}

type span struct {
	Start position `json:"start"`
	End   position `json:"end"`
}

type location struct {
	URI   string `json:"uri"`
	Range span   `json:"range"`
}

type textDocument struct {
	URI     string `json:"uri"`
	Version int    `json:"version"`
	Text    string `json:"text"`
}

// placeParams are the parameters of requests about a place, or about a document.
type placeParams struct {
	TextDocument textDocument `json:"textDocument"`
	Position     position     `json:"position"`
}

type changeParams struct {
	TextDocument   textDocument `json:"textDocument"`
	ContentChanges []struct {
		Range *span  `json:"range"`
		Text  string `json:"text"`
	} `json:"contentChanges"`
}

type initializeParams struct {
	ProcessID    *int   `json:"processId"`
	RootURI      string `json:"rootUri"`
	Capabilities struct {
		TextDocument struct {
			Completion struct {
				CompletionItem struct {
					SnippetSupport bool `json:"snippetSupport"`
				} `json:"completionItem"`
			} `json:"completion"`
		} `json:"textDocument"`
	} `json:"capabilities"`
}

type diagnostic struct {
	Range    span          `json:"range"`
	Severity int           `json:"severity"` // 1 error, 2 warning
	Source   string        `json:"source"`
	Message  string        `json:"message"`
	Related  []relatedInfo `json:"relatedInformation,omitempty"`
}

type relatedInfo struct {
	Location location `json:"location"`
	Message  string   `json:"message"`
}

type markup struct {
	Kind  string `json:"kind"` // "markdown"
	Value string `json:"value"`
}

type hover struct {
	Contents markup `json:"contents"`
	Range    *span  `json:"range,omitempty"`
}

type textEdit struct {
	Range   span   `json:"range"`
	NewText string `json:"newText"`
}

type completionList struct {
	IsIncomplete bool             `json:"isIncomplete"`
	Items        []completionItem `json:"items"`
}

type completionItem struct {
	Label         string   `json:"label"`
	Kind          int      `json:"kind"`
	Detail        string   `json:"detail,omitempty"`
	Documentation *markup  `json:"documentation,omitempty"`
	SortText      string   `json:"sortText"`
	Format        int      `json:"insertTextFormat"` // 1 plain text, 2 snippet
	TextEdit      textEdit `json:"textEdit"`
}

// Kinds of completion items.
const (
	itemFunction = 3
	itemField    = 5
	itemVariable = 6
	itemClass    = 7
	itemModule   = 9
	itemProperty = 10
	itemValue    = 12
	itemKeyword  = 14
	itemRef      = 18
)

type symbol struct {
	Name      string   `json:"name"`
	Kind      int      `json:"kind"`
	Range     span     `json:"range"`
	Selection span     `json:"selectionRange"`
	Children  []symbol `json:"children,omitempty"`
}

// Kinds of symbols.
const (
	symbolNamespace = 3
	symbolClass     = 5
	symbolVariable  = 13
	symbolConstant  = 14
	symbolObject    = 19
)

// text is a document with the offsets of its lines.
type text struct {
	src    string
	starts []int
}

func newText(src string) *text {
	t := &text{src: src, starts: []int{0}}
	for i := range len(src) {
		if src[i] == '\n' {
			t.starts = append(t.starts, i+1)
		}
	}
	return t
}

// offset is the byte at a position; of one beyond a line or the text, the end of these.
func (t *text) offset(p position) int {
	switch {
	case p.Line < 0:
		return 0
	case p.Line >= len(t.starts):
		return len(t.src)
	}
	at, units := t.starts[p.Line], 0
	for at < len(t.src) && t.src[at] != '\n' && units < p.Character {
		r, n := utf8.DecodeRuneInString(t.src[at:])
		at, units = at+n, units+utf16.RuneLen(r)
	}
	return at
}

func (t *text) position(offset int) position {
	offset = min(max(offset, 0), len(t.src))
	line := sort.SearchInts(t.starts, offset+1) - 1
	return position{line, units(t.src[t.starts[line]:offset])}
}

func (t *text) span(r hcl.Range) span { return span{t.position(r.Start.Byte), t.position(r.End.Byte)} }

// units counts UTF-16 code units.
func units(s string) (n int) {
	for _, r := range s {
		n += utf16.RuneLen(r)
	}
	return n
}

func pathOf(uri string) (string, error) {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || !filepath.IsAbs(u.Path) {
		return "", &rpcError{codeParams, fmt.Sprintf("%q is not the URI of a file: want file:///PATH", uri)}
	}
	return filepath.Clean(u.Path), nil
}

func uriOf(path string) string {
	return (&url.URL{Scheme: "file", Path: filepath.ToSlash(path)}).String()
}

const maxMessage = 64 << 20 // bounds what a client can make the server hold

// Error codes of JSON-RPC 2.0 and of the protocol.
const (
	codeParse          = -32700
	codeInvalid        = -32600
	codeNoMethod       = -32601
	codeParams         = -32602
	codeInternal       = -32603
	codeNotInitialized = -32002
)

// message is a request or notification, or an answer to a request of ours.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func (e *rpcError) Error() string { return e.Message }

// wire sends and receives messages framed by headers.
type wire struct {
	in  *bufio.Reader
	mu  sync.Mutex
	out io.Writer
}

// read returns the body of the next message: io.EOF between two messages.
func (w *wire) read() ([]byte, error) {
	if _, err := w.in.Peek(1); err != nil {
		return nil, err
	}
	h, err := textproto.NewReader(w.in).ReadMIMEHeader()
	if err != nil {
		return nil, fmt.Errorf("the header of a message: %w", err)
	}
	n, err := strconv.Atoi(h.Get("Content-Length"))
	if err != nil || n < 0 || n > maxMessage {
		return nil, fmt.Errorf("the header of a message has Content-Length %q; want a number of bytes up to %d", h.Get("Content-Length"), maxMessage)
	}
	body := make([]byte, n)
	if _, err := io.ReadFull(w.in, body); err != nil {
		return nil, fmt.Errorf("a message of %d bytes ended early: %w", n, err)
	}
	return body, nil
}

func (w *wire) write(v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	_, err = fmt.Fprintf(w.out, "Content-Length: %d\r\n\r\n%s", len(body), body)
	return err
}

func (w *wire) answer(id json.RawMessage, result any, err error) error {
	if len(id) == 0 {
		id = json.RawMessage("null")
	}
	if err == nil {
		return w.write(map[string]any{"jsonrpc": "2.0", "id": id, "result": result})
	}
	var e *rpcError
	if !errors.As(err, &e) {
		e = &rpcError{codeInternal, err.Error()}
	}
	return w.write(map[string]any{"jsonrpc": "2.0", "id": id, "error": e})
}
