package artifacts

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/redsi/redsi/internal/system/signature"
)

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

// of is what becomes of a result of a tier that no trusted key signed.
func (p Policy) of(own bool) Untrusted {
	switch {
	case own && p.Own == "":
		return UseUntrusted
	case own:
		return p.Own
	case p.Foreign == "":
		return RunUntrusted
	}
	return p.Foreign
}

// standing is why the policy does not believe what somebody signed; empty if it does.
func (p Policy) standing(who signature.Public) Reason {
	switch standing := p.Ring.Of(who); {
	case standing == signature.Revoked:
		return RevokedKey
	case standing == signature.Trusted, p.Signer != nil && who.Same(p.Signer.Public()):
		return ""
	case who.IsZero():
		return Unsigned
	}
	return UnknownKey
}

// maxSigners bounds the signatures that are read of a result whom nobody signed that is
// trusted, for the words about it.
const maxSigners = 8

// signed says whether the ring believes a record: who of its keys signed it, or why none did.
// get reads a record of the store that has it, listed, which may be nil, lists what is known of
// signatures there, once the keys that the ring knows have not settled it.
func (p Policy) signed(key Digest, record []byte, get func(name string) ([]byte, error), listed func() []string) (by signature.Public, why Reason, err error) {
	known := slices.DeleteFunc(slices.Clone(p.Ring.Trusted), func(k signature.Public) bool { return p.Ring.Of(k) == signature.Revoked })
	if p.Signer != nil && p.Ring.Of(p.Signer.Public()) != signature.Revoked {
		known = append(known, p.Signer.Public())
	}
	known = append(known, p.Ring.Revoked...)
	names := func(yield func(string) bool) {
		for _, k := range known {
			if !yield(SignatureName(key, k)) {
				return
			}
		}
		if listed == nil {
			return
		}
		for _, name := range listed() {
			if strings.HasPrefix(name, signaturePrefix(key)) && !yield(name) {
				return
			}
		}
	}
	why = Unsigned
	asked := map[string]bool{}
	for name := range names {
		if len(asked) == len(known)+maxSigners {
			break
		}
		if asked[name] {
			continue
		}
		asked[name] = true
		doc, err := get(name)
		switch {
		case errors.Is(err, ErrNotExist), is[*DamageError](err):
			continue
		case err != nil:
			return by, why, err
		}
		who, err := signerOf(key, record, name, doc)
		reason := p.standing(who)
		switch {
		case err != nil && who.IsZero():
			continue
		case err != nil:
			reason = NotSigned
		case reason == "":
			return who, "", nil
		}
		if rank[reason] > rank[why] {
			by, why = who, reason
		}
	}
	return by, why, nil
}

// rank says which of several reasons is reported: the one that a reader can do most about.
var rank = map[Reason]int{Unsigned: 0, UnknownKey: 1, RevokedKey: 2, NotSigned: 3}
