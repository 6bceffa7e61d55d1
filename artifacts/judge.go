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
// get reads a record of the store that has it, names lists what is known of signatures there.
func (p Policy) signed(key Digest, record []byte, get func(name string) ([]byte, error), names func() []string) (by signature.Public, why Reason, err error) {
	trusted := p.Ring.Trusted
	if p.Signer != nil {
		trusted = append(slices.Clone(trusted), p.Signer.Public())
	}
	var asked []string
	why = Unsigned
	note := func(r Reason, who signature.Public) {
		if rank[r] > rank[why] {
			why, by = r, who
		}
	}
	look := func(name string) (believed bool, err error) {
		if slices.Contains(asked, name) {
			return false, nil
		}
		asked = append(asked, name)
		doc, err := get(name)
		if errors.Is(err, ErrNotExist) {
			return false, nil
		}
		var bad *DamageError
		if errors.As(err, &bad) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		who, err := signerOf(key, record, name, doc)
		switch r := p.standing(who); {
		case err != nil && who.IsZero():
		case err != nil:
			note(NotSigned, who)
		case r == "":
			by = who
			return true, nil
		default:
			note(r, who)
		}
		return false, nil
	}
	for _, t := range trusted {
		if p.Ring.Of(t) == signature.Revoked {
			continue
		}
		if believed, err := look(SignatureName(key, t)); err != nil || believed {
			return by, "", err
		}
	}
	for _, t := range p.Ring.Revoked {
		if _, err := look(SignatureName(key, t)); err != nil {
			return by, why, err
		}
	}
	if names == nil {
		return by, why, nil
	}
	for _, name := range names() {
		if len(asked) >= maxSigners+len(trusted)+len(p.Ring.Revoked) {
			break
		}
		if !strings.HasPrefix(name, signaturePrefix(key)) {
			continue
		}
		if believed, err := look(name); err != nil || believed {
			return by, "", err
		}
	}
	return by, why, nil
}

// rank says which of several reasons is reported: the one that a reader can do most about.
var rank = map[Reason]int{Unsigned: 0, UnknownKey: 1, RevokedKey: 2, NotSigned: 3}
