package server

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redsi/redsi/internal/ranking/search"
	"github.com/redsi/redsi/internal/system/testkit"
)

func handler(b *Batcher) *Handler {
	return NewHandler(b, Options{Model: `step.train.dsi["a/<b>"]`, Results: 2, Hosts: []string{"example.com"}, Timeout: time.Minute, Log: slog.New(slog.DiscardHandler),
		About:    search.About{Identifiers: "naive", Documents: 109739, Decoding: search.Constrained, Beams: 40, Device: "cpu"},
		Examples: []string{"who & why"}})
}

func get(h http.Handler, path string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
	return w
}

func served(t *testing.T, f Searcher) *Handler {
	b := NewBatcher(f, Limits{8, 8, time.Hour})
	t.Cleanup(b.Close)
	return handler(b)
}

func TestSearchJSON(t *testing.T) {
	h := served(t, &fake{})
	w := get(h, "/search?q="+url.QueryEscape("  who sings “it”? ")+"&k=3")
	var got struct {
		Query   string
		TookMS  *float64 `json:"took_ms"`
		Results []search.Hit
		Invalid *int
	}
	testkit.None(t, json.Unmarshal(w.Body.Bytes(), &got), w.Body)
	if w.Code != 200 || got.Query != "who sings “it”?" || got.TookMS == nil || got.Invalid == nil || len(got.Results) != 3 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	want := search.Hit{Rank: 1, Score: -1, Probability: 1, Title: "who sings “it”? <1>", Identifier: "<doc_1>", Document: "1", Text: "first & last"}
	testkit.Is(t, got.Results[0], want)
	for key, value := range map[string]string{"Content-Type": "application/json; charset=utf-8", "X-Content-Type-Options": "nosniff", "Cache-Control": "no-store"} {
		testkit.Is(t, w.Header().Get(key), value, key)
	}
	if w := get(h, "/search?q=x"); strings.Count(w.Body.String(), `"rank"`) != 2 {
		t.Errorf("without k: %s", w.Body)
	}
	if w := get(h, "/healthz"); w.Code != 200 || !strings.Contains(w.Body.String(), `"status":"ok"`) {
		t.Errorf("healthz: %d %s", w.Code, w.Body)
	}
}

func TestSearchErrors(t *testing.T) {
	h := served(t, &fake{})
	broken := served(t, &fake{err: errors.New("secret path")})
	for _, c := range []struct {
		h      http.Handler
		method string
		path   string
		status int
		want   string
	}{
		{h, "GET", "/search", 400, "q: the query is empty"},
		{h, "GET", "/search?q=%20", 400, "q: the query is empty"},
		{h, "GET", "/search?q=%ff", 400, "q: the query is not UTF-8"},
		{h, "GET", "/search?q=%zz", 400, "not well-formed"},
		{h, "GET", "/search?q=" + strings.Repeat("a", 1001), 400, "at most 1000"},
		{h, "GET", "/search?q=a&k=0", 400, "1 to 40"},
		{h, "GET", "/search?q=a&k=41", 400, "1 to 40"},
		{h, "GET", "/search?q=a&k=ten", 400, "1 to 40"},
		{h, "POST", "/search?q=a", 405, "only GET"},
		{h, "GET", "/nothing", 404, "/search?q="},
		{broken, "GET", "/search?q=a", 500, "server's log"},
	} {
		w := httptest.NewRecorder()
		c.h.ServeHTTP(w, httptest.NewRequest(c.method, c.path, nil))
		var p problem
		if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil || w.Code != c.status || p.Status != c.status || !strings.Contains(p.Message, c.want) {
			t.Errorf("%s %.40s: %d %s (%v)", c.method, c.path, w.Code, w.Body, err)
		}
		if strings.Contains(w.Body.String(), "secret") {
			t.Errorf("%s tells what the log should", w.Body)
		}
	}
}

