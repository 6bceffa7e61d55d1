package web

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/redsi/redsi/internal/system/errtest"
)

// TestRedirects: nobody whose words anybody on the way can change sends us elsewhere, and
// only this machine sends us to a program of this machine by http.
func TestRedirects(t *testing.T) {
	request := func(address string) *http.Request {
		u, err := url.Parse(address)
		errtest.None(t, err)
		return &http.Request{URL: u}
	}
	for _, c := range []struct {
		from, to string
		ok       bool
	}{
		{"https://a.example/x", "https://b.example/y", true},
		{"http://a.example/x", "https://b.example/y", true},
		{"http://a.example/x", "http://a.example/y", true},
		{"http://localhost:1/x", "http://127.0.0.1:2/y", true},
		{"https://a.example/x", "http://a.example/y", false},
		{"http://a.example/x", "http://b.example/y", false},
		{"http://a.example/x", "http://127.0.0.1:8080/y", false},
		{"http://a.example/x", "http://localhost/y", false},
		{"https://a.example/x", "http://localhost/y", false},
		{"https://a.example/x", "file:///etc/passwd", false},
	} {
		if err := client.CheckRedirect(request(c.to), []*http.Request{request(c.from)}); (err == nil) != c.ok {
			t.Errorf("from %s to %s: %v", c.from, c.to, err)
		}
	}
}
