package mediawiki_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redsi/redsi/internal/corpora/fetch"
	"github.com/redsi/redsi/internal/corpora/mediawiki"
	"github.com/redsi/redsi/internal/corpora/mediawiki/wikitest"
	"github.com/redsi/redsi/internal/corpora/wikipedia"
	"github.com/redsi/redsi/internal/system/testkit"
)

// wiki has the revisions 1 to n but each seventh, three to a page.
func wiki(n uint64) (*wikitest.Wiki, []uint64) {
	k := &wikitest.Wiki{Name: "enwiki", Pages: map[uint64]wikipedia.Entry{}}
	var all []uint64
	for id := uint64(1); id <= n; id++ {
		all = append(all, id)
		if id%7 != 0 {
			k.Pages[id] = wikipedia.Entry{OldID: id, PageID: 1000 + id/3, Title: fmt.Sprint("Page ", id/3), Redirect: id/3 == 2}
		}
	}
	return k, all
}

func client(t *testing.T, k http.Handler) *mediawiki.Client {
	s := httptest.NewServer(k)
	t.Cleanup(s.Close)
	return &mediawiki.Client{API: s.URL + "/w/api.php", Wiki: "enwiki", Contact: "me@example.org", Kept: filepath.Join(t.TempDir(), "k", "kept"), Wait: time.Nanosecond}
}

func check(t *testing.T, k *wikitest.Wiki, got mediawiki.Answers, n int) {
	t.Helper()
	if why := k.Wrong.Load(); why != nil {
		t.Error(*why)
	}
	if len(got.Pages) != n-n/7 || len(got.Missing) != n/7 {
		t.Fatalf("%d pages, %d missing, want %d and %d", len(got.Pages), len(got.Missing), n-n/7, n/7)
	}
	for _, p := range got.Pages {
		if p != k.Pages[p.OldID] {
			t.Fatalf("%+v, want %+v", p, k.Pages[p.OldID])
		}
	}
}

// TestPages: 50 a request, one request at a time, each revision once.
func TestPages(t *testing.T) {
	k, all := wiki(120)
	c := client(t, k)
	got, err := c.Pages(t.Context(), append(all, all...))
	testkit.None(t, err)
	check(t, k, got, 120)
	if n := k.Requests.Load(); n != 3 || c.Requests != 3 || c.Repeats != 0 {
		t.Errorf("%d requests, told %d and %d", n, c.Requests, c.Repeats)
	}
}

// TestBusy: what a wiki does now and then is waited for.
func TestBusy(t *testing.T) {
	header := func(w http.ResponseWriter, code int, typ, text string) bool {
		w.Header().Set("Content-Type", typ)
		w.WriteHeader(code)
		fmt.Fprint(w, text)
		return true
	}
	const js = "application/json"
	for name, fault := range map[string]func(k *wikitest.Wiki, w http.ResponseWriter) bool{
		"429": func(_ *wikitest.Wiki, w http.ResponseWriter) bool {
			w.Header().Set("Retry-After", "0")
			return header(w, 429, "text/html", "slow down")
		},
		"503, until a date": func(_ *wikitest.Wiki, w http.ResponseWriter) bool {
			w.Header().Set("Retry-After", time.Now().Add(-time.Minute).UTC().Format(http.TimeFormat))
			return header(w, 503, "text/html", "")
		},
		"maxlag": func(k *wikitest.Wiki, w http.ResponseWriter) bool {
			w.Header().Set("Retry-After", "0")
			k.Answer(w, map[string]any{"error": map[string]any{"code": "maxlag", "info": "Waiting for a database server: 5.5 seconds lagged.", "lag": 5.5}})
			return true
		},
		"HTML": func(_ *wikitest.Wiki, w http.ResponseWriter) bool { return header(w, 200, "text/html", "<html>") },
		"half": func(_ *wikitest.Wiki, w http.ResponseWriter) bool {
			return header(w, 200, js, `{"query": {"pages": [{"pag`)
		},
		"no query": func(_ *wikitest.Wiki, w http.ResponseWriter) bool {
			return header(w, 200, js, `{"batchcomplete": true}`)
		},
		"one left": func(_ *wikitest.Wiki, w http.ResponseWriter) bool {
			return header(w, 200, js, `{"query": {"general": {"wikiid": "enwiki"}, "badrevids": {}}}`)
		},
		"cut": func(_ *wikitest.Wiki, _ http.ResponseWriter) bool { panic(http.ErrAbortHandler) },
		"too short": func(_ *wikitest.Wiki, w http.ResponseWriter) bool {
			w.Header().Set("Content-Length", "100")
			return header(w, 200, js, "{}")
		},
	} {
		k, all := wiki(120)
		k.Fault = func(n int64, w http.ResponseWriter) bool { return n%2 == 1 && fault(k, w) }
		c := client(t, k)
		got, err := c.Pages(t.Context(), all)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		check(t, k, got, 120)
		if name != "cut" && (c.Requests != 6 || c.Repeats != 3) { // net/http itself repeats a cut request
			t.Errorf("%s: %d requests, %d again", name, c.Requests, c.Repeats)
		}
	}
}

