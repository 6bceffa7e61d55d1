//go:build linux

package main

import (
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"time"
)

// What a proxy does to requests while it is told to.
const (
	proxyCut   = "cut"   // ends the connection within an answer's body
	proxyReset = "reset" // resets it before there is an answer
	proxy503   = "503"   // says that the server is busy
	proxyDelay = "delay" // answers late
	proxyRate  = "rate"  // 64 kB a second
	proxyFlip  = "flip"  // another bit in a body, either way
)

// proxy stands between redsi and an S3 server and breaks some of what passes.
type proxy struct {
	address string
	server  *http.Server

	mu    sync.Mutex
	mode  string
	share float64 // of requests that it breaks
	rng   *rand.Rand
	hurt  int // requests that were broken

	put string        // the end of a path; "" is none
	met chan struct{} // who puts there
}

// meeting is how long one who puts waits for another one.
const meeting = 5 * time.Second

// pair has those who put an object under a path that ends so wait for each other, two by two.
func (p *proxy) pair(put string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.put = put
}

func (p *proxy) meet(r *http.Request) {
	p.mu.Lock()
	put := p.put
	p.mu.Unlock()
	if put == "" || r.Method != http.MethodPut || !strings.HasSuffix(r.URL.Path, put) {
		return
	}
	select {
	case p.met <- struct{}{}:
	case <-p.met:
	case <-time.After(meeting):
	}
}

func newProxy(backend string, seed uint64) (*proxy, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &proxy{address: l.Addr().String(), met: make(chan struct{}), rng: rand.New(rand.NewPCG(seed, 3))}
	target := &url.URL{Scheme: "http", Host: backend}
	reverse := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.Host = r.In.Host // it is signed
		},
		// A server that is away is a connection that breaks, not an answer.
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { abort(w, false) },
		ErrorLog:     silent,
	}
	p.server = &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { p.serve(reverse, w, r) }), ErrorLog: silent}
	go func() { _ = p.server.Serve(l) }()
	return p, nil
}

func (p *proxy) set(mode string, share float64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mode, p.share = mode, share
}

func (p *proxy) broken() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.hurt
}

// chosen is what is to be done to one request, with a number for how.
func (p *proxy) chosen() (mode string, n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.mode == "" || p.rng.Float64() >= p.share {
		return "", 0
	}
	p.hurt++
	return p.mode, p.rng.IntN(1 << 20)
}

func (p *proxy) serve(next http.Handler, w http.ResponseWriter, r *http.Request) {
	p.meet(r)
	mode, n := p.chosen()
	switch mode {
	case proxyReset:
		abort(w, true)
		return
	case proxy503:
		w.Header().Set("Content-Type", "application/xml")
		w.Header().Set("Retry-After", "1")
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = io.WriteString(w, `<?xml version="1.0" encoding="UTF-8"?><Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>`)
		return
	case proxyDelay:
		select {
		case <-time.After(time.Duration(n%3000) * time.Millisecond):
		case <-r.Context().Done():
			return
		}
	case proxyCut:
		w = &broken{ResponseWriter: w, change: func(b []byte) ([]byte, bool) { return b[:min(len(b), n%200)], true }}
	case proxyRate:
		w = &broken{ResponseWriter: w, change: func(b []byte) ([]byte, bool) {
			time.Sleep(time.Duration(len(b)) * time.Second / 64000)
			return b, false
		}}
	case proxyFlip:
		once := false
		flip := func(b []byte) ([]byte, bool) {
			if !once && len(b) > 0 {
				once = true
				b = append([]byte(nil), b...)
				b[n%len(b)] ^= 1 << (n % 8)
			}
			return b, false
		}
		if r.Method == http.MethodPut || r.Method == http.MethodPost {
			r.Body = &flipped{r.Body, flip}
		} else {
			w = &broken{ResponseWriter: w, change: flip}
		}
	}
	next.ServeHTTP(w, r)
}

// abort ends a connection without an answer, by a reset if told so.
func abort(w http.ResponseWriter, reset bool) {
	h, ok := w.(http.Hijacker)
	if !ok {
		panic(http.ErrAbortHandler)
	}
	c, _, err := h.Hijack()
	if err != nil {
		return
	}
	if tcp, ok := c.(*net.TCPConn); ok && reset {
		_ = tcp.SetLinger(0)
	}
	c.Close()
}

// broken changes an answer's body, and may end it there.
type broken struct {
	http.ResponseWriter
	change func([]byte) (out []byte, end bool)
}

func (b *broken) Write(data []byte) (int, error) {
	out, end := b.change(data)
	if _, err := b.ResponseWriter.Write(out); err != nil {
		return 0, err
	}
	if end {
		if f, ok := b.ResponseWriter.(http.Flusher); ok {
			f.Flush()
		}
		panic(http.ErrAbortHandler)
	}
	return len(data), nil
}

// flipped is a request's body that is changed on its way.
type flipped struct {
	io.ReadCloser
	flip func([]byte) ([]byte, bool)
}

func (f *flipped) Read(b []byte) (int, error) {
	n, err := f.ReadCloser.Read(b)
	out, _ := f.flip(b[:n])
	copy(b, out)
	return n, err
}
