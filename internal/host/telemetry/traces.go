package telemetry

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"go.temporal.io/sdk/contrib/opentelemetry"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"
)

// traces are sent in batches from a bounded queue: creating a span never blocks.
type traces struct {
	provider    *sdktrace.TracerProvider
	tracer      trace.Tracer
	interceptor interceptor.Interceptor
}

// startTraces follows the environment; nil if it asks for no traces.
func startTraces(ctx context.Context, o Options) *traces {
	wanted, wrong := wantsTraces(os.Getenv)
	if wrong != "" {
		o.Log.Warn("no traces are sent: " + wrong)
	}
	if !wanted {
		return nil
	}
	var once sync.Once
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) {
		once.Do(func() { o.Log.Warn("traces are lost, which harms no run; this is said once", "err", err) })
	}))
	exporter, err := otlptracehttp.New(ctx)
	if err != nil {
		otel.Handle(err)
		return nil
	}
	res, err := resource.New(ctx, resource.WithAttributes(attribute.String("service.name", "redsi"), attribute.String("service.version", o.Version)),
		resource.WithTelemetrySDK(), resource.WithHost(), resource.WithProcessPID(), resource.WithFromEnv()) // the last one takes precedence
	if err != nil {
		otel.Handle(err)
	}
	x := &traces{provider: sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithResource(res), sdktrace.WithIDGenerator(ids{}))}
	x.tracer = x.provider.Tracer("redsi")
	x.interceptor = interceptor.NewTracingInterceptor(newTracer(opentelemetry.TracerOptions{
		Tracer:                  x.provider.Tracer("temporal-sdk-go"),
		TextMapPropagator:       propagation.TraceContext{},
		DisableSignalTracing:    true, // signals between a run and its steps carry no information
		DisableQueryTracing:     true, // `redsi run` asks three times a second
		DisableBaggage:          true,
		AllowInvalidParentSpans: true, // a header that cannot be read must not fail a run
	}))
	return x
}

// wantsTraces reads the variables that turn traces on; libraries read the others. wrong says why none can be sent.
func wantsTraces(env func(string) string) (wanted bool, wrong string) {
	endpoint := cmp.Or(env("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"), env("OTEL_EXPORTER_OTLP_ENDPOINT"))
	switch x := env("OTEL_TRACES_EXPORTER"); {
	case strings.EqualFold(env("OTEL_SDK_DISABLED"), "true"), x == "none", x == "" && endpoint == "":
		return false, ""
	case x != "" && x != "otlp":
		return false, fmt.Sprintf("OTEL_TRACES_EXPORTER is %q, but redsi supports only otlp and none", x)
	}
	for _, name := range []string{"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"} {
		if p := env(name); p == "http/protobuf" {
			break
		} else if p != "" {
			return false, fmt.Sprintf("%s is %q, but redsi sends only http/protobuf, which collectors accept on port 4318", name, p)
		}
	}
	return true, ""
}

// tracer is Temporal's, except that the span of a workflow execution has the same ids whenever and wherever it is
// replayed, so that spans sent before its end have their parent, whichever worker ends it.
type tracer struct {
	interceptor.Tracer
	options opentelemetry.TracerOptions
}

func newTracer(o opentelemetry.TracerOptions) tracer {
	o.SpanStarter = func(ctx context.Context, t trace.Tracer, name string, opts ...trace.SpanStartOption) trace.Span {
		_, s := t.Start(ctx, name, opts...)
		return &span{Span: s}
	}
	t, err := opentelemetry.NewTracer(o)
	if err != nil {
		panic(err) // it returns none
	}
	return tracer{t, o}
}

// StartSpan implements interceptor.Tracer.
func (t tracer) StartSpan(o *interceptor.TracerStartSpanOptions) (interceptor.TracerSpan, error) {
	if o.Operation != "RunWorkflow" {
		return t.Tracer.StartSpan(o)
	}
	execution := t.options
	execution.SpanStarter = func(ctx context.Context, t trace.Tracer, name string, opts ...trace.SpanStartOption) trace.Span {
		_, s := t.Start(context.WithValue(ctx, idsFrom{}, o.IdempotencyKey), name, opts...)
		return &span{Span: s, execution: true}
	}
	one, err := opentelemetry.NewTracer(execution)
	if err != nil {
		return nil, err
	}
	return one.StartSpan(o)
}

// span is a span of Temporal's. For an error it records only the type: the text may contain parts of a payload.
type span struct {
	trace.Span
	execution bool      // of a workflow
	ended     time.Time // when that ended, for the first time
}

func (s *span) RecordError(err error, _ ...trace.EventOption) {
	switch app, ok := errors.AsType[*temporal.ApplicationError](err); {
	case err == nil:
	case temporal.IsCanceledError(err):
		s.SetAttributes(attribute.String("error.type", "canceled"))
	case ok && app.Type() != "":
		s.SetAttributes(attribute.String("error.type", app.Type()))
	}
}

func (s *span) SetStatus(code codes.Code, _ string) { s.Span.SetStatus(code, "") }

// End sends nothing for a workflow that has not ended, but was dropped from the worker's memory or replayed.
func (s *span) End(o ...trace.SpanEndOption) {
	switch {
	case !s.execution:
		s.Span.End(o...)
	case !s.ended.IsZero():
		s.Span.End(trace.WithTimestamp(s.ended))
	}
}

// endings records which workflow executions have ended. A query to an ended workflow replays its last task as if it were
// new: the process that ended it remembers, and spans from other processes have the same ids and times.
type endings struct {
	interceptor.InterceptorBase
	mu   sync.Mutex
	told map[trace.SpanID]bool
}

const endingsKept = 10_000

func (e *endings) InterceptWorkflow(_ workflow.Context, next interceptor.WorkflowInboundInterceptor) interceptor.WorkflowInboundInterceptor {
	i := &ending{all: e}
	i.Next = next
	return i
}

type ending struct {
	interceptor.WorkflowInboundInterceptorBase
	all *endings
}

func (i *ending) ExecuteWorkflow(ctx workflow.Context, in *interceptor.ExecuteWorkflowInput) (any, error) {
	out, err := i.Next.ExecuteWorkflow(ctx, in)
	of, _ := opentelemetry.SpanFromWorkflowContext(ctx)
	s, ok := of.(*span)
	if !ok || workflow.IsReplaying(ctx) || !i.all.first(s.SpanContext().SpanID()) {
		return out, err
	}
	s.ended = workflow.Now(ctx)
	if _, ok := errors.AsType[*workflow.ContinueAsNewError](err); ok {
		s.SetStatus(codes.Ok, "") // which stays, whatever is set for the error
	}
	return out, err
}

func (e *endings) first(id trace.SpanID) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.told[id] {
		return false
	}
	if e.told == nil || len(e.told) >= endingsKept {
		e.told = map[trace.SpanID]bool{}
	}
	e.told[id] = true
	return true
}

// ids are random, or derived from the context.
type ids struct{}

type idsFrom struct{}

// NewIDs implements sdktrace.IDGenerator.
func (ids) NewIDs(ctx context.Context) (t trace.TraceID, s trace.SpanID) {
	var from [sha256.Size]byte
	if key, ok := ctx.Value(idsFrom{}).(string); ok {
		from = sha256.Sum256([]byte(key))
	} else {
		_, _ = rand.Read(from[:]) // it never fails
	}
	copy(t[:], from[copy(s[:], from[:]):])
	return t, s
}

// NewSpanID implements sdktrace.IDGenerator.
func (g ids) NewSpanID(ctx context.Context, _ trace.TraceID) trace.SpanID {
	_, s := g.NewIDs(ctx)
	return s
}
