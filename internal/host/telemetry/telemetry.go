package telemetry

import (
	"context"
	"log/slog"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/interceptor"
)

// Options say what is exported, and where.
type Options struct {
	Metrics string // HOST:PORT or PORT to serve /metrics on, without a host on this machine only; "": none
	Version string // of the program
	Log     *slog.Logger
}

// Telemetry is a process's telemetry. nil does nothing.
type Telemetry struct {
	metrics *metrics
	traces  *traces
}

// Start serves metrics, if there is an address, and sends traces, if OpenTelemetry's environment variables ask for them.
// An error is about the address: an unreachable collector is only logged, once.
func Start(ctx context.Context, o Options) (t *Telemetry, err error) {
	t = &Telemetry{traces: startTraces(ctx, o)}
	if o.Metrics != "" {
		if t.metrics, err = startMetrics(o); err != nil {
			t.Close()
			return nil, err
		}
	}
	if t.metrics == nil && t.traces == nil {
		return nil, nil
	}
	return t, nil
}

// Client instruments a Temporal client and its workers.
func (t *Telemetry) Client(o client.Options) client.Options {
	if t == nil {
		return o
	}
	if t.metrics != nil {
		o.MetricsHandler = t.metrics.handler
	}
	if t.traces != nil {
		o.Interceptors = append([]interceptor.ClientInterceptor{t.traces.interceptor, &endings{}}, o.Interceptors...)
	}
	return o
}

// Address returns where metrics are served; "" if they are not.
func (t *Telemetry) Address() string {
	if t == nil || t.metrics == nil {
		return ""
	}
	return t.metrics.address
}

// Close sends the remaining traces, for at most three seconds, and ends.
func (t *Telemetry) Close() {
	if t == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	if t.traces != nil {
		if err := t.traces.provider.Shutdown(ctx); err != nil {
			otel.Handle(err)
		}
	}
	if t.metrics != nil {
		_ = t.metrics.server.Close()
		_ = t.metrics.provider.Shutdown(ctx)
	}
}

// Step names a piece of work.
type Step struct {
	Kind         string // few values: it is a label of metrics
	Address, Key string // only in traces
	Run          string
}

// Outcomes of a step. Others appear only in traces.
const (
	Hit    = "hit"
	Ran    = "ran"
	Failed = "failed"
)

// Begin records the start of a step; call what it returns with the outcome.
func (t *Telemetry) Begin(ctx context.Context, s Step) (context.Context, func(outcome string)) {
	if t == nil {
		return ctx, func(string) {}
	}
	span := trace.SpanFromContext(context.Background()) // a no-op
	if t.traces != nil {
		ctx, span = t.traces.tracer.Start(ctx, "step", trace.WithAttributes(attribute.String("redsi.step", s.Address),
			attribute.String("redsi.kind", s.Kind), attribute.String("redsi.key", s.Key), attribute.String("redsi.run", s.Run)))
	}
	done := t.metrics.begin(s.Kind)
	return ctx, func(outcome string) {
		done(outcome)
		span.SetAttributes(attribute.String("redsi.outcome", outcome))
		if outcome == Failed {
			span.SetStatus(codes.Error, "")
		}
		span.End()
	}
}

// Hits counts steps of a kind that had results when they were looked up.
func (t *Telemetry) Hits(kind string, n int) {
	if t != nil {
		t.metrics.count(kind, Hit, n)
	}
}

// Moved counts bytes that steps have read from the store or written to it.
func (t *Telemetry) Moved(read, written int64) {
	if t == nil || t.metrics == nil {
		return
	}
	for direction, n := range map[string]int64{"read": read, "written": written} {
		if n > 0 {
			t.metrics.bytes.Add(context.Background(), n, metric.WithAttributes(attribute.String("direction", direction)))
		}
	}
}
