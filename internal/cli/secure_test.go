package cli

import (
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"

	"github.com/rogpeppe/go-internal/testscript"
)

// secureKey finds the https server of a script.
type secureKey struct{}

// secure is a server of files by https, and what it was asked for.
type secure struct {
	*httptest.Server
	asked atomic.Int64
}

// secureCommand is: secure DIR serves a folder by https, secure down ends the server, secure
// asked|unasked fails unless it was, or was not, asked since the last time. It sets SECURE,
// and SSL_CERT_FILE so that programs trust it.
func secureCommand(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: secure DIR|down|asked|unasked")
	}
	s := ts.Value(secureKey{}).(*secure)
	switch args[0] {
	case "down":
		s.Close()
	case "asked", "unasked":
		if n := s.asked.Swap(0); (n > 0) != (args[0] == "asked") {
			ts.Fatalf("the server was asked %d times", n)
		}
	default:
		files := http.FileServer(http.Dir(ts.MkAbs(args[0])))
		s.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			s.asked.Add(1)
			files.ServeHTTP(w, r)
		}))
		ts.Defer(s.Close)
		file := filepath.Join(ts.Getenv("WORK"), "secure.pem")
		ts.Check(os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}), 0o600))
		ts.Setenv("SSL_CERT_FILE", file)
		ts.Setenv("SECURE", s.URL)
	}
}
