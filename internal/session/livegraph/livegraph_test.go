package livegraph

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redsi/redsi/internal/pipeline/graph"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/testkit"
)

type fake struct {
	pictures map[string]Picture
	err      error
}

func (f fake) Runs(context.Context) ([]Run, error) {
	runs := lists.Map(slices.Collect(maps.Values(f.pictures)), func(p Picture) Run { return p.Run })
	return slices.SortedFunc(slices.Values(runs), func(a, b Run) int { return b.Started.Compare(a.Started) }), f.err
}

func (f fake) Picture(_ context.Context, workflow string) (Picture, error) {
	p, ok := f.pictures[workflow]
	if !ok && f.err == nil {
		return p, ErrNotFound
	}
	return p, f.err
}

func get(t *testing.T, h http.Handler, path string, change func(*http.Request)) (int, string) {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, path, nil)
	r.Host = "localhost:8234"
	if change != nil {
		change(r)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	b, err := io.ReadAll(w.Result().Body)
	testkit.None(t, err)
	return w.Code, string(b)
}

func TestPages(t *testing.T) {
	steps := []graph.Step{{Address: `step.command.many["a"]`}, {Address: `step.command.many["b"]`},
		{Address: "step.command.<script>", Deps: []int{0}}, {Address: "table.t", Deps: []int{1, 2}}}
	open := Picture{Run: Run{ID: "1", Workflow: "reproduce-1", Pipeline: "<b>.hcl", Open: true, Started: time.Now(), URL: "http://ui"},
		Steps: steps, Outcomes: []string{"ran", "running", "failed", "skipped"}}
	ended := open
	ended.Run = Run{ID: "2", Workflow: "reproduce-2", Pipeline: "p.hcl", Started: time.Now()}
	ended.Outcomes = []string{"hit", "ran", "ran", "ran"}
	large := Picture{Run: Run{ID: "3", Workflow: "reproduce-3", Pipeline: "l.hcl"}}
	for i := range mostNodes + 1 {
		large.Steps = append(large.Steps, graph.Step{Address: fmt.Sprintf("step.command.many[%d]", i)})
		large.Outcomes = append(large.Outcomes, "waiting")
	}
	h := Handler(fake{pictures: map[string]Picture{"reproduce-1": open, "reproduce-2": ended, "reproduce-3": large}}, slog.New(slog.DiscardHandler))
	for path, want := range map[string][]string{
		"/":                         {`href="/run/reproduce-1"`, "&lt;b&gt;.hcl", "running", "ended"},
		"/run/reproduce-1":          {`http-equiv="refresh"`, "command many 1/2", `class="work"`, `class="bad"`, `class="skip"`, "<b>1</b> failed", "step.command.&lt;script&gt;", `href="http://ui"`},
		"/run/reproduce-1?expand=1": {`class="done"`, `many [&#34;b&#34;]`},
		"/run/reproduce-2":          {"command many 2/2", "<b>3</b> ran", "ended"},
		"/run/reproduce-3":          {"command many 0/2001"},
		"/run/reproduce-3?expand":   {"2001 nodes are too many to draw"},
	} {
		code, body := get(t, h, path, nil)
		if code != http.StatusOK || !strings.HasPrefix(body, "<!doctype html>") {
			t.Errorf("%s: %d %.200s", path, code, body)
		}
		for _, w := range want {
			if !strings.Contains(body, w) {
				t.Errorf("%s has no %s:\n%s", path, w, body)
			}
		}
		if strings.Contains(body, "<script") || strings.Contains(body, "<b>.hcl") {
			t.Errorf("%s has what a run's names say as a part of the page", path)
		}
	}
	if _, body := get(t, h, "/run/reproduce-2", nil); strings.Contains(body, "http-equiv") {
		t.Error("a run that has ended is loaded again and again")
	}
	for path, want := range map[string]int{"/run/none": 404, "/x": 404} {
		if code, _ := get(t, h, path, nil); code != want {
			t.Errorf("%s: %d, want %d", path, code, want)
		}
	}
	if code, _ := get(t, h, "/", func(r *http.Request) { r.Host = "evil.example" }); code != http.StatusMisdirectedRequest {
		t.Errorf("a foreign name: %d", code)
	}
	if code, _ := get(t, h, "/", func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }); code != http.StatusForbidden {
		t.Errorf("a page of another site: %d", code)
	}
	h = Handler(fake{err: errors.New("the server is away")}, slog.New(slog.DiscardHandler))
	if code, body := get(t, h, "/run/1", nil); code != http.StatusBadGateway || !strings.Contains(body, "the server is away") {
		t.Errorf("%d %s", code, body)
	}
}
