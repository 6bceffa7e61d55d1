package worker_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	trace "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/redsi/redsi/internal/host/payload"
	"github.com/redsi/redsi/internal/host/telemetry"
	"github.com/redsi/redsi/internal/system/testkit"
	"github.com/redsi/redsi/workflows"
)

// watch starts telemetry that ends with the test.
func watch(t *testing.T, o telemetry.Options) *telemetry.Telemetry {
	t.Helper()
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	shown, err := telemetry.Start(context.Background(), o)
	testkit.None(t, err)
	t.Cleanup(shown.Close)
	return shown
}

const watchedPipeline = `
step "text" "a" { text = "private words of a" }
step "text" "slow" {
  text  = "private words of slow"
  after = step.text.a.out
  hold  = true
}
step "short" "b" {
  text  = "private words of b"
  after = [step.text.slow.out]
}
step "short" "c" {
  text  = "private words of c"
  after = [step.short.b.out]
}
step "split" "cut" { text = "private words of cut" }
step "text" "wrong" { text = "wrong" }
`

// TestMetrics reads what a worker has done from its own page.
func TestMetrics(t *testing.T) {
	shown := watch(t, telemetry.Options{Metrics: "0"})
	b := idleBenchOf(t, 8, payload.Codec{}, shown)
	b.startWorker()
	b.fails("wrong", "private words of an error")
	w := b.start(watchedPipeline, "1")
	b.next()
	get := func() string {
		t.Helper()
		r, err := http.Get("http://" + shown.Address() + "/metrics")
		testkit.None(t, err)
		defer r.Body.Close()
		page, err := io.ReadAll(r.Body)
		if err != nil || r.StatusCode != http.StatusOK {
			t.Fatalf("%s, %v", r.Status, err)
		}
		return string(page)
	}
	testkit.Says(t, get(), `redsi_steps_running{kind="text"}`)
	close(b.hold)
	testkit.Some(t, testkit.Err(b.wait(w)))
	b.fail.Store(nil)
	b.run(watchedPipeline, "2")
	page := get()
	for _, line := range []string{
		`redsi_steps_total{kind="text",outcome="ran"} 3`,
		`redsi_steps_total{kind="short",outcome="ran"} 2`,
		`redsi_steps_total{kind="short",outcome="hit"} 2`,
		`redsi_steps_total{kind="text",outcome="hit"} 2`,
		`redsi_steps_running{kind="text"} 0`,
		`redsi_step_seconds_count{kind="text"} 3`,
		`redsi_store_bytes_total{direction="read"}`,
		`redsi_store_bytes_total{direction="written"}`,
		`temporal_workflow_completed{`,
		`temporal_activity_execution_latency_bucket{`,
		`temporal_worker_task_slots_available{`,
		`go_goroutines `,
	} {
		testkit.Says(t, page, line)
	}
	testkit.Says(t, page, `redsi_steps_total{kind="text",outcome="failed"}`)
	for _, secret := range []string{"private words", "step.text"} {
		if strings.Contains(page, secret) {
			t.Errorf("the page has %q", secret)
		}
	}
	if t.Failed() {
		t.Log(page)
	}
}

// collect is a collector of traces: what it was sent, and all spans in it.
type collect struct {
	mu    sync.Mutex
	bytes bytes.Buffer
	spans []*trace.Span
}

func (c *collect) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var req collector.ExportTraceServiceRequest
	if err == nil {
		err = proto.Unmarshal(body, &req)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.bytes.Write(body)
	for _, res := range req.ResourceSpans {
		for _, scope := range res.ScopeSpans {
			c.spans = append(c.spans, scope.Spans...)
		}
	}
	w.Header().Set("Content-Type", "application/x-protobuf")
}

func attributes(s *trace.Span) map[string]string {
	all := map[string]string{}
	for _, a := range s.Attributes {
		all[a.Key] = a.Value.GetStringValue()
	}
	return all
}

