package artifacts

import (
	"cmp"
	"fmt"

	"github.com/redsi/redsi/internal/system/signature"
)

// Reason is why a result that is there is not used.
type Reason string

// The reasons for which a result is passed over.
const (
	Unsigned   Reason = "unsigned"    // nobody signed it whose signature can be found
	UnknownKey Reason = "unknown key" // who signed it is not trusted
	RevokedKey Reason = "revoked key" // who signed it is trusted no more
	NotSigned  Reason = "mismatch"    // what is signed is another record than the one that is there
	Damaged    Reason = "damaged"     // its record cannot be read
	Incomplete Reason = "incomplete"  // blobs of it are gone
	Withdrawn  Reason = "withdrawn"   // it stood by the word of a person, who has taken it back
	NoAnswer   Reason = "no answer"   // the store does not answer, so nobody knows whether it has one
)

// Passed is a result under the right key that is not used, and why.
type Passed struct {
	From   string // the other store; empty for this one
	Reason Reason
	Signer signature.Public // of UnknownKey, RevokedKey and NotSigned
	Err    error            // of Damaged, Incomplete and NoAnswer
}

func (p Passed) String() string {
	where := cmp.Or(p.From, "the store")
	switch p.Reason {
	case Unsigned:
		return where + " has a result, but no key this project trusts has signed it"
	case UnknownKey:
		return where + " has a result signed by " + p.Signer.String() + ", whose key this project does not trust"
	case RevokedKey:
		return where + " has a result signed by " + p.Signer.Name + ", whose key is revoked"
	case NotSigned:
		return where + " has a result that is not the one that " + p.Signer.Name + " signed"
	case Withdrawn:
		return where + " has a result that was accepted for this key, which was withdrawn"
	case Damaged:
		return fmt.Sprintf("%s has a result whose record is damaged: %v", where, p.Err)
	case Incomplete:
		return fmt.Sprintf("%s has a result without its blobs: %v", where, p.Err)
	}
	return fmt.Sprintf("%s does not answer: %v", where, p.Err)
}
