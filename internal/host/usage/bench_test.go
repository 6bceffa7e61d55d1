package usage

import "testing"

// BenchmarkSpan is what measuring adds to a step.
func BenchmarkSpan(b *testing.B) {
	m := New(Here())
	for b.Loop() {
		m.Begin().End()
	}
}
