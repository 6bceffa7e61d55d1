package artifacts

import (
	"errors"
	"fmt"
)

var (
	// ErrNotExist says that a blob or record is not in the store. It is not
	// fs.ErrNotExist: a store whose own folder has gone is broken, not empty.
	ErrNotExist = errors.New("not in the store")

	// ErrExist says that a record was there before Create.
	ErrExist = errors.New("already in the store")

	// ErrNoList says that a store can be read by name only.
	ErrNoList = errors.New("the store cannot be listed, only read by name")
)

// Cause is what an error wraps, and says unless the error has words of its own.
type Cause struct{ Err error }

func (c *Cause) Error() string { return c.Err.Error() }
func (c *Cause) Unwrap() error { return c.Err }

// RefusedError is a store's answer that will be the same however often it is asked:
// it is full, does not let this user in, or does not take such a thing.
type RefusedError struct{ Cause }

// AwayError says that a store does not answer, or is too busy to: later it may.
type AwayError struct{ Cause }

// AddressError says that the address of a store is wrong, and which address may be meant.
type AddressError struct {
	Cause
	URL string
}

// IntegrityError says that a blob does not have the bytes that its digest names.
type IntegrityError struct {
	Want  Digest
	Got   Digest // of the bytes read; zero if there are more than there should be
	Size  int64  // bytes read
	Where string // the store's place, for people
	Other bool   // somebody else's store has the blob, and none of it was used
}

func (e *IntegrityError) Error() string {
	if e.Other && e.Got.IsZero() {
		return fmt.Sprintf("blob %s of %s is corrupt: it has more bytes than its %d; none of them are used", e.Want, e.Where, e.Size)
	}
	if e.Other {
		return fmt.Sprintf("blob %s of %s is corrupt: its %d bytes have digest %s; none of them are used", e.Want, e.Where, e.Size, e.Got)
	}
	return fmt.Sprintf("blob %s is corrupt: its %d bytes have digest %s (%s); delete it, or run verify --repair", e.Want, e.Size, e.Got, e.Where)
}

// DamageError says that a record cannot be what redsi wrote, and why.
type DamageError struct {
	Name string
	Cause
}

func (e *DamageError) Error() string { return "record " + e.Name + ": " + e.Err.Error() }

// DeniedError is the answer of a host that does not say whether it has a file, as many
// buckets answer for a file that is not there. It is ErrNotExist.
type DeniedError struct{ What string }

func (e *DeniedError) Error() string { return e.What + ": the host denies access to it (403)" }

// Is makes it a miss.
func (e *DeniedError) Is(target error) bool { return target == ErrNotExist }

// IsLost reports whether err says that bytes are gone from the store, or are corrupt there.
func IsLost(err error) bool { return is[*IntegrityError](err) || errors.Is(err, ErrNotExist) }

// is reports whether an error is, or wraps, an error of type E.
func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// FormatError says that the record of a result, or its key's preimage, has a format that this
// code does not read: a newer redsi wrote it, most likely.
type FormatError struct{ Name, Format, Reads string }
