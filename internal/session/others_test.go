package session

import (
	"testing"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/system/errtest"
)

// TestPlaces: who waits for a look-up is told whose stores it is made in.
func TestPlaces(t *testing.T) {
	a := Session{}
	errtest.Same(t, "the store", a.Places())
	a.Others.Opened = []artifacts.Other{{Name: "far.example/paper"}, {Name: "../public"}}
	errtest.Same(t, "the store, then far.example/paper, then ../public", a.Places())
}
