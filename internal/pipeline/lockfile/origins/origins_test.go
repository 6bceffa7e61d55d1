package origins

import (
	"testing"

	"github.com/redsi/redsi/internal/system/testkit"
)

// TestPublic: addresses with a secret, or that only this machine or network has, are not published.
func TestPublic(t *testing.T) {
	for address, want := range map[string]bool{
		"https://example.org/a": true, "http://127.0.0.1:8080/a": true, "http://example.org/a": false, "": false, "data/a": false,
		"https://user:secret@example.org/a": false, "https://example.org/a?X-Amz-Signature=secret": false,
	} {
		testkit.Is(t, public(address), want, address)
	}
}

// TestLost: a source is lost if neither the store nor the origin has its bytes.
func TestLost(t *testing.T) {
	for _, c := range []struct {
		s    Source
		want bool
	}{
		{Source{State: OK}, false}, {Source{State: Unpinned}, false}, {Source{State: Changed, InStore: true}, false},
		{Source{State: Changed}, true}, {Source{State: Unreachable}, true}, {Source{State: Missing}, true},
	} {
		testkit.Is(t, c.s.Lost(), c.want, c.s)
	}
}