// When too many wait, and when an answer takes too long, clients are told to come
// back; a client that leaves is not waited for.
func TestBusy(t *testing.T) {
	batched(t, &fake{}, Limits{1, 1, time.Hour}, func(t *testing.T, f *fake, b *Batcher) {
		f.turns = make(chan struct{})
		h := handler(b)
		var wg sync.WaitGroup
		var first, second, third, left *httptest.ResponseRecorder
		ctx, cancel := context.WithCancel(t.Context())
		wg.Go(func() {
			left = httptest.NewRecorder()
			h.ServeHTTP(left, httptest.NewRequest("GET", "/search?q=left", nil).WithContext(ctx))
		})
		synctest.Wait()
		cancel()
		synctest.Wait()
		wg.Go(func() { first = get(h, "/search?q=first") })
		synctest.Wait()
		wg.Go(func() { second = get(h, "/?q=second") })
		synctest.Wait()
		third = get(h, "/search?q=third")
		if third.Code != 503 || third.Header().Get("Retry-After") == "" || !strings.Contains(third.Body.String(), "too many queries") {
			t.Errorf("no room: %d %v %s", third.Code, third.Header(), third.Body)
		}
		wg.Wait() // time is the test's own: both run into the timeout
		for name, w := range map[string]*httptest.ResponseRecorder{"first": first, "second": second} {
			if w.Code != 503 || w.Header().Get("Retry-After") == "" || !strings.Contains(w.Body.String(), "no answer within 1m0s") {
				t.Errorf("%s: %d %v %s", name, w.Code, w.Header(), w.Body)
			}
		}
		if left.Body.Len() > 0 {
			t.Errorf("written to a client that left: %s", left.Body)
		}
	})
}

func TestPage(t *testing.T) {
	h := served(t, &fake{})
	empty := get(h, "/").Body.String()
	for _, want := range []string{`<label for="q">`, `autofocus`, `step.train.dsi[&#34;a/&lt;b&gt;&#34;]`, "109,739 documents",
		`href="/?q=who%20%26%20why"`, "who &amp; why", "only identifiers of the collection"} {
		testkit.Says(t, empty, want)
	}
	w := get(h, "/?q="+url.QueryEscape(`"><script>alert(1)</script>`)+"&k=4")
	page := w.Body.String()
	testkit.That(t, !strings.Contains(page, "<script") && w.Code == 200, w.Code, "a query got into the page", page)
	if n := strings.Count(page, "<h3>"); n != 4 || !strings.Contains(page, "<ol>") || !strings.Contains(page, `value="4"`) {
		t.Errorf("%d documents, want 4 in an ordered list: %s", n, page)
	}
	for _, want := range []string{"&lt;script&gt;alert(1)&lt;/script&gt; &lt;1&gt;</h3>", "first &amp; last", "100.0 %", "-1.000", "4 documents", " ms"} {
		testkit.Says(t, page, want)
	}
	for _, no := range []string{"http://", "https://", "src=", "@import", "url("} {
		if strings.Contains(page, no) {
			t.Errorf("the page has %s: it must need nothing from elsewhere", no)
		}
	}
	csp := w.Header().Get("Content-Security-Policy")
	testkit.Says(t, csp, "default-src 'none'", "sha256-")
	if w := get(h, "/?q="); w.Code != 400 || !strings.Contains(w.Body.String(), `role="alert">q: the query is empty`) {
		t.Errorf("an empty query: %d %s", w.Code, w.Body)
	}
	testkit.Says(t, get(served(t, &none{}), "/?q=x").Body.String(), "names no document")
}

// none finds nothing.
type none struct{}

func (*none) Search(_ context.Context, queries []string, _ int) ([]search.Answer, error) {
	return make([]search.Answer, len(queries)), nil
}

// The server ends when its context does, and completes what is under way.
func TestServe(t *testing.T) {
	f := &fake{turns: make(chan struct{})}
	b := NewBatcher(f, Limits{8, 8, time.Hour})
	l := testkit.Value(net.Listen("tcp", "127.0.0.1:0"))(t)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- Serve(ctx, l, handler(b)) }()
	type got struct {
		status int
		body   string
		err    error
	}
	answered := make(chan got, 1)
	go func() {
		resp, err := http.Get("http://" + l.Addr().String() + "/search?q=a")
		if err != nil {
			answered <- got{err: err}
			return
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		answered <- got{resp.StatusCode, string(body), err}
	}()
	f.turns <- struct{}{} // the query is at the model
	stop()
	if g := <-answered; g.err != nil || g.status != 200 || !strings.Contains(g.body, `"query":"a"`) {
		t.Errorf("the last answer: %+v", g)
	}
	testkit.None(t, <-ended, "Serve")
	b.Close()
	testkit.Some(t, testkit.Err(http.Get("http://"+l.Addr().String()+"/healthz")), "it still answers")
}
