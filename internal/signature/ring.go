package signature

import "slices"

// Ring is which keys a project believes.
type Ring struct {
	Trusted []Public
	Revoked []Public // what these signed counts for nothing, whenever they did
}

// Standing is what a ring says of a key.
type Standing string

// The standings. A key that is both trusted and revoked is revoked.
const (
	Trusted Standing = "trusted"
	Revoked Standing = "revoked"
	Unknown Standing = "unknown"
)

// Of says what the ring says of p; of the zero Public, which signed nothing, Unknown.
func (r Ring) Of(p Public) Standing {
	switch {
	case !p.IsZero() && slices.ContainsFunc(r.Revoked, p.Same):
		return Revoked
	case !p.IsZero() && slices.ContainsFunc(r.Trusted, p.Same):
		return Trusted
	}
	return Unknown
}
