// Package telemetry exports a process's metrics, in Prometheus' format, and traces, with OpenTelemetry's protocol.
//
// It must not know what is counted: it is given names. What it is given leaves the process, so
// it must not be given configurations, payloads or error texts.
package telemetry
