package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/redsi/redsi/internal/ranking/search"
	"github.com/redsi/redsi/internal/system/loopback"
)

// Options are what a Handler serves, and its limits.
type Options struct {
	Model    string // what is searched, as people name it
	About    search.About
	Examples []string      // questions that the page proposes
	Results  int           // documents of an answer that does not ask for a number
	Timeout  time.Duration // of a query, its waiting included
	Hosts    []string      // names beside localhost that requests may be made to
	Log      *slog.Logger
}

// Handler serves a search. Its pages need nothing from elsewhere.
type Handler struct {
	o       Options
	batcher *Batcher
}

// NewHandler serves what the batcher searches.
func NewHandler(b *Batcher, o Options) *Handler { return &Handler{o, b} }

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	head := w.Header()
	head.Set("X-Content-Type-Options", "nosniff")
	head.Set("Referrer-Policy", "no-referrer")
	head.Set("Cache-Control", "no-store")
	head.Set("Content-Security-Policy", policy)
	head.Set("Cross-Origin-Resource-Policy", "same-origin")
	if status, why := loopback.Stranger(r, h.o.Hosts); status != 0 {
		if status == http.StatusMisdirectedRequest {
			why += "; the server's --allow-host NAME adds one"
		}
		head.Set("Connection", "close")
		h.fail(w, &problem{Status: status, Message: why})
		return
	}
	serve := map[string]http.HandlerFunc{"/": h.page, "/search": h.search, "/healthz": h.health}[r.URL.Path]
	switch {
	case serve != nil && (r.Method == http.MethodGet || r.Method == http.MethodHead):
		serve(w, r)
	case serve != nil:
		head.Set("Allow", "GET, HEAD")
		h.fail(w, &problem{Status: http.StatusMethodNotAllowed, Message: "only GET is answered here"})
	default:
		h.fail(w, &problem{Status: http.StatusNotFound, Message: "nothing is here; / is a page, /search?q=… answers in JSON, /healthz says that the server is up"})
	}
}

// response is the JSON of an answer.
type response struct {
	Query  string  `json:"query"`
	TookMS float64 `json:"took_ms"`
	search.Answer
}

// problem is the JSON of an error.
type problem struct {
	Status  int    `json:"status"`
	Message string `json:"error"`

	after time.Duration // of a 503: when to come back
}

func (h *Handler) search(w http.ResponseWriter, r *http.Request) {
	resp, p := h.ask(r)
	switch {
	case p != nil:
		h.fail(w, p)
	case resp != nil:
		h.write(w, http.StatusOK, resp)
	}
}

func (h *Handler) health(w http.ResponseWriter, _ *http.Request) {
	h.write(w, http.StatusOK, map[string]any{"status": "ok", "model": h.o.Model, "search": h.o.About})
}

// ask answers the query of a request. Both results are nil if the client is gone.
func (h *Handler) ask(r *http.Request) (*response, *problem) {
	start := time.Now()
	query, k, p := h.parse(r.URL)
	if p != nil {
		return nil, p
	}
	ctx, cancel := context.WithTimeout(r.Context(), h.o.Timeout)
	defer cancel()
	a, err := h.batcher.Search(ctx, query, k)
	busy := &BusyError{} // with the time to wait, if the error is one
	switch {
	case r.Context().Err() != nil:
		return nil, nil
	case errors.Is(err, context.DeadlineExceeded):
		return nil, &problem{Status: http.StatusServiceUnavailable, Message: fmt.Sprintf("no answer within %s; try again", h.o.Timeout)}
	case errors.As(err, &busy), errors.Is(err, ErrClosed):
		return nil, &problem{Status: http.StatusServiceUnavailable, Message: err.Error() + "; try again", after: busy.After}
	case err != nil:
		h.o.Log.Error("search", "query", query, "err", err)
		return nil, &problem{Status: http.StatusInternalServerError, Message: "the search failed; the server's log says why"}
	}
	resp := &response{query, float64(time.Since(start).Microseconds()) / 1000, a}
	if resp.Hits == nil {
		resp.Hits = []search.Hit{}
	}
	h.o.Log.Debug("search", "query", query, "k", k, "results", len(a.Hits), "took_ms", resp.TookMS)
	return resp, nil
}

// parse reads ?q= and ?k=.
func (h *Handler) parse(u *url.URL) (query string, k int, p *problem) {
	values, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return "", 0, &problem{Status: http.StatusBadRequest, Message: "the address is not well-formed: " + err.Error()}
	}
	query, err = search.Clean(values.Get("q"))
	if err != nil {
		return "", 0, &problem{Status: http.StatusBadRequest, Message: "q: " + err.Error()}
	}
	k = h.o.Results
	if text := values.Get("k"); text != "" {
		if k, err = strconv.Atoi(text); err != nil || k < 1 || k > h.o.About.Beams {
			return "", 0, &problem{Status: http.StatusBadRequest, Message: fmt.Sprintf("k is a number of documents, 1 to %d", h.o.About.Beams)}
		}
	}
	return query, k, nil
}

func (h *Handler) fail(w http.ResponseWriter, p *problem) {
	retry(w, p)
	h.write(w, p.Status, p)
}

// retry tells a client that is sent away when to come back.
func retry(w http.ResponseWriter, p *problem) {
	if p.Status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", strconv.Itoa(max(1, int(math.Ceil(p.after.Seconds())))))
	}
}

func (h *Handler) write(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	if err := json.NewEncoder(w).Encode(v); err != nil {
		h.o.Log.Debug("the client went away", "err", err)
	}
}
