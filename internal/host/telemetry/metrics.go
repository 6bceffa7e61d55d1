package telemetry

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/prometheus/otlptranslator"
	"go.opentelemetry.io/otel/attribute"
	exporter "go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/metric"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/opentelemetry"

	"github.com/redsi/redsi/internal/system/loopback"
)

// metrics are a process's metrics, served over HTTP. nil counts nothing.
type metrics struct {
	provider *sdkmetric.MeterProvider
	handler  client.MetricsHandler // of Temporal's SDK
	server   *http.Server
	address  string

	steps   metric.Int64Counter
	running metric.Int64UpDownCounter
	seconds metric.Float64Histogram
	bytes   metric.Int64Counter
}

// Upper bounds in seconds: for what Temporal's SDK times, mostly calls and waiting, and for steps, which may take days.
var (
	callSeconds = []float64{0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60}
	workSeconds = []float64{0.01, 0.1, 1, 10, 60, 300, 900, 3600, 4 * 3600, 24 * 3600, 4 * 24 * 3600}
)

func startMetrics(o Options) (*metrics, error) {
	l, err := listen(o.Metrics)
	if err != nil {
		return nil, err
	}
	m := &metrics{address: l.Addr().String()}
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	// Names unchanged: Temporal documents its own without suffixes.
	reader, err := exporter.New(exporter.WithRegisterer(registry), exporter.WithoutScopeInfo(), exporter.WithoutTargetInfo(),
		exporter.WithTranslationStrategy(otlptranslator.UnderscoreEscapingWithoutSuffixes))
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	m.provider = sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader), sdkmetric.WithView(sdkmetric.NewView(
		sdkmetric.Instrument{Name: "temporal_*", Kind: sdkmetric.InstrumentKindHistogram},
		sdkmetric.Stream{Aggregation: sdkmetric.AggregationExplicitBucketHistogram{Boundaries: callSeconds}})))
	m.handler = opentelemetry.NewMetricsHandler(opentelemetry.MetricsHandlerOptions{Meter: m.provider.Meter("temporal-sdk-go"),
		UseMonotonicCounters: true, OnError: func(err error) { o.Log.Debug("a metric of Temporal's SDK", "err", err) }})
	if err := m.instruments(m.provider.Meter("redsi")); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	m.serve(l, registry, o.Log)
	return m, nil
}

// listen listens on this machine only, unless the address has a host.
func listen(address string) (net.Listener, error) {
	if !strings.Contains(address, ":") {
		address = ":" + address
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("%q is not HOST:PORT: %w", address, err)
	}
	return net.Listen("tcp", net.JoinHostPort(cmp.Or(host, "127.0.0.1"), port))
}

func (m *metrics) instruments(meter metric.Meter) error {
	var errs [4]error
	m.steps, errs[0] = meter.Int64Counter("redsi_steps_total",
		metric.WithDescription("Steps by kind and outcome: hit, ran, or failed, which counts each attempt."))
	m.running, errs[1] = meter.Int64UpDownCounter("redsi_steps_running", metric.WithDescription("Steps running now, by kind."))
	m.seconds, errs[2] = meter.Float64Histogram("redsi_step_seconds", metric.WithExplicitBucketBoundaries(workSeconds...),
		metric.WithDescription("Seconds that executed steps took, by kind."))
	m.bytes, errs[3] = meter.Int64Counter("redsi_store_bytes_total",
		metric.WithDescription("Bytes that steps have read from the store and written to it."))
	return errors.Join(errs[:]...)
}

func (m *metrics) serve(l net.Listener, registry *prometheus.Registry, log *slog.Logger) {
	show := promhttp.HandlerFor(registry, promhttp.HandlerOpts{MaxRequestsInFlight: 4})
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, r *http.Request) {
		// Other machines use names of this one that it does not know.
		if at, ok := l.Addr().(*net.TCPAddr); ok && at.IP.IsLoopback() {
			if status, why := loopback.Stranger(r, nil); status != 0 {
				http.Error(w, why, status)
				return
			}
		}
		show.ServeHTTP(w, r)
	})
	m.server = &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second, WriteTimeout: time.Minute, MaxHeaderBytes: 64 << 10}
	go func() {
		if err := m.server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			log.Warn("metrics are not served any more", "err", err)
		}
	}()
}

func (m *metrics) begin(kind string) (done func(outcome string)) {
	if m == nil {
		return func(string) {}
	}
	ctx, of := context.Background(), metric.WithAttributes(attribute.String("kind", kind))
	m.running.Add(ctx, 1, of)
	began := time.Now()
	return func(outcome string) {
		m.running.Add(ctx, -1, of)
		switch outcome {
		case Ran:
			m.seconds.Record(ctx, time.Since(began).Seconds(), of)
			m.count(kind, outcome, 1)
		case Hit, Failed:
			m.count(kind, outcome, 1)
		}
	}
}

func (m *metrics) count(kind, outcome string, n int) {
	if m != nil && n > 0 {
		m.steps.Add(context.Background(), int64(n), metric.WithAttributes(attribute.String("kind", kind), attribute.String("outcome", outcome)))
	}
}
