package step

import "errors"

// permanent marks an error that a retry cannot fix.
type permanent struct{ err error }

func (p *permanent) Error() string { return p.err.Error() }
func (p *permanent) Unwrap() error { return p.err }

// Permanent marks err as one that a retry cannot fix: bad input, bad
// configuration, our own bug. nil stays nil.
func Permanent(err error) error {
	if err == nil {
		return nil
	}
	return &permanent{err}
}

// poisoned marks what has left a process unable to go on.
type poisoned struct{ err error }

func (p *poisoned) Error() string { return p.err.Error() }
func (p *poisoned) Unwrap() error { return p.err }

// Poisoned marks err as one after which its process can no longer compute, though another
// may do the same work: a card has failed, or was asked what it must not be. It is stronger
// than Permanent. nil stays nil.
func Poisoned(err error) error {
	if err == nil {
		return nil
	}
	return &poisoned{err}
}

// IsPoisoned reports whether err, or an error it wraps, was marked.
func IsPoisoned(err error) bool {
	var p *poisoned
	return errors.As(err, &p)
}

// SourceChangedError says that a source or program on this machine has other bytes
// than the plan: only planning again can fix it.
type SourceChangedError struct {
	Path string // absolute
	Err  error
}

func (e *SourceChangedError) Error() string { return e.Err.Error() }
func (e *SourceChangedError) Unwrap() error { return e.Err }

// IsPermanent reports whether err, or an error it wraps, was marked.
func IsPermanent(err error) bool {
	var p *permanent
	return errors.As(err, &p)
}

// unfit marks what is wrong with a checkpoint.
type unfit struct{ err error }

func (u *unfit) Error() string { return u.err.Error() }
func (u *unfit) Unwrap() error { return u.err }

// Unfit marks err as saying that the step cannot continue from a checkpoint, though its
// bytes are whole: the one before it may be. nil stays nil.
func Unfit(err error) error {
	if err == nil {
		return nil
	}
	return &unfit{err}
}

// IsUnfit reports whether err, or an error it wraps, was marked.
func IsUnfit(err error) bool {
	var u *unfit
	return errors.As(err, &u)
}

// beyond marks a state that is further than a run goes.
type beyond struct{ err error }

func (b *beyond) Error() string { return b.err.Error() }
func (b *beyond) Unwrap() error { return b.err }

// Beyond marks err as saying that a kept state, though nothing is wrong with it, is
// further than the step goes. nil stays nil.
func Beyond(err error) error {
	if err == nil {
		return nil
	}
	return &beyond{err}
}

// IsBeyond reports whether err, or an error it wraps, was marked.
func IsBeyond(err error) bool {
	var b *beyond
	return errors.As(err, &b)
}
