package lsp

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"runtime/debug"
	"slices"
	"time"

	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/system/process"
)

type Options struct {
	Load    pipeline.Options // the registry, values of variables, how files are read
	Version string
	Log     *slog.Logger // not to the client: its messages go to standard output

	// Outcomes looks up which steps of a pipeline have results. It is called in the background, for one pipeline at a time.
	// file is the pipeline's file or folder, root the folder that the client has open.
	Outcomes func(ctx context.Context, root, file string, p *pipeline.Pipeline) (map[string]Outcome, error)

	Local      func(folder string) []pipeline.File                // variables given there, as pipeline.Options.Local
	CheckOther func(name string, src []byte) pipeline.Diagnostics // of a file of tests or settings
}

// Outcome is the state of a step's result.
type Outcome struct {
	Word     string    // HIT, RUN, MAYBE
	Finished time.Time // of a hit
	Took     time.Duration
}

const parentPoll = time.Second // between two looks whether the client still runs

// Serve answers a client until it says goodbye, ends or closes its end. The error says why, if it did not say goodbye.
func Serve(ctx context.Context, in io.Reader, out io.Writer, o Options) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	s := &server{Options: o, wire: wire{in: bufio.NewReader(in), out: out}, cancel: cancel}
	s.Load.Stop = ctx.Err
	s.work = &work{s: s, ctx: ctx, wake: make(chan struct{}, 1), docs: map[string]*document{}, dirty: map[string]bool{},
		loadedDocs: map[string]*loaded{}, first: map[string]chan struct{}{}, shown: map[string][]string{},
		good: map[string][]decl{}, modules: map[string][]string{}}
	bodies := make(chan []byte)
	go func() {
		for {
			b, err := s.wire.read()
			if err != nil {
				cancel(err)
				return
			}
			select {
			case bodies <- b:
			case <-ctx.Done():
				return
			}
		}
	}()
	go s.work.run()
	for {
		select {
		case b := <-bodies:
			if done, err := s.receive(ctx, b); done || err != nil {
				return err
			}
		case <-ctx.Done():
			switch err := context.Cause(ctx); {
			case s.shutdown:
				return nil
			case errors.Is(err, io.EOF):
				return errors.New("the client closed the connection without saying goodbye")
			default:
				return err
			}
		}
	}
}

type server struct {
	Options
	wire        wire
	cancel      context.CancelCauseFunc
	root        string
	initialized bool
	shutdown    bool
	snippets    bool
	work        *work
}

// receive handles one message; done when the client said goodbye.
func (s *server) receive(ctx context.Context, body []byte) (done bool, err error) {
	var m message
	if err := json.Unmarshal(body, &m); err != nil {
		if json.Valid(body) {
			return false, s.wire.answer(nil, nil, &rpcError{codeInvalid, "a message is a JSON object with jsonrpc, method, params and, if it is to be answered, id"})
		}
		return false, s.wire.answer(nil, nil, &rpcError{codeParse, fmt.Sprintf("a message is not JSON: %v", err)})
	}
	switch {
	case m.Method == "exit":
		if !s.shutdown {
			return true, errors.New("the client sent exit without shutdown before it")
		}
		return true, nil
	case m.Method == "" && len(m.ID) > 0: // an answer, and nothing was asked
		return false, nil
	case m.Method == "":
		return false, s.wire.answer(nil, nil, &rpcError{codeInvalid, "a message has neither method nor id"})
	}
	result, err := s.handle(ctx, &m)
	if later, ok := result.(func() any); ok && err == nil {
		go func() { // a lost client ends the loop that reads
			r, err := s.guard(m.Method, func() (any, error) { return later(), nil })
			s.report(s.wire.answer(m.ID, r, err))
		}()
		return false, nil
	}
	if len(m.ID) == 0 { // a notification
		if err != nil {
			s.Log.Warn("notification", "method", m.Method, "err", err)
		}
		return false, nil
	}
	return false, s.wire.answer(m.ID, result, err)
}

func (s *server) report(err error) {
	if err != nil {
		s.Log.Debug("answer", "err", err)
	}
}

// guard turns a panic, which is a bug of ours, into an error: the editor keeps its server.
func (s *server) guard(method string, f func() (any, error)) (result any, err error) {
	defer func() {
		if r := recover(); r != nil {
			s.Log.Error("this is a bug in redsi", "method", method, "panic", r, "stack", string(debug.Stack()))
			result, err = nil, &rpcError{codeInternal, fmt.Sprintf("this is a bug in redsi: %s: %v", method, r)}
		}
	}()
	return f()
}

