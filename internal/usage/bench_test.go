package usage

import "testing"

// BenchmarkSpan is what measuring adds to a step.
func BenchmarkSpan(b *testing.B) {
	m := New(Here(Cards{}))
	for b.Loop() {
		m.Begin(true).End()
	}
}
