// Package livegraph is the page of a run's graph: which step reads which other one, coloured
// by the state of each step, refreshed every few seconds while the run is open.
//
// It draws what a Source reports. It must not know Temporal or the store.
package livegraph

import (
	"bytes"
	"context"
	_ "embed" // the page's template and style
	"errors"
	"fmt"
	"html/template"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/redsi/redsi/internal/pipeline/graph"
	"github.com/redsi/redsi/internal/system/loopback"
)

type Run struct {
	ID, Workflow string
	Pipeline     string
	Open         bool
	Started      time.Time
	URL          string // in Temporal's UI
}

type Picture struct {
	Run
	Steps    []graph.Step
	Outcomes []string // of each step
}

// Source reports runs. ErrNotFound says that a run no longer exists.
type Source interface {
	Runs(ctx context.Context) ([]Run, error) // newest first
	Picture(ctx context.Context, workflow string) (Picture, error)
}

var ErrNotFound = errors.New("no such run")

// mostNodes bounds the nodes that are drawn: the time to place them grows with the square of a layer.
const mostNodes = 2000

// refresh is the time between reloads of an open run's page, in seconds.
const refresh = 2

//go:embed page.tmpl
var pageText string

//go:embed page.css
var pageStyle string

var page = sync.OnceValue(func() *template.Template { return template.Must(template.New("page").Parse(pageText)) })

// policy lets a page load nothing else.
const policy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// Handler serves the list of runs at / and a run at /run/ID, with its workflow's ID, to clients on this machine.
func Handler(source Source, log *slog.Logger) http.Handler {
	h := &handler{source, log}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", h.show(h.list))
	mux.HandleFunc("GET /run/{id}", h.show(h.run))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for name, value := range map[string]string{"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cache-Control": "no-store",
			"Content-Security-Policy": policy, "Cross-Origin-Resource-Policy": "same-origin"} {
			w.Header().Set(name, value)
		}
		if status, why := loopback.Stranger(r, nil); status != 0 {
			http.Error(w, why, status)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

type handler struct {
	source Source
	log    *slog.Logger
}

type content struct {
	Style   template.CSS
	Refresh int // seconds; 0: never
	Now     string
	Runs    []Run    // of the list
	Run     *Picture // of a run
	Counts  []graph.Share
	Picture template.HTML
	Expand  bool // each instance separately
	TooMany int  // nodes, if they are not drawn
}

func (h *handler) list(r *http.Request) (content, error) {
	runs, err := h.source.Runs(r.Context())
	return content{Runs: runs, Refresh: refresh}, err
}

func (h *handler) run(r *http.Request) (content, error) {
	p, err := h.source.Picture(r.Context(), r.PathValue("id"))
	if err != nil {
		return content{}, err
	}
	c := content{Run: &p, Expand: r.URL.Query().Has("expand")}
	if p.Open {
		c.Refresh = refresh
	}
	g := graph.New(p.Steps, c.Expand)
	g.Paint(p.Outcomes)
	counts := map[string]int{}
	for _, o := range p.Outcomes {
		counts[o]++
	}
	c.Counts = graph.Shares(counts)
	if n := len(g.Nodes); n > mostNodes {
		c.TooMany = n
		return c, nil
	}
	var svg bytes.Buffer
	err = g.SVG(&svg)
	c.Picture = template.HTML(svg.String()) // its texts are escaped
	return c, err
}

// show answers with the page of what of finds, or why there is none.
func (h *handler) show(of func(*http.Request) (content, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var b bytes.Buffer
		c, err := of(r)
		if err == nil {
			c.Style, c.Now = template.CSS(pageStyle), time.Now().Format(time.TimeOnly)
			err = page().Execute(&b, c)
		}
		if err != nil {
			status := http.StatusBadGateway
			if errors.Is(err, ErrNotFound) {
				status = http.StatusNotFound
			}
			http.Error(w, fmt.Sprintf("the run cannot be shown: %v", err), status)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		if _, err := w.Write(b.Bytes()); err != nil {
			h.log.Debug("a page was not sent", "err", err)
		}
	}
}
