package server

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/redsi/redsi/internal/ranking/search"
)

// Who asks by another name, from another site's page or with a body is refused.
func TestStrangers(t *testing.T) {
	b := NewBatcher(&fake{}, Limits{8, 8, time.Hour})
	defer b.Close()
	h := handler(b)
	h.o.Hosts = []string{"search.example.org"}
	local := func(r *http.Request, ip string) *http.Request {
		return r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, &net.TCPAddr{IP: net.ParseIP(ip), Port: 8080}))
	}
	for _, c := range []struct {
		host, site, mode, body string
		want                   int
	}{
		{"localhost:8080", "", "", "", 200},
		{"LocalHost", "same-origin", "cors", "", 200},
		{"127.0.0.1:8080", "none", "navigate", "", 200},
		{"127.9.9.9", "", "", "", 200},
		{"[::1]:9000", "", "", "", 200},
		{"192.0.2.7:8080", "", "", "", 200}, // where the connection came to
		{"[::ffff:192.0.2.7]", "", "", "", 200},
		{"Search.Example.org:443", "", "", "", 200},
		{"localhost", "cross-site", "navigate", "", 200}, // a link
		{"192.0.2.8", "", "", "", 421},
		{"evil.example", "", "", "", 421},
		{"localhost.evil.example", "", "", "", 421},
		{"127.0.0.1.evil.example:8080", "", "", "", 421},
		{"0.0.0.0:8080", "", "", "", 421},
		{"", "", "", "", 421},
		{"localhost", "cross-site", "no-cors", "", 403}, // an image of a page
		{"localhost", "cross-site", "cors", "", 403},
		{"localhost", "", "", "q=x", 413},
	} {
		r := local(httptest.NewRequest("GET", "/search?q=x", strings.NewReader(c.body)), "192.0.2.7")
		r.Host = c.host
		r.Header.Set("Sec-Fetch-Site", c.site)
		r.Header.Set("Sec-Fetch-Mode", c.mode)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != c.want {
			t.Errorf("host %q, site %q, mode %q, body %q: %d %s, want %d", c.host, c.site, c.mode, c.body, w.Code, w.Body, c.want)
		}
		if w.Code == 421 && !strings.Contains(w.Body.String(), "--allow-host") {
			t.Errorf("host %q: %s does not say what to do", c.host, w.Body)
		}
		for name := range w.Header() {
			if strings.HasPrefix(name, "Access-Control-") {
				t.Errorf("other sites may read: %s", name)
			}
		}
	}
}

// FuzzRequest: whatever a connection sends, the answer is one of those that are
// documented, whole, and of its type.
func FuzzRequest(f *testing.F) {
	for _, seed := range []string{
		"GET /search?q=who&k=3 HTTP/1.1\r\nHost: localhost\r\n\r\n",
		"GET /?q=%3Cscript%3E&k=0 HTTP/1.1\r\nHost: localhost:1\r\n\r\n",
		"GET /healthz HTTP/1.0\r\n\r\n",
		"POST /search HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\nContent-Length: 3\r\n\r\nq=x",
		"GET /search?q=x HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nq=x\r\n0\r\n\r\n",
		"GET /search?q=%ff%1b]0;t%07&k=9999999999999999999 HTTP/1.1\r\nHost: [::1]:80\r\n\r\n",
		"OPTIONS /search HTTP/1.1\r\nHost: evil.example\r\nOrigin: http://evil.example\r\n\r\n",
		"GET /search?q=;&q=%zz HTTP/1.1\r\nHost: localhost\r\nSec-Fetch-Site: cross-site\r\n\r\n",
		"HEAD //search/../?q=a HTTP/1.1\r\nHost: localhost\r\n\r\n",
	} {
		f.Add([]byte(seed))
	}
	b := NewBatcher(&fake{}, Limits{8, 8, time.Hour})
	f.Cleanup(b.Close)
	h := NewHandler(b, Options{Model: "m", Results: 2, Timeout: time.Minute, About: search.About{Beams: 40}, Log: slog.New(slog.DiscardHandler)})
	f.Fuzz(func(t *testing.T, raw []byte) {
		r, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(raw)))
		if err != nil {
			return // net/http answers itself
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		switch w.Code {
		case 200, 400, 403, 404, 405, 413, 421:
		default:
			t.Errorf("%q: status %d", raw, w.Code)
		}
		switch typ := w.Header().Get("Content-Type"); typ {
		case "application/json; charset=utf-8":
			if !json.Valid(w.Body.Bytes()) {
				t.Errorf("%q: %q is no JSON", raw, w.Body)
			}
		case "text/html; charset=utf-8":
			if page := w.Body.String(); !utf8.ValidString(page) || strings.Contains(page, "<script") || !strings.HasSuffix(strings.TrimSpace(page), "</html>") {
				t.Errorf("%q: %q", raw, page)
			}
		default:
			t.Errorf("%q: type %q", raw, typ)
		}
	})
}
