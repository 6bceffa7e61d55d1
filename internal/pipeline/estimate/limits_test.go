package estimate

import (
	"testing"
	"time"
)

func TestParseLimits(t *testing.T) {
	usual := Limits{4 * time.Hour, 20e9}
	for _, c := range []struct {
		above string
		want  *Limits
		err   bool
	}{
		{UsualLimits, &usual, false},
		{"90m", &Limits{90 * time.Minute, 20e9}, false},
		{"1GiB", &Limits{4 * time.Hour, 1 << 30}, false},
		{"2GB, 1h", &Limits{time.Hour, 2e9}, false},
		{"never", nil, false},
		{"0", nil, false},
		{"much", nil, true},
		{"-1h", nil, true},
		{"1h,", nil, true},
	} {
		got, err := ParseLimits(c.above)
		if (err != nil) != c.err || (got == nil) != (c.want == nil) || got != nil && *got != *c.want {
			t.Errorf("%q: %+v, %v", c.above, got, err)
		}
	}
}

func TestExceeded(t *testing.T) {
	l := Limits{time.Hour, 1000}
	for _, c := range []struct {
		e    Estimate
		want bool
	}{
		{Estimate{Cost: Cost{Steps: 9, P50: 3600}}, false},
		{Estimate{Cost: Cost{Steps: 9, P50: 3601}}, true},
		{Estimate{Cost: Cost{Steps: 9, Download: 1001, Sources: 1}}, true},
		{Estimate{Cost: Cost{Steps: 400, Unknown: 400}}, false}, // of a small corpus that is generated, as far as anybody knows
		{Estimate{Cost: Cost{Steps: 400, Unknown: 400, Sources: 1, Unfetched: 1}}, true},
		{Estimate{Cost: Cost{Steps: 4, Unknown: 4, Sources: 1, Unfetched: 1}}, false},
	} {
		if l.Exceeded(&c.e) != c.want {
			t.Errorf("%+v: not %v", c.e, c.want)
		}
	}
}
