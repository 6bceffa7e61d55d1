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

// web serves the real records, or a script's folder, over HTTP. While its gate is shut a request is
// noted and then gets no answer.
type web struct {
	*httptest.Server
	mu    sync.Mutex
	open  bool
	files http.Handler
	asked chan struct{}
}

func newWeb(data string) *web {
	w := &web{asked: make(chan struct{}, 100), files: http.FileServer(http.Dir(filepath.Join(data, "corpora", "nq", "testdata")))}
	w.Server = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w.mu.Lock()
		open, files := w.open, w.files
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

// webCommand is: web gate|open [FOLDER]. It sets WEB.
func webCommand(ts *testscript.TestScript, _ bool, args []string) {
	w := ts.Value(webKey{}).(*web)
	if len(args) == 0 || len(args) > 2 || args[0] != "gate" && args[0] != "open" {
		ts.Fatalf("usage: web gate|open [FOLDER]")
	}
	w.mu.Lock()
	if len(args) == 2 {
		w.files = http.FileServer(http.Dir(ts.MkAbs(args[1])))
	}
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
