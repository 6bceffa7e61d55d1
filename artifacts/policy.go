package artifacts

import (
	"context"
	"fmt"
	"io"

	"github.com/redsi/redsi/internal/system/signature"
)

// Other is a store of somebody else. It is only read: by name, never listed.
type Other struct {
	Store Store
	Name  string // its host or folder, for people; Results say it as From
}

// Untrusted is what becomes of a result that no trusted key signed.
type Untrusted string

// The ways to treat a result that no trusted key signed.
const (
	RunUntrusted    Untrusted = "run"    // it counts as if it were not there; Entry.Passed names it
	VerifyUntrusted Untrusted = "verify" // so it does, and Entry.Foreign has it, to be compared with
	UseUntrusted    Untrusted = "use"    // it is believed
)

// Policy says which results are believed, and who signs new ones. The zero Policy believes
// all of the own store and nothing of others.
type Policy struct {
	Ring    signature.Ring
	Foreign Untrusted          // foreign results; "" is RunUntrusted
	Own     Untrusted          // results of the store itself; "" is UseUntrusted
	Signer  *signature.Private // signs what Publish files, and is trusted; nil: nothing is signed

	// Elsewhere fetches what a record says is at a URL; nil: such records
	// count for nothing. package open has one.
	Elsewhere func(ctx context.Context, e Elsewhere) (io.ReadCloser, error)
}

// Validate reports a policy under which no step could use what the one before it left.
func (p Policy) Validate() error {
	for what, u := range map[string]Untrusted{"untrusted": p.Foreign, "shared": p.Own} {
		switch u {
		case "", RunUntrusted, VerifyUntrusted, UseUntrusted:
		default:
			return fmt.Errorf("%s = %q: want %q, %q or %q", what, u, RunUntrusted, VerifyUntrusted, UseUntrusted)
		}
	}
	if p.checksOwn() && p.Signer == nil {
		return fmt.Errorf("shared = %q: results of this store count only if a trusted key signed them, and there is no key to sign new ones with: redsi key new makes one", p.Own)
	}
	if p.checksOwn() && p.Ring.Of(p.Signer.Public()) == signature.Revoked {
		return fmt.Errorf("shared = %q: the key that signs new results, %s, is revoked", p.Own, p.Signer.Public())
	}
	return nil
}

func (p Policy) checksOwn() bool { return p.Own == RunUntrusted || p.Own == VerifyUntrusted }

// With is own with others' results behind it. What own has no usable result for is
// looked up in others by name, in their order; the first that the policy believes is a
// hit if each of its blobs is there. A blob that own lacks is copied into it, verified,
// before its first byte is given out. Everything that is written, listed or deleted is
// own's: others are never written to.
//
// Others that do not answer are neither errors nor misses: Others names them.
func With(own Store, others []Other, p Policy) Store {
	own = own.bare()
	l := newLayers(own, others, p)
	own.layers = l
	if len(others) > 0 || p.Elsewhere != nil {
		own.Blobs = l.behind()
	}
	return own
}

// Own is s without others: what it has itself, under the same policy.
func (s Store) Own() Store { return With(s, nil, s.policy()) }

// bare is s itself, without others and policy.
func (s Store) bare() Store {
	if s.layers == nil {
		return s
	}
	return s.layers.own
}

func (s Store) policy() Policy {
	if s.layers == nil {
		return Policy{}
	}
	return s.layers.policy
}

// OtherState is what is known of one of the others of a store, so far.
type OtherState struct {
	Name   string
	URL    string
	Err    error // why it did not answer the last time; nil: it did, or was not asked
	Asked  int   // records of results that were requested
	Found  int   // records that were found
	Denied int   // refused (403); they count as misses
}

// Others says what is known of each of the others of s, in their order.
func (s Store) Others() []OtherState {
	if s.layers == nil {
		return nil
	}
	return s.layers.states()
}

// DownError says that a blob or record may be in a store that does not answer.
type DownError struct {
	Name string // of the other store
	What string // that was asked for, or empty
	Err  error
}

func (e *DownError) Error() string {
	if e.What == "" {
		return fmt.Sprintf("%s does not answer: %v", e.Name, e.Err)
	}
	return fmt.Sprintf("%s: %s does not answer: %v", e.What, e.Name, e.Err)
}

func (e *DownError) Unwrap() error { return e.Err }
