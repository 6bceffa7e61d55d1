package s3

import (
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/system/errtest"
)

// overtaken heeds a condition of writers that come one after the other, and in some of 100 rounds
// lets others pass who came at once, as S3Mock 5.2.0 does by If-None-Match (40) and S3Proxy 4.1.0 by
// If-Match (60 to 95).
func overtaken(seed uint64, per100 int) func(w http.ResponseWriter, holds bool) bool {
	draw := rand.New(rand.NewPCG(seed, 0))
	calls, more, since := 0, 0, 100
	return func(w http.ResponseWriter, holds bool) bool {
		if calls++; calls <= 2 { // one after the other
			return heeds(w, holds)
		}
		if holds {
			more, since = 0, 0
			if draw.IntN(100) < per100 {
				more = 1 + draw.IntN(3)
			}
			return false
		}
		if since++; since <= more {
			return false
		}
		return heeds(w, holds)
	}
}

// TestRivals: a server on which several writers at once are the first is refused, and one on which
// that is so of replacing alone replaces nothing.
func TestRivals(t *testing.T) {
	for name, c := range map[string]struct {
		create, replace     int // of 100 rounds that more than one writer wins
		open, said, replied string
	}{
		"exact":            {0, 0, "", "to create: of 16 writers at once one won, in 20 of 20 rounds; to replace: of 16", ""},
		"as S3Mock does":   {40, 0, "lets several writers at once be the first (", "", ""},
		"as S3Proxy does":  {0, 80, "", "so what cannot be used is not replaced", "writers at once pass it ("},
		"all writers pass": {100, 100, "writers=one", "", ""},
	} {
		s, err := fakeServer(t, overtaken(1, c.create), overtaken(2, c.replace))
		if (err == nil) != (c.open == "") || err != nil && !strings.Contains(err.Error(), c.open) {
			t.Errorf("%s: open: %v; want %q", name, err, c.open)
		}
		if err != nil {
			continue
		}
		if said, err := artifacts.Rivals(t.Context(), s); err != nil || !strings.Contains(said, c.said) {
			t.Errorf("%s: %q, %v; want %q", name, said, err, c.said)
		}
		errtest.None(t, s.Records.Create(t.Context(), "runs/x", []byte("{}")))
		err = s.Records.Replace(t.Context(), "runs/x", []byte("{}"), []byte("new"))
		if (err == nil) != (c.replied == "") || err != nil && !strings.Contains(err.Error(), c.replied) {
			t.Errorf("%s: replace: %v; want %q", name, err, c.replied)
		}
	}
}

// TestOneWriter: who says that one process writes at a time may use any server, and its own writers
// are told of each other.
func TestOneWriter(t *testing.T) {
	s, err := fakeServer(t, ignores, ignores, func(c *Config) { c.OneWriter = true })
	errtest.None(t, err)
	won := make(chan bool)
	for range 8 {
		go func() { won <- s.Records.Create(t.Context(), "runs/x", []byte("{}")) == nil }()
	}
	winners := 0
	for range 8 {
		if <-won {
			winners++
		}
	}
	if winners != 1 {
		t.Errorf("%d writers were the first", winners)
	}
	if err := s.Records.Replace(t.Context(), "runs/x", []byte("{}"), []byte("new")); err != nil {
		t.Error(err)
	}
}