func (s *server) handle(ctx context.Context, m *message) (any, error) {
	switch {
	case m.Method == "initialize" && s.initialized:
		return nil, &rpcError{codeInvalid, "initialize came twice"}
	case m.Method == "initialize":
		return s.initialize(ctx, m)
	case !s.initialized:
		return nil, &rpcError{codeNotInitialized, fmt.Sprintf("%s came before initialize", m.Method)}
	case s.shutdown:
		return nil, &rpcError{codeInvalid, fmt.Sprintf("%s came after shutdown", m.Method)}
	case m.Method == "shutdown":
		s.shutdown = true
		return nil, nil
	case slices.Contains([]string{"initialized", "$/cancelRequest", "$/setTrace", "workspace/didChangeConfiguration"}, m.Method):
		return nil, nil // answers take milliseconds, and nothing is configured
	}
	f := map[string]func(*message) (any, error){
		"workspace/didChangeWatchedFiles": s.filesChanged,
		"textDocument/didOpen":            s.didOpen,
		"textDocument/didChange":          s.didChange,
		"textDocument/didSave":            s.filesChanged,
		"textDocument/didClose":           s.didClose,
		"textDocument/completion":         about(s, s.complete),
		"textDocument/hover":              about(s, s.hover),
		"textDocument/definition":         about(s, s.definition),
		"textDocument/documentSymbol":     about(s, s.symbols),
	}[m.Method]
	if f == nil {
		return nil, &rpcError{codeNoMethod, fmt.Sprintf("this server has no %s", m.Method)}
	}
	return s.guard(m.Method, func() (any, error) { return f(m) })
}

// about makes a handler of what is asked about a place in an open document.
func about[T any](s *server, f func(d *document, offset int) T) func(*message) (any, error) {
	return func(m *message) (any, error) {
		var p placeParams
		d, err := s.document(m, &p, &p.TextDocument)
		if err != nil {
			return nil, err
		}
		return f(d, d.offset(p.Position)), nil
	}
}

// document decodes the parameters of a message and finds the open document that they name.
func (s *server) document(m *message, params any, named *textDocument) (*document, error) {
	path, err := s.decode(m, params, named)
	if err != nil {
		return nil, err
	}
	d := s.work.document(path)
	if d == nil {
		return nil, &rpcError{codeParams, fmt.Sprintf("%s is not open", named.URI)}
	}
	return d, nil
}

func (s *server) decode(m *message, params any, named *textDocument) (path string, err error) {
	if err := json.Unmarshal(m.Params, params); err != nil {
		return "", &rpcError{codeParams, fmt.Sprintf("%s: %v", m.Method, err)}
	}
	return pathOf(named.URI)
}

func (s *server) initialize(ctx context.Context, m *message) (any, error) {
	var p initializeParams
	if err := json.Unmarshal(m.Params, &p); err != nil {
		return nil, &rpcError{codeParams, fmt.Sprintf("initialize: %v", err)}
	}
	if root, err := pathOf(p.RootURI); err == nil {
		s.root = root
	} else if s.root, err = filepath.Abs("."); err != nil {
		return nil, err
	}
	s.snippets = p.Capabilities.TextDocument.Completion.CompletionItem.SnippetSupport
	if p.ProcessID != nil {
		s.watch(ctx, *p.ProcessID)
	}
	s.initialized = true
	return map[string]any{
		"serverInfo": map[string]string{"name": "redsi", "version": s.Version},
		"capabilities": map[string]any{
			"positionEncoding":       "utf-16",
			"textDocumentSync":       map[string]any{"openClose": true, "change": 2, "save": true},
			"completionProvider":     map[string]any{"triggerCharacters": []string{".", "\"", "[", "="}},
			"hoverProvider":          true,
			"definitionProvider":     true,
			"documentSymbolProvider": true,
		},
	}, nil
}

// watch ends the server when its client has ended.
func (s *server) watch(ctx context.Context, pid int) {
	parent, err := process.Of(pid)
	if err != nil {
		if errors.Is(err, process.ErrGone) {
			s.cancel(fmt.Errorf("the client, process %d, does not exist", pid))
		}
		return
	}
	go func() {
		t := time.NewTicker(parentPoll)
		defer t.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-t.C:
				if !parent.Running() {
					s.cancel(fmt.Errorf("the client, process %d, has ended", pid))
					return
				}
			}
		}
	}()
}