// TestTraces follows a run whose worker is replaced while it works: one trace has
// everything, each once and none without its parent, and nothing of what is worked on.
func TestTraces(t *testing.T) {
	got := &collect{}
	receiver := httptest.NewServer(got)
	defer receiver.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", receiver.URL)
	shown := watch(t, telemetry.Options{Version: "v"})
	b := idleBenchOf(t, 8, payload.Codec{}, shown)
	b.startWorker()
	b.fails("wrong", "private words of an error")
	w := b.start(watchedPipeline, "1")
	b.next()
	b.queue.Stop()
	if said := b.next(); !strings.HasPrefix(said, "cancelled") {
		t.Fatal(said)
	}
	b.startWorker() // it replays what the other one has done
	b.next()
	close(b.hold)
	testkit.Some(t, testkit.Err(b.wait(w)))
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	b.queue.Stop()
	b.startWorker()
	if _, err := workflows.Ask[workflows.State](ctx, b.c, w.GetID(), workflows.StateQuery); err != nil { // which replays all of it
		t.Error(err)
	}
	b.queue.Stop()
	shown.Close()

	ids, names, steps := map[string]bool{}, map[string]int{}, map[string][]string{}
	for _, s := range got.spans {
		if id := hex.EncodeToString(s.SpanId); ids[id] {
			t.Errorf("the span %s of %s came twice", id, s.Name)
		} else {
			ids[id] = true
		}
		names[s.Name]++
		if s.Name == "step" {
			a := attributes(s)
			testkit.That(t, len(a["redsi.key"]) == 64 && a["redsi.run"] == t.Name()+"1", "a step says", a)
			steps[a["redsi.step"]] = append(steps[a["redsi.step"]], a["redsi.kind"]+" "+a["redsi.outcome"])
		}
	}
	for _, s := range got.spans {
		if !bytes.Equal(s.TraceId, got.spans[0].TraceId) {
			t.Errorf("%s is in another trace", s.Name)
		}
		if parent := hex.EncodeToString(s.ParentSpanId); !ids[parent] && (parent != "" || s.Name != "StartWorkflow:"+workflows.ReproduceWorkflow) {
			t.Errorf("%s has the parent %q, which is not there", s.Name, parent)
		}
	}
	for name, n := range map[string]int{"StartWorkflow:Reproduce": 1, "RunWorkflow:Reproduce": 1, "StartActivity:Do": 4, "RunActivity:Do": 5, "StartChildWorkflow:Step": 1, "RunWorkflow:Step": 1} {
		testkit.Is(t, names[name], n, name)
	}
	for address, want := range map[string]string{"step.text.a": "text ran", "step.text.slow": "text interrupted, text ran",
		"step.short.b": "short ran", "step.short.c": "short ran"} {
		slices.Sort(steps[address])
		testkit.Is(t, strings.Join(steps[address], ", "), want, address)
	}
	if said := steps["step.text.wrong"]; len(said) == 0 || said[0] != "text failed" {
		t.Errorf("what failed is %v", said)
	}
	if bytes.Contains(got.bytes.Bytes(), []byte("private words")) {
		t.Error("the traces have what is worked on")
	}
	if t.Failed() {
		t.Log(names, steps)
	}
}

// TestLostTraces: a collector that is not there, or says nothing, harms no run, and is
// told of once.
func TestLostTraces(t *testing.T) {
	release := make(chan struct{})
	silent := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	t.Cleanup(func() {
		close(release)
		silent.Close()
	})
	for name, url := range map[string]string{"gone": gone.URL, "silent": silent.URL} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", url)
			t.Setenv("OTEL_BSP_SCHEDULE_DELAY", "10") // ms
			var log lockedWriter
			shown := watch(t, telemetry.Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
			b := idleBenchOf(t, 8, payload.Codec{}, shown)
			b.startWorker()
			for i := range 3 {
				if _, ran := b.run(fmt.Sprintf(`step "text" "a" { text = "%d" }`, i), fmt.Sprint(i)); ran != 1 {
					t.Errorf("%d ran", ran)
				}
			}
			b.queue.Stop()
			shown.Close()
			testkit.Is(t, strings.Count(log.String(), "traces are lost"), 1, "said times", log.String())
		})
	}
}

// lockedWriter keeps what is written to it.
type lockedWriter struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (w *lockedWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.b.Write(p)
}

func (w *lockedWriter) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.b.String()
}
