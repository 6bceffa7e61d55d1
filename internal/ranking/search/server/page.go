package server

import (
	"bytes"
	"crypto/sha256"
	_ "embed" // the page's template and style
	"encoding/base64"
	"fmt"
	"html/template"
	"net/http"
	"strings"
	"sync"

	"github.com/dustin/go-humanize"

	"github.com/redsi/redsi/internal/ranking/search"
)

//go:embed page.tmpl
var pageText string

//go:embed page.css
var pageStyle string

// policy lets the page have its own style and nothing else.
var policy = func() string {
	sum := sha256.Sum256([]byte(pageStyle))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
		"'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
}()

var pageTemplate = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("page").Funcs(template.FuncMap{
		"percent": search.Percent,
		"hundred": func(p float64) string { return fmt.Sprintf("%.2f", 100*p) },
		"score":   func(s float64) string { return fmt.Sprintf("%.3f", s) },
		"count":   func(n int) string { return humanize.Comma(int64(n)) },
		"took":    func(ms float64) string { return fmt.Sprintf("%.3g", ms) },
	}).Parse(pageText))
})

// page is what the template shows.
type page struct {
	Style  template.CSS
	Asked  string // as typed
	K      int
	Most   int
	Limit  int
	Answer *response
	Error  string
	Options
}

func (h *Handler) page(w http.ResponseWriter, r *http.Request) {
	p := page{Style: template.CSS(pageStyle), K: h.o.Results, Most: h.o.About.Beams, Limit: search.MaxQuery, Options: h.o}
	status := http.StatusOK
	if r.URL.Query().Has("q") {
		p.Asked = strings.ToValidUTF8(r.URL.Query().Get("q"), "\uFFFD") // it is shown though it is refused
		if _, k, wrong := h.parse(r.URL); wrong == nil {
			p.K = k
		}
		answer, failed := h.ask(r)
		if answer == nil && failed == nil {
			return // nobody is there to read it
		}
		if p.Answer = answer; failed != nil {
			status, p.Error = failed.Status, failed.Message
			retry(w, failed)
		}
	}
	var b bytes.Buffer
	if err := pageTemplate().Execute(&b, p); err != nil {
		h.o.Log.Error("page", "err", err)
		h.fail(w, &problem{Status: http.StatusInternalServerError, Message: "the page could not be made; the server's log says why"})
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	if _, err := b.WriteTo(w); err != nil {
		h.o.Log.Debug("the client went away", "err", err)
	}
}
