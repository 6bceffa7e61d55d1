package cli

import (
	"net/http"
	"net/http/httptest"
	"path"
	"path/filepath"
	"strings"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"
)

// staticKey finds the static host of a script.
type staticKey struct{}

// static is a host of files, as a publication lies on, with what can go wrong there.
type static struct {
	*httptest.Server
	mu    sync.Mutex
	dir   string
	fault string   // "", "half" or "busy"
	at    string   // paths that have it, as path.Match takes them
	asked []string // "METHOD PATH"
}

func newStatic() *static {
	s := &static{}
	s.Server = httptest.NewServer(s)
	return s
}

func (s *static) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	dir, fault := s.dir, s.fault
	if hit, err := path.Match(s.at, r.URL.Path); s.at != "" && (err != nil || !hit) {
		fault = ""
	}
	s.asked = append(s.asked, r.Method+" "+r.URL.Path)
	s.mu.Unlock()
	switch {
	case fault == "busy":
		http.Error(w, "out of order", http.StatusServiceUnavailable)
	case fault == "half" && r.Method == http.MethodGet:
		w.Header().Set("Content-Length", "1000")
		_, _ = w.Write([]byte("the first half"))
		panic(http.ErrAbortHandler) // the connection breaks
	case dir == "":
		http.NotFound(w, r)
	default:
		http.FileServer(http.Dir(dir)).ServeHTTP(w, r)
	}
}

// staticCommand is: static DIR serves a folder, static half|busy [PATH] breaks off answers
// or refuses them, static fine ends that, static down ends the server, static writes fails
// if anything was asked but to read. It sets STATIC and HOST.
func staticCommand(ts *testscript.TestScript, _ bool, args []string) {
	s := ts.Value(staticKey{}).(*static)
	if len(args) == 0 || len(args) > 2 {
		ts.Fatalf("usage: static DIR|half [PATH]|busy [PATH]|fine|down|writes")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch args[0] {
	case "half", "busy":
		s.fault, s.at = args[0], ""
		if len(args) == 2 {
			s.at = args[1]
		}
	case "fine":
		s.fault = ""
	case "down":
		s.Listener.Close()
		s.CloseClientConnections()
	case "writes": // those that were asked for, of which there are none
		for _, a := range s.asked {
			if method, _, _ := strings.Cut(a, " "); method != http.MethodGet && method != http.MethodHead {
				ts.Fatalf("the host was asked to %s", a)
			}
		}
	default:
		s.dir, s.fault, s.asked = filepath.Clean(ts.MkAbs(args[0])), "", nil
	}
	ts.Setenv("STATIC", s.URL)
	ts.Setenv("HOST", s.Listener.Addr().String())
}
