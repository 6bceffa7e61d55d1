package signature

import "slices"

// Ring is the keys that a project trusts.
type Ring struct {
	Trusted []Public
	Revoked []Public // whose signatures do not count, whenever they were written
}

// Standing is what a ring says about a key.
type Standing string

// The standings. A key that is both trusted and revoked is revoked.
const (
	Trusted Standing = "trusted"
	Revoked Standing = "revoked"
	Unknown Standing = "unknown"
)

// Of returns the standing of p; Unknown for the zero Public, which signed nothing.
func (r Ring) Of(p Public) Standing {
	switch {
	case !p.IsZero() && slices.ContainsFunc(r.Revoked, p.Same):
		return Revoked
	case !p.IsZero() && slices.ContainsFunc(r.Trusted, p.Same):
		return Trusted
	}
	return Unknown
}
