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

// RefusedError is a store's answer that will be the same however often it is asked:
// it is full, does not let this user in, or does not take such a thing.
type RefusedError struct{ Err error }

func (e *RefusedError) Error() string { return e.Err.Error() }

func (e *RefusedError) Unwrap() error { return e.Err }

// AwayError says that a store does not answer, or is too busy to: later it may.
type AwayError struct{ Err error }

func (e *AwayError) Error() string { return e.Err.Error() }

func (e *AwayError) Unwrap() error { return e.Err }

// AddressError says that the address of a store is wrong, and which one may be meant.
type AddressError struct {
	Err error
	URL string
}

func (e *AddressError) Error() string { return e.Err.Error() }

func (e *AddressError) Unwrap() error { return e.Err }

// IntegrityError says that a blob's bytes are not those its digest names.
type IntegrityError struct {
	Want  Digest
	Got   Digest // of the bytes read; zero if there are more than there should be
	Size  int64  // bytes read
	Where string // the store's place, for people
	Other bool   // it is somebody else's store, of which nothing was used
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
	Err  error
}

func (e *DamageError) Error() string { return "record " + e.Name + ": " + e.Err.Error() }

func (e *DamageError) Unwrap() error { return e.Err }

// DeniedError is the answer of a host that does not say whether it has something, as many
// buckets do for what is not there. It is ErrNotExist.
type DeniedError struct{ What string }

func (e *DeniedError) Error() string { return e.What + ": the host denies access to it (403)" }

// Is makes it a miss.
func (e *DeniedError) Is(target error) bool { return target == ErrNotExist }

// IsLost reports whether err says that bytes are not in the store any more, or not as they were.
func IsLost(err error) bool { return is[*IntegrityError](err) || errors.Is(err, ErrNotExist) }

// is reports whether an error is, or wraps, one of a type.
func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// FormatError says that a result was written in a format, or under a key of one, that
// this code does not know, most likely by a newer redsi.
type FormatError struct{ Name, Format, Reads string }
