// Package telemetry shows how a process does: metrics in Prometheus' format, and traces
// that are sent by OpenTelemetry's protocol.
//
// It must not know what is counted: it is given names. What it is given leaves the
// process, so it is given no configuration, no payload and no text of an error.
package telemetry
