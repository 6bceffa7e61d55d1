package artifacts

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/redsi/redsi/internal/system/signature"
)

// of is what becomes of a result of a tier that no trusted key signed.
func (p Policy) of(t *tier) Untrusted {
	switch {
	case t.own && p.Own == "":
		return UseUntrusted
	case t.own:
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

// judge says who signed a record of a tier, or why the policy does not believe it.
func (l *layers) judge(ctx context.Context, t *tier, key Digest, record []byte) (signature.Public, Reason, error) {
	use := l.policy.of(t) == UseUntrusted
	if use && (t.own || len(l.policy.Ring.Trusted) == 0 && l.policy.Signer == nil) {
		return signature.Public{}, Unsigned, nil // trusted without a check of the signer
	}
	get := func(name string) ([]byte, error) { return t.Get(ctx, name) }
	names := func() (all []string) {
		if t.own {
			all, _ = RecordNames(ctx, t.lister, signaturePrefix(key)) // only for the words
			return all
		}
		return t.about(ctx, key)
	}
	if use {
		names = nil
	}
	by, why, err := l.policy.signed(key, record, get, names)
	if err != nil && t.own {
		err = fmt.Errorf("look up the signatures of %s: %w", key, err)
	}
	return by, why, err
}

// standsFor says why the policy does not believe that r, of a store, stands for its key; nil
// if it does, or if r was made under it. Where keys are trusted, one of them, or the policy's
// own, must have signed the acceptance, and it must not be withdrawn in own.
func (l *layers) standsFor(ctx context.Context, from string, r *Result) (*Passed, error) {
	a, err := r.Acceptance()
	if err != nil {
		return &Passed{From: from, Reason: Damaged, Err: err}, nil
	}
	if a == nil {
		return nil, nil
	}
	why := l.policy.standing(a.signer)
	if why != "" && (why == RevokedKey || len(l.policy.Ring.Trusted) > 0) {
		return &Passed{From: from, Reason: why, Signer: a.signer}, nil
	}
	_, err = l.own.Records.Get(ctx, a.name()+withdrawnSuffix)
	switch {
	case errors.Is(err, ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("look up whether the acceptance of %s was withdrawn: %w", r.Key, err)
	}
	return &Passed{From: from, Reason: Withdrawn}, nil
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
