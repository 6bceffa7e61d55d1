package session

import (
	"testing"

	"github.com/redsi/redsi/artifacts"
)

// TestPlaces: who waits for a look-up is told whose stores it is made in.
func TestPlaces(t *testing.T) {
	a := Session{}
	if got := a.Places(); got != "the store" {
		t.Error(got)
	}
	a.Others.Opened = []artifacts.Other{{Name: "far.example/paper"}, {Name: "../public"}}
	if got := a.Places(); got != "the store, then far.example/paper, then ../public" {
		t.Error(got)
	}
}
