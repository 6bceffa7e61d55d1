package cli

import (
	"strings"
	"testing"
	"time"

	"github.com/redsi/redsi/internal/pipeline/estimate"
)

func TestConfirmLimits(t *testing.T) {
	usual := limits{4 * time.Hour, 20e9}
	for _, c := range []struct {
		above string
		yes   bool
		want  *limits
		err   bool
	}{
		{usualLimits, false, &usual, false},
		{usualLimits, true, nil, false},
		{"90m", false, &limits{90 * time.Minute, 20e9}, false},
		{"1GiB", false, &limits{4 * time.Hour, 1 << 30}, false},
		{"2GB, 1h", false, &limits{time.Hour, 2e9}, false},
		{"never", false, nil, false},
		{"0", false, nil, false},
		{"much", false, nil, true},
		{"-1h", false, nil, true},
		{"1h,", false, nil, true},
	} {
		got, err := (&confirmOptions{above: c.above, yes: c.yes}).limits()
		if (err != nil) != c.err || (got == nil) != (c.want == nil) || got != nil && *got != *c.want {
			t.Errorf("%q: %+v, %v", c.above, got, err)
		}
	}
}

func TestConfirmExceeded(t *testing.T) {
	l := limits{time.Hour, 1000}
	for _, c := range []struct {
		e    estimate.Estimate
		want bool
	}{
		{estimate.Estimate{Steps: 9, WorkP50: time.Hour}, false},
		{estimate.Estimate{Steps: 9, WorkP50: time.Hour + 1}, true},
		{estimate.Estimate{Steps: 9, Download: estimate.Download{Bytes: 1001, Sources: 1}}, true},
		{estimate.Estimate{Steps: 400, Unknown: 400}, false}, // of a small corpus that is generated, as far as anybody knows
		{estimate.Estimate{Steps: 400, Unknown: 400, Download: estimate.Download{Sources: 1, Unknown: 1}}, true},
		{estimate.Estimate{Steps: 4, Unknown: 4, Download: estimate.Download{Sources: 1, Unknown: 1}}, false},
	} {
		if l.exceeded(&c.e) != c.want {
			t.Errorf("%+v: not %v", c.e, c.want)
		}
	}
	if text := cost(&estimate.Estimate{Steps: 1, Bytes: 5}); !strings.Contains(text, "5 B\n") {
		t.Error(text) // nothing is unknown
	}
	text := cost(&estimate.Estimate{Steps: 12, Unknown: 2, WorkP50: 5 * time.Hour, WorkP90: 7 * time.Hour, GPUSteps: 3, GPUP50: 4 * time.Hour,
		Download: estimate.Download{Bytes: 3e9, Sources: 5, Unknown: 1}, Bytes: 4e9, BytesUnknown: 2})
	for _, want := range []string{"12 steps", "5 h 0 min; 7 h 0 min", "4 h 0 min of it", "2 steps without history", "3.0 GB from 4 sources, 1 source of unknown size", "4.0 GB"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}
