package fetch

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redsi/redsi/internal/system/testkit"
)

// TestTransfersOfOneURL share the folder of partial files; the server has no validators, and breaks off now and then.
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
			testkit.None(t, f.Close())
		})
	}
	wg.Wait()
}

// TestTransferOfAKilledProcess waits for a transfer of another process, which is killed
// half way, and continues from there.
func TestTransferOfAKilledProcess(t *testing.T) {
	body, sum := content(10_000)
	const half = 5_000
	if to := os.Getenv("REDSI_TEST_PARTIALS"); to != "" { // the process to kill
		source, err := ParseSource(os.Getenv("REDSI_TEST_URL"))
		testkit.None(t, err)
		Get(context.Background(), Request{Sources: []Source{source}, SHA256: sum, Partials: to, Progress: func(done, _ int64) {
			if done == half {
				fmt.Println("half")
			}
		}})
		return
	}
	waiting := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"v1"`)
		if r.Header.Get("Range") != "" {
			http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(body))
			return
		}
		w.Header().Set("Content-Length", fmt.Sprint(len(body)))
		w.Write(body[:half])
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}))
	t.Cleanup(s.Close)
	r := request(t, sum, s.URL+"/a.bin")
	c := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^TestTransferOfAKilledProcess$")
	c.Env = append(os.Environ(), "REDSI_TEST_PARTIALS="+r.Partials, "REDSI_TEST_URL="+s.URL+"/a.bin")
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	testkit.None(t, err)
	testkit.None(t, testkit.Err(bufio.NewReader(out).ReadString('\n')), "the other process brought no half")
	go func() {
		<-waiting
		c.Process.Kill()
		c.Wait()
	}()
	r.Log = func(msg string, _ ...any) {
		if strings.HasPrefix(msg, "waiting") {
			close(waiting)
		}
	}
	f, err := Get(context.Background(), r)
	if err != nil || f.SHA256 != sum {
		t.Fatalf("%+v, %v", f, err)
	}
	testkit.None(t, f.Close())
}

func TestRedirectToHTTPIsRefused(t *testing.T) {
	body, sum := content(100)
	plain, _, _ := flaky(t, body, 0)
	s := httptest.NewTLSServer(http.RedirectHandler(plain.URL, http.StatusFound))
	defer s.Close()
	old := httpClient.Transport.(*http.Transport).TLSClientConfig
	httpClient.Transport.(*http.Transport).TLSClientConfig = &tls.Config{RootCAs: s.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs}
	defer func() { httpClient.Transport.(*http.Transport).TLSClientConfig = old }()
	_, err := Get(context.Background(), request(t, sum, s.URL))
	var p *Permanent
	testkit.That(t, errors.As(err, &p) && strings.Contains(err.Error(), "from https to http"), "got", err)
}
