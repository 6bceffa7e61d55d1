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
)

// RefusedError is a store's answer that will be the same however often it is asked:
// it is full, does not let this user in, or does not take such a thing.
type RefusedError struct{ Err error }

func (e *RefusedError) Error() string { return e.Err.Error() }

func (e *RefusedError) Unwrap() error { return e.Err }

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
	Got   Digest // of the bytes read
	Size  int64  // bytes read
	Where string // the store's place, for people
}

func (e *IntegrityError) Error() string {
	return fmt.Sprintf("blob %s is corrupt: its %d bytes have digest %s (%s); delete it, or run verify --repair", e.Want, e.Size, e.Got, e.Where)
}
