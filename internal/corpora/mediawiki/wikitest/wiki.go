// Package wikitest is a wiki for tests: it answers action=query for revisions as MediaWiki does, in JSON of formatversion 2.
// It must not be used outside of tests and tools.
package wikitest

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"net/http"
	"sort"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/redsi/redsi/internal/corpora/wikipedia"
)

// Wiki has the pages of some revisions.
type Wiki struct {
	Name  string                                    // its id, such as "enwiki"
	Pages map[uint64]wikipedia.Entry                // by revision; other revisions are bad
	Fault func(n int64, w http.ResponseWriter) bool // if set, may answer the nth request, from 1, in its own way

	Requests atomic.Int64
	Wrong    atomic.Pointer[string] // the last fault of a client
	at       atomic.Int64
}

func (k *Wiki) wrong(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	k.Wrong.Store(&text)
}

func (k *Wiki) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if k.at.Add(1) > 1 {
		k.wrong("two requests at a time")
	}
	defer k.at.Add(-1)
	n := k.Requests.Add(1)
	if r.Header.Get("Accept-Encoding") != "gzip" {
		k.wrong("it does not take gzip")
	}
	if agent := r.UserAgent(); !strings.HasPrefix(agent, "redsi/") || !strings.Contains(agent, "@") {
		k.wrong("User-Agent is %q", agent)
	}
	if r.FormValue("maxlag") == "" || r.FormValue("formatversion") != "2" {
		k.wrong("it asks %s", r.URL.RawQuery)
	}
	if k.Fault != nil && k.Fault(n, w) {
		return
	}
	ids := strings.Split(r.FormValue("revids"), "|")
	if len(ids) > 50 {
		k.wrong("%d revisions in one request", len(ids))
	}
	var pages []map[string]any
	index := map[uint64]int{}
	bad := map[string]any{}
	for _, text := range ids {
		id, _ := strconv.ParseUint(text, 10, 64)
		e, ok := k.Pages[id]
		if !ok {
			bad[text] = map[string]any{"revid": id, "missing": true}
			continue
		}
		i, ok := index[e.PageID]
		if !ok {
			i = len(pages)
			index[e.PageID] = i
			page := map[string]any{"pageid": e.PageID, "ns": e.NS, "title": e.Title, "contentmodel": "wikitext", "lastrevid": id, "revisions": []any{}}
			if e.Redirect {
				page["redirect"] = true
			}
			pages = append(pages, page)
		}
		pages[i]["revisions"] = append(pages[i]["revisions"].([]any), map[string]any{"revid": id, "parentid": id - 1})
	}
	sort.Slice(pages, func(i, j int) bool { return pages[i]["pageid"].(uint64) < pages[j]["pageid"].(uint64) })
	query := map[string]any{"pages": pages, "badrevids": bad}
	if len(bad) == 0 {
		query["badrevids"] = []any{}
	}
	if r.FormValue("meta") == "siteinfo" {
		query["general"] = map[string]any{"wikiid": k.Name, "generator": "MediaWiki"}
	}
	k.Answer(w, map[string]any{"batchcomplete": true, "query": query})
}

// Answer writes JSON as a wiki does.
func (k *Wiki) Answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Content-Encoding", "gzip")
	z := gzip.NewWriter(w)
	if err := json.NewEncoder(z).Encode(v); err != nil {
		k.wrong("%v", err)
	}
	z.Close()
}
