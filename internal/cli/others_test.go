package cli

import (
	"testing"

	"github.com/redsi/redsi/artifacts"
)

// TestPlaces: who waits for a look-up is told whose stores it is made in.
func TestPlaces(t *testing.T) {
	a := &app{}
	if got := a.places(); got != "the store" {
		t.Error(got)
	}
	a.others.opened = []artifacts.Other{{Name: "far.example/paper"}, {Name: "../public"}}
	if got := a.places(); got != "the store, then far.example/paper, then ../public" {
		t.Error(got)
	}
}
