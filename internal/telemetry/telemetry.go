package telemetry

import (
	"context"
	"log/slog"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/interceptor"
)

// Options say what is shown, and where.
type Options struct {
	Metrics string // HOST:PORT or PORT that /metrics is served at, without a host on this machine only; "": none
	Version string // of the program
	Log     *slog.Logger
}

// Telemetry is that of a process. A nil one does nothing.
type Telemetry struct {
	metrics *metrics
	traces  *traces
}

// Start serves metrics, if there is an address, and sends traces, if the environment
// variables of OpenTelemetry ask for them. An error is about the address: a collector that
// cannot be reached is none, and is told to the log once.
func Start(ctx context.Context, o Options) (*Telemetry, error) {
	t := &Telemetry{traces: startTraces(ctx, o)}
	var err error
	if o.Metrics != "" {
		t.metrics, err = startMetrics(o)
	}
	if err != nil {
		t.Close()
		return nil, err
	}
	if t.metrics == nil && t.traces == nil {
		return nil, nil
	}
	return t, nil
}

// Client makes a client of Temporal, and the workers of it, tell what they do.
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

// Address is where the metrics are served; "" if they are not.
func (t *Telemetry) Address() string {
	if t == nil || t.metrics == nil {
		return ""
	}
	return t.metrics.address
}

// closeWithin bounds how long is waited for a collector that takes what is left.
const closeWithin = 3 * time.Second

// Close sends what is left of the traces, for at most three seconds, and ends.
func (t *Telemetry) Close() {
	if t == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeWithin)
	defer cancel()
	if t.traces != nil {
		if err := t.traces.provider.Shutdown(ctx); err != nil {
			otel.Handle(err)
		}
	}
	if t.metrics != nil {
		t.metrics.close(ctx)
	}
}

// Step names a piece of work.
type Step struct {
	Kind         string // one of few: it is a label of metrics
	Address, Key string // of traces only
	Run          string
}

// Outcomes of a step. Others are told to traces alone.
const (
	Hit    = "hit"
	Ran    = "ran"
	Failed = "failed"
)

// Begin tells that a step is begun; what it returns is called with what came of it.
func (t *Telemetry) Begin(ctx context.Context, s Step) (context.Context, func(outcome string)) {
	if t == nil {
		return ctx, func(string) {}
	}
	span := trace.SpanFromContext(context.Background()) // one that does nothing
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

// Hits counts steps of a kind that were found to have results when they were looked up.
func (t *Telemetry) Hits(kind string, n int) {
	if t != nil {
		t.metrics.count(kind, Hit, n)
	}
}

// Moved counts bytes that steps have read from the store, or written to it.
func (t *Telemetry) Moved(read, written int64) {
	if t != nil {
		t.metrics.moved(read, written)
	}
}
