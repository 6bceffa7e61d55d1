package cli

import (
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// hostsKey finds the HTTP servers of a script, by name: scripts run side by side, each with its own.
type hostsKey struct{}

// host is a server of files, with what can go wrong there.
type host struct {
	*httptest.Server
	mu      sync.Mutex
	files   http.Handler // nil: none
	fault   string       // "", "half", "busy" or "gate"
	at      string       // paths that have it, as path.Match takes them; "": all
	asked   []string     // "METHOD PATH"
	etag    string       // of all files; "": none
	waiting chan struct{}
}

func (h *host) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	files, fault := h.files, h.fault
	if hit, err := path.Match(h.at, r.URL.Path); h.at != "" && (err != nil || !hit) {
		fault = ""
	}
	h.asked = append(h.asked, r.Method+" "+r.URL.Path)
	h.mu.Unlock()
	switch {
	case fault == "gate":
		h.waiting <- struct{}{}
		<-r.Context().Done()
	case fault == "busy":
		http.Error(w, "out of order", http.StatusServiceUnavailable)
	case fault == "half" && r.Method == http.MethodGet:
		w.Header().Set("Content-Length", "1000")
		_, _ = w.Write([]byte("the first half"))
		panic(http.ErrAbortHandler) // the connection breaks
	case files == nil:
		http.NotFound(w, r)
	default:
		if h.etag != "" {
			w.Header().Set("ETag", h.etag)
		}
		files.ServeHTTP(w, r)
	}
}

// hostCommand is of a server of some name, which sets its address by that name: web serves the real records with an ETag, secure
// is asked by https and sets SSL_CERT_FILE so that programs trust it. NAME DIR serves a folder; open [DIR] does, or what there was;
// gate notes a request and lets it wait; half and busy, at a PATH or all, break off answers or refuse them, and fine ends that; down
// ends the server; writes fails if anything was asked but to read; asked and unasked fail unless it was, or was not, asked since.
func hostCommand(name string) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, _ bool, args []string) {
		hosts := ts.Value(hostsKey{}).(map[string]*host)
		h := hosts[name]
		if h == nil {
			h = &host{waiting: make(chan struct{}, 100)}
			start := httptest.NewServer
			switch name {
			case "secure":
				start = httptest.NewTLSServer
			case "web":
				h.etag, h.files = `"fixed"`, http.FileServer(http.Dir(filepath.Join(ts.Getenv("DATA"), "corpora", "nq", "testdata")))
			}
			h.Server, hosts[name] = start(h), h
			ts.Defer(func() { h.CloseClientConnections(); h.Close() })
			ts.Setenv(strings.ToUpper(name), h.URL)
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		word, rest := args[0], append(args[1:], "")[0]
		switch word {
		case "gate", "open":
			h.fault = strings.TrimPrefix(word, "open")
			if rest != "" {
				h.files = http.FileServer(http.Dir(ts.MkAbs(rest)))
			}
		case "half", "busy", "fine":
			h.fault, h.at = strings.TrimPrefix(word, "fine"), rest
		case "down":
			h.Listener.Close()
			h.CloseClientConnections()
		case "writes":
			if i := slices.IndexFunc(h.asked, func(a string) bool { return !strings.HasPrefix(a, "GET ") && !strings.HasPrefix(a, "HEAD ") }); i >= 0 {
				ts.Fatalf("the host was asked to %s", h.asked[i])
			}
		case "asked", "unasked":
			if (len(h.asked) > 0) != (word == "asked") {
				ts.Fatalf("the server was asked %q", h.asked)
			}
			h.asked = nil
		default:
			h.files, h.fault, h.asked = http.FileServer(http.Dir(ts.MkAbs(word))), "", nil
		}
		if c := h.Certificate(); c != nil {
			file := filepath.Join(ts.Getenv("WORK"), "secure.pem")
			ts.Check(os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Raw}), 0o600))
			ts.Setenv("SSL_CERT_FILE", file)
		}
	}
}

// askedCommand is: asked. It waits until a request stands at the shut gate of web.
func askedCommand(ts *testscript.TestScript, _ bool, _ []string) {
	select {
	case <-ts.Value(hostsKey{}).(map[string]*host)["web"].waiting:
	case <-time.After(3 * time.Minute):
		ts.Fatalf("nobody asked")
	}
}
