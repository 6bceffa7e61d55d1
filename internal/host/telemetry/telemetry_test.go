package telemetry

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/system/testkit"
)

func TestWantsTraces(t *testing.T) {
	for _, c := range []struct {
		env    string
		wanted bool
		wrong  string
	}{
		{"", false, ""},
		{"OTEL_SERVICE_NAME=x", false, ""},
		{"OTEL_EXPORTER_OTLP_ENDPOINT=http://h:4318", true, ""},
		{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=http://h:4318/v1/traces", true, ""},
		{"OTEL_TRACES_EXPORTER=otlp", true, ""},
		{"OTEL_TRACES_EXPORTER=none OTEL_EXPORTER_OTLP_ENDPOINT=http://h:4318", false, ""},
		{"OTEL_SDK_DISABLED=TRUE OTEL_TRACES_EXPORTER=otlp", false, ""},
		{"OTEL_TRACES_EXPORTER=zipkin", false, `OTEL_TRACES_EXPORTER is "zipkin"`},
		{"OTEL_TRACES_EXPORTER=otlp OTEL_EXPORTER_OTLP_PROTOCOL=grpc", false, "4318"},
		{"OTEL_TRACES_EXPORTER=otlp OTEL_EXPORTER_OTLP_PROTOCOL=grpc OTEL_EXPORTER_OTLP_TRACES_PROTOCOL=http/protobuf", true, ""},
	} {
		env := map[string]string{}
		for _, kv := range strings.Fields(c.env) {
			k, v, _ := strings.Cut(kv, "=")
			env[k] = v
		}
		wanted, wrong := wantsTraces(func(k string) string { return env[k] })
		if wanted != c.wanted || !strings.Contains(wrong, c.wrong) || (wrong == "") != (c.wrong == "") {
			t.Errorf("%q: %v, %q", c.env, wanted, wrong)
		}
	}
}

// TestAddress: without a host the metrics are for this machine, and then not for a web
// page that reaches it by another name.
func TestAddress(t *testing.T) {
	for _, address := range []string{"0", ":0", "127.0.0.1:0"} {
		m, err := Start(context.Background(), Options{Metrics: address, Log: slog.New(slog.DiscardHandler)})
		testkit.None(t, err)
		defer m.Close()
		if !strings.HasPrefix(m.Address(), "127.0.0.1:") {
			t.Errorf("%q is served at %s", address, m.Address())
		}
		for host, want := range map[string]int{"": http.StatusOK, "localhost": http.StatusOK, "metrics.example.org": http.StatusMisdirectedRequest} {
			req, err := http.NewRequest(http.MethodGet, "http://"+m.Address()+"/metrics", nil)
			testkit.None(t, err)
			req.Host = host
			r, err := http.DefaultClient.Do(req)
			testkit.None(t, err)
			r.Body.Close()
			testkit.Is(t, r.StatusCode, want, host, r.Status)
		}
	}
	for _, address := range []string{"127.0.0.1:x", "a:b:c"} {
		if m, err := Start(context.Background(), Options{Metrics: address, Log: slog.New(slog.DiscardHandler)}); err == nil {
			m.Close()
			t.Errorf("%q is no address", address)
		}
	}
}

// TestNothing: without an address and without variables there is nothing, which is usable.
func TestNothing(t *testing.T) {
	none, err := Start(context.Background(), Options{})
	if none != nil || err != nil {
		t.Fatal(none, err)
	}
	ctx, end := none.Begin(context.Background(), Step{Kind: "k"})
	none.Hits("k", 1)
	none.Moved(1, 1)
	end(Ran)
	testkit.Is(t, ctx, context.Background(), "it does something")
	testkit.Is(t, none.Address(), "", "it does something")
	none.Close()
}
