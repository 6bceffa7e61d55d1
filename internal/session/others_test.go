package session

import (
	"testing"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/system/testkit"
)

// TestPlaces: who waits for a look-up is told whose stores it is made in.
func TestPlaces(t *testing.T) {
	a := Session{}
	testkit.Deep(t, a.Places(), "the store")
	a.Others.Opened = []artifacts.Other{{Name: "far.example/paper"}, {Name: "../public"}}
	testkit.Deep(t, a.Places(), "the store, then far.example/paper, then ../public")
}