// TestRefused: what no other try would mend is said at once, and nothing of it is kept.
func TestRefused(t *testing.T) {
	for text, want := range map[string]string{
		`{"query": {"general": {"wikiid": "dewiki"}}}`: `it is of the wiki "dewiki", not of "enwiki"`,
		`{"query": {"general": {"wikiid": "enwiki"}, "pages": [{"pageid": 5, "title": "T", "revisions": [{"revid": 99}]}]}}`:                                  "it speaks of revision 99, which was not asked for",
		`{"query": {"general": {"wikiid": "enwiki"}, "pages": [{"title": "T", "revisions": [{"revid": 1}]}]}}`:                                                "it gives revision 1 a page without a number or title",
		`{"query": {"general": {"wikiid": "enwiki"}, "pages": [{"pageid": 5, "title": "T", "revisions": [{"revid": 1}]}], "badrevids": {"1": {"revid": 1}}}}`: "it gives revision 1 two pages, 5 and 0",
		`{"error": {"code": "badvalue", "info": "Unrecognized value for parameter"}}`:                                                                         "badvalue: Unrecognized value for parameter",
		`{"query": {"general": {"wikiid": "enwiki"}}, "continue": {"rvcontinue": "1", "continue": "||"}}`:                                                     "it ends in the middle and continues where it began",
	} {
		k, all := wiki(3)
		k.Fault = func(_ int64, w http.ResponseWriter) bool {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, text)
			return true
		}
		c := client(t, k)
		_, err := c.Pages(t.Context(), all)
		var no *fetch.Permanent
		if !errors.As(err, &no) || !strings.Contains(err.Error(), want) || k.Requests.Load() > 2 {
			t.Errorf("%s: %v, in %d requests", text, err, k.Requests.Load())
		}
		if b, err := os.ReadFile(c.Kept); err != nil || strings.Count(string(b), "\n") != 1 {
			t.Errorf("kept %q, %v", b, err)
		}
	}
	for _, contact := range []string{"", "me", "me@example.org (x)", "a@b\nX: y"} {
		_, err := (&mediawiki.Client{Contact: contact}).Pages(t.Context(), nil)
		testkit.ErrSays(t, err, "has to be an e-mail address or a web page")
	}
}

// TestGivenUp: a wiki that never answers is given up after some tries, for another time.
func TestGivenUp(t *testing.T) {
	k, all := wiki(3)
	k.Fault = func(_ int64, w http.ResponseWriter) bool { w.WriteHeader(http.StatusBadGateway); return true }
	_, err := client(t, k).Pages(t.Context(), all)
	var no *fetch.Permanent
	if err == nil || errors.As(err, &no) || !strings.Contains(err.Error(), "did not answer in 10 tries: 502 Bad Gateway") || k.Requests.Load() != 10 {
		t.Errorf("%v, in %d requests", err, k.Requests.Load())
	}
}

// TestNoNetwork: a wiki that has answered, and then is out of reach, is waited for.
func TestNoNetwork(t *testing.T) {
	transport := http.DefaultTransport.(*http.Transport)
	dial := transport.DialContext
	defer func() { transport.DialContext = dial }()
	dials := 0
	transport.DialContext = func(ctx context.Context, network, to string) (net.Conn, error) {
		if dials++; dials > 1 && dials < 14 {
			return nil, &net.OpError{Op: "dial", Net: network, Err: syscall.ENETUNREACH}
		}
		return dial(ctx, network, to)
	}
	k, all := wiki(200)
	k.Fault = func(n int64, _ http.ResponseWriter) bool {
		if n == 3 {
			panic(http.ErrAbortHandler)
		}
		return false
	}
	c := client(t, k)
	said := ""
	c.Log = func(msg string, _ ...any) { said += msg }
	got, err := c.Pages(t.Context(), all)
	testkit.None(t, err)
	check(t, k, got, 200)
	testkit.Says(t, said, "out of reach since")
}

// TestContinued: an answer in pieces is put together.
func TestContinued(t *testing.T) {
	k, all := wiki(6)
	k.Fault = func(n int64, w http.ResponseWriter) bool {
		page, more := "", fmt.Sprintf(`, "continue": {"rvcontinue": "%d", "continue": "||info"}`, n)
		switch n {
		case 1:
			page = `{"pageid": 1000, "ns": 0, "title": "Page 0", "revisions": [{"revid": 1}, {"revid": 2}]}`
		case 2:
			page = `{"pageid": 1001, "ns": 0, "title": "Page 1", "revisions": [{"revid": 3}, {"revid": 4}, {"revid": 5}]}`
		case 3:
			page, more = `{"pageid": 1002, "ns": 0, "title": "Page 2", "redirect": true, "revisions": [{"revid": 6}]}`, ""
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"query": {"general": {"wikiid": "enwiki"}, "pages": [%s]}%s}`, page, more)
		return true
	}
	got, err := client(t, k).Pages(t.Context(), all)
	testkit.None(t, err)
	check(t, k, got, 6)
	testkit.Is(t, k.Requests.Load(), 3, "requests")
}

// TestResumed: a call that ended continues at its last request, whatever a kill left of the
// file; what was kept for other revisions does not count.
func TestResumed(t *testing.T) {
	for _, left := range []string{"", "{\"pages\": [{\"old", "\x00\x00"} {
		k, all := wiki(500)
		c := client(t, k)
		ctx, cancel := context.WithCancel(t.Context())
		c.Progress = func(done, _ int64) {
			if done == 200 {
				cancel()
			}
		}
		if _, err := c.Pages(ctx, all); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		f, err := os.OpenFile(c.Kept, os.O_APPEND|os.O_WRONLY, 0)
		testkit.None(t, err)
		fmt.Fprint(f, left)
		f.Close()
		before := k.Requests.Load()
		again := *c
		again.Progress = nil
		got, err := again.Pages(t.Context(), all)
		testkit.None(t, err)
		check(t, k, got, 500)
		testkit.Is(t, k.Requests.Load()-before, 6, left)
		other := again
		got, err = other.Pages(t.Context(), all[:100])
		testkit.None(t, err)
		check(t, k, got, 100)
		testkit.None(t, c.Forget())
	}
}
