package artifacts

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/signature"
)

// Untrusted is how a result is treated that no trusted key signed.
type Untrusted string

// The ways to treat a result that no trusted key signed.
const (
	RunUntrusted    Untrusted = "run"    // as if it were not there; Entry.Passed names it
	VerifyUntrusted Untrusted = "verify" // likewise, and Entry.Foreign has it, to be compared with
	UseUntrusted    Untrusted = "use"    // it is believed
)

// Policy says which results are believed, and who signs new ones. The zero Policy believes every result
// of the own store and none of others.
type Policy struct {
	Ring    signature.Ring
	Foreign Untrusted          // foreign results; "" is RunUntrusted
	Own     Untrusted          // results of the store itself; "" is UseUntrusted
	Signer  *signature.Private // signs what Publish files, and is trusted; nil: nothing is signed

	// Elsewhere fetches a blob from the URL that a record names; nil: such records do not count. It is
	// open.Elsewhere of internal/stores.
	Elsewhere func(ctx context.Context, e Elsewhere) (io.ReadCloser, error)
}

// Validate reports a policy under which no step could use the results of the steps before it.
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

// of says what becomes of a result of a tier that no trusted key signed.
func (p Policy) of(own bool) Untrusted {
	if own {
		return cmp.Or(p.Own, UseUntrusted)
	}
	return cmp.Or(p.Foreign, RunUntrusted)
}

// standing returns why the policy does not believe somebody's signature; "" if it does.
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

// maxSigners bounds the signatures by strangers that are read of a result, for the words about it.
const maxSigners = 8

// signed says whether the ring believes a record: which of its keys signed it, or why none did. get
// reads a record of the same store. listed, which may be nil, lists the names of records about the key
// there; it is called once the keys of the ring have not settled the matter.
func (p Policy) signed(key Digest, record []byte, get func(name string) ([]byte, error), listed func() []string) (by signature.Public, why Reason, err error) {
	known := slices.DeleteFunc(slices.Clone(p.Ring.Trusted), func(k signature.Public) bool { return p.Ring.Of(k) == signature.Revoked })
	if p.Signer != nil && p.Ring.Of(p.Signer.Public()) != signature.Revoked {
		known = append(known, p.Signer.Public())
	}
	known = append(known, p.Ring.Revoked...)
	names := lists.Unique(lists.Map(known, func(k signature.Public) string { return SignatureName(key, k) }))
	why = Unsigned
	for i := 0; ; i++ {
		if i == len(names) && listed != nil {
			others := slices.DeleteFunc(lists.Unique(listed()), func(name string) bool {
				return !strings.HasPrefix(name, signaturePrefix(key)) || slices.Contains(names, name)
			})
			names, listed = append(names, others[:min(len(others), maxSigners)]...), nil
		}
		if i == len(names) {
			return by, why, nil
		}
		name := names[i]
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
}

// rank says which of several reasons is reported: the highest, about which a reader can do most.
var rank = map[Reason]int{Unsigned: 0, UnknownKey: 1, RevokedKey: 2, NotSigned: 3}
