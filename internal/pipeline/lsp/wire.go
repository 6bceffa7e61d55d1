package lsp

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/textproto"
	"strconv"
	"sync"
)

// maxMessage bounds what a client can make the server hold.
const maxMessage = 64 << 20

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

func (m *message) wantsAnswer() bool { return len(m.ID) > 0 }

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

// answer sends the result of a request, or its error.
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
