package cli

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// webKey finds the web of a script: scripts run side by side, each with its own.
type webKey struct{}

// web serves the real records over HTTP. While its gate is shut a request is
// noted and then gets no answer.
type web struct {
	*httptest.Server
	mu    sync.Mutex
	open  bool
	asked chan struct{}
}

func newWeb(data string) *web {
	w := &web{asked: make(chan struct{}, 100)}
	files := http.FileServer(http.Dir(filepath.Join(data, "corpora", "nq", "testdata")))
	w.Server = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w.mu.Lock()
		open := w.open
		w.mu.Unlock()
		if !open {
			w.asked <- struct{}{}
			<-r.Context().Done()
			return
		}
		rw.Header().Set("ETag", `"fixed"`)
		files.ServeHTTP(rw, r)
	}))
	return w
}

// webCommand is: web gate|open. It sets WEB.
func webCommand(ts *testscript.TestScript, _ bool, args []string) {
	w := ts.Value(webKey{}).(*web)
	if len(args) != 1 || args[0] != "gate" && args[0] != "open" {
		ts.Fatalf("usage: web gate|open")
	}
	w.mu.Lock()
	w.open = args[0] == "open"
	w.mu.Unlock()
	ts.Setenv("WEB", w.URL)
}

// askedCommand is: asked. It waits until a request stands at the shut gate.
func askedCommand(ts *testscript.TestScript, _ bool, _ []string) {
	w := ts.Value(webKey{}).(*web)
	select {
	case <-w.asked:
	case <-time.After(3 * time.Minute):
		ts.Fatalf("nobody asked")
	}
}
