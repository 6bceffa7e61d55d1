package main

import (
	"crypto/tls"
	"crypto/x509/pkix"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"go.temporal.io/server/common/authorization"
)

// TestRoles: the name in a caller's certificate decides, and no name is nobody's.
func TestRoles(t *testing.T) {
	for name, want := range map[string]authorization.Role{nameClient: authorization.RoleAdmin, nameSystem: authorization.RoleAdmin, nameUI: authorization.RoleReader,
		"": authorization.RoleUndefined, nameWorker: authorization.RoleUndefined, "Redsi": authorization.RoleUndefined, "ui ": authorization.RoleUndefined} {
		c, err := roles{}.GetClaims(&authorization.AuthInfo{TLSSubject: &pkix.Name{CommonName: name}})
		if err != nil || c.System != want || len(c.Namespaces) != 0 && name != nameWorker {
			t.Errorf("%q: %+v, %v; want %v", name, c, err, want)
		}
		if name == nameWorker && !maps.Equal(c.Namespaces, map[string]authorization.Role{namespace: authorization.RoleWriter}) {
			t.Errorf("a worker may %v", c.Namespaces)
		}
	}
	if c, err := (roles{}).GetClaims(&authorization.AuthInfo{}); err != nil || c.System != authorization.RoleUndefined {
		t.Errorf("without a certificate: %+v, %v", c, err)
	}
}

// TestInner: behind the front end, where no roles are asked for, the server answers itself alone. A folder keeps its
// certificates.
func TestInner(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "tls")
	before, err := loadKeys(dir)
	must(t, err)
	k, err := loadKeys(dir)
	must(t, err)
	if !k.pool.Equal(before.pool) || !k.client.Leaf.Equal(before.client.Leaf) {
		t.Error("the folder's certificates were made anew")
	}
	worker, err := readPair(dir, workerName)
	must(t, err)
	inner, err := k.provider().GetInternodeServerConfig()
	must(t, err)
	front, err := k.provider().GetFrontendServerConfig()
	must(t, err)
	for _, c := range []struct {
		of      *tls.Config
		by      tls.Certificate
		welcome bool
	}{{inner, k.system, true}, {inner, k.client, false}, {inner, worker, false}, {front, k.client, true}, {front, worker, true}} {
		here, there := net.Pipe()
		go func() { _ = tls.Client(there, k.calling(c.by)).Handshake(); there.Close() }()
		if err := tls.Server(here, c.of).Handshake(); (err == nil) != c.welcome {
			t.Errorf("%s: %v", c.by.Leaf.Subject.CommonName, err)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestGuard: what the web UI lets through to Temporal's handlers.
func TestGuard(t *testing.T) {
	h := guard(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }))
	for _, c := range []struct {
		method, path, host, header, value string
		want                              int
	}{
		{"GET", "/", "127.0.0.1:8233", "", "", http.StatusTeapot},
		{"HEAD", "/", "LOCALHOST", "", "", http.StatusTeapot},
		{"GET", "/", "[::1]:1", "", "", http.StatusTeapot},
		{"GET", "/", "127.0.0.1.evil.example", "", "", http.StatusForbidden},
		{"GET", "/", "", "", "", http.StatusForbidden},
		{"GET", "/", "localhost", "Sec-Fetch-Site", "cross-site", http.StatusForbidden},
		{"GET", "/", "localhost", "Origin", "null", http.StatusForbidden},
		{"GET", "/", "localhost", "Origin", "http://localhost", http.StatusTeapot},
		{"POST", "/api/v1/namespaces/default/workflows/x/query/y", "localhost", "", "", http.StatusTeapot},
		{"POST", "/api/v1/namespaces/default/workflows/x/runs/r/query/y", "localhost", "", "", http.StatusTeapot},
		{"POST", "/api/v1/namespaces/default/workflows/step%2F20261121T162500Z-80bd1e2f%2F17/query/y", "localhost", "", "", http.StatusTeapot},
		{"POST", "/api/v1/namespaces/default/workflows/step%2F20261121T162500Z-80bd1e2f%2F17%2Fsignal/query/y", "localhost", "", "", http.StatusMethodNotAllowed},
		{"POST", "/api/v1/namespaces/default/workflows/step%2F20261121T162500Z-80bd1e2f%2F17/signal/y", "localhost", "", "", http.StatusMethodNotAllowed},
		{"POST", "/api/v1/namespaces/default/workflows/x%2Fquery%2Fy", "localhost", "", "", http.StatusMethodNotAllowed},
		{"POST", "/api/v1/namespaces/default/workflows/x", "localhost", "", "", http.StatusMethodNotAllowed},
		{"DELETE", "/api/v1/namespaces/default/workflows/x", "localhost", "", "", http.StatusMethodNotAllowed},
	} {
		r := httptest.NewRequest(c.method, "http://placeholder"+c.path, nil)
		r.Host = c.host
		if c.header != "" {
			r.Header.Set(c.header, c.value)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != c.want {
			t.Errorf("%s %s of %q, %s %q: %d, want %d", c.method, c.path, c.host, c.header, c.value, w.Code, c.want)
		}
	}
}
