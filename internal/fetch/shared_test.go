package fetch

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// TestTransfersOfOneURL share the folder of partial files; the server has no
// validators, and breaks off now and then.
func TestTransfersOfOneURL(t *testing.T) {
	body, sum := content(50_000)
	var mu sync.Mutex
	asked := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		mu.Lock()
		asked++
		cut := asked%3 == 1
		mu.Unlock()
		w.Header().Set("Content-Length", fmt.Sprint(len(body)))
		for i := 0; i < len(body); i += 5_000 {
			w.Write(body[i : i+5_000])
			w.(http.Flusher).Flush()
			if cut && i > 20_000 {
				panic(http.ErrAbortHandler)
			}
		}
	}))
	defer s.Close()
	r := request(t, "", s.URL+"/a.bin")
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			f, err := Get(context.Background(), r)
			if err != nil {
				t.Error(err)
				return
			}
			if f.SHA256 != sum {
				t.Errorf("sha256 %s of %d bytes, want %s", f.SHA256, f.Size, sum)
			}
			if err := f.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

func TestRedirectToHTTPIsRefused(t *testing.T) {
	body, sum := content(100)
	plain, _, _ := flaky(t, body, 0, true)
	s := httptest.NewTLSServer(http.RedirectHandler(plain.URL, http.StatusFound))
	defer s.Close()
	old := httpClient.Transport.(*http.Transport).TLSClientConfig
	httpClient.Transport.(*http.Transport).TLSClientConfig = &tls.Config{RootCAs: s.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs}
	defer func() { httpClient.Transport.(*http.Transport).TLSClientConfig = old }()
	_, err := Get(context.Background(), request(t, sum, s.URL))
	var p *Permanent
	if !errors.As(err, &p) || !strings.Contains(err.Error(), "from https to http") {
		t.Errorf("got %v", err)
	}
}
