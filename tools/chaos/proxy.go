//go:build linux

package main

import (
	"io"
	"log"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync"
	"sync/atomic"
)

// What a proxy does to requests. The simulation has answers that come late, slowly or as 503.
const (
	proxyCut   = "cut"   // ends the connection within an answer's body
	proxyReset = "reset" // resets it before there is an answer
	proxyFlip  = "flip"  // flips a bit in a body, either way
)

// proxy stands between redsi and an S3 server and breaks some of what passes.
type proxy struct {
	address string
	server  *http.Server
	hurt    atomic.Int64 // requests that were broken

	mu    sync.Mutex
	mode  string
	share float64 // of requests that it breaks
	rng   *rand.Rand
}

func newProxy(backend string, seed uint64) (*proxy, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &proxy{address: l.Addr().String(), rng: rand.New(rand.NewPCG(seed, 3))}
	silent := log.New(io.Discard, "", 0)
	reverse := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(&url.URL{Scheme: "http", Host: backend})
			r.Out.Host = r.In.Host // it is signed
		},
		// Without the server the connection breaks, rather than have an answer.
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
		ErrorLog:     silent,
	}
	p.server = &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { p.serve(*reverse, w, r) }), ErrorLog: silent}
	go func() { _ = p.server.Serve(l) }()
	return p, nil
}

func (p *proxy) set(mode string, share float64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mode, p.share = mode, share
}

// chosen draws what is done to a request, with a number that says where.
func (p *proxy) chosen() (mode string, n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.mode == "" || p.rng.Float64() >= p.share {
		return "", 0
	}
	p.hurt.Add(1)
	return p.mode, p.rng.IntN(1 << 20)
}

func (p *proxy) serve(next httputil.ReverseProxy, w http.ResponseWriter, r *http.Request) {
	mode, n := p.chosen()
	change := func(b []byte, err error) (int, error) {
		if len(b) == 0 {
			return 0, err
		}
		return min(len(b), n%200), io.ErrUnexpectedEOF
	}
	if mode == proxyFlip {
		once := false
		change = func(b []byte, err error) (int, error) {
			if !once && len(b) > 0 {
				once = true
				b[n%len(b)] ^= 1 << (n % 8)
			}
			return len(b), err
		}
	}
	switch {
	case mode == proxyReset:
		if c, _, err := http.NewResponseController(w).Hijack(); err == nil {
			_ = c.(*net.TCPConn).SetLinger(0)
			c.Close()
		}
		return
	case mode == proxyFlip && (r.Method == http.MethodPut || r.Method == http.MethodPost):
		r.Body = &changed{r.Body, change}
	case mode != "":
		next.FlushInterval = -1 // sends what comes before a cut
		next.ModifyResponse = func(a *http.Response) error {
			a.Body = &changed{a.Body, change}
			return nil
		}
	}
	next.ServeHTTP(w, r)
}

// changed is a body that is changed on its way.
type changed struct {
	io.ReadCloser
	change func(b []byte, err error) (int, error)
}

func (c *changed) Read(b []byte) (int, error) {
	n, err := c.ReadCloser.Read(b)
	return c.change(b[:n], err)
}
