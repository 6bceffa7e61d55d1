package step

import "errors"

// mark is what an error says of the attempts that follow it, whatever wraps it; errors.Is finds it.
type mark string

const (
	permanent mark = "permanent"
	poisoned  mark = "poisoned"
	unfit     mark = "unfit"
	beyond    mark = "beyond"
)

func (m mark) Error() string { return string(m) }

// on marks an error; nil stays nil.
func (m mark) on(err error) error {
	if err == nil {
		return nil
	}
	return &marked{err, m}
}

type marked struct {
	err  error
	mark mark
}

func (m *marked) Error() string        { return m.err.Error() }
func (m *marked) Unwrap() error        { return m.err }
func (m *marked) Is(target error) bool { return target == m.mark }

// Permanent marks err as one that a retry cannot fix: bad input, bad
// configuration, our own bug. nil stays nil.
func Permanent(err error) error { return permanent.on(err) }

// IsPermanent reports whether err, or an error it wraps, was marked.
func IsPermanent(err error) bool { return errors.Is(err, permanent) }

// Poisoned marks err as one after which its process can no longer compute, though another
// may do the same work: a card has failed, or was asked what it must not be. It is stronger
// than Permanent. nil stays nil.
func Poisoned(err error) error { return poisoned.on(err) }

// IsPoisoned reports whether err, or an error it wraps, was marked.
func IsPoisoned(err error) bool { return errors.Is(err, poisoned) }

// SourceChangedError says that a source or program on this machine has other bytes
// than the plan: only planning again can fix it.
type SourceChangedError struct {
	Path string // absolute
	Err  error
}

func (e *SourceChangedError) Error() string { return e.Err.Error() }
func (e *SourceChangedError) Unwrap() error { return e.Err }

// Unfit marks err as saying that the step cannot continue from a checkpoint, though its
// bytes are whole: the one before it may be. nil stays nil.
func Unfit(err error) error { return unfit.on(err) }

// IsUnfit reports whether err, or an error it wraps, was marked.
func IsUnfit(err error) bool { return errors.Is(err, unfit) }

// Beyond marks err as saying that a kept state, though nothing is wrong with it, is
// further than the step goes. nil stays nil.
func Beyond(err error) error { return beyond.on(err) }

// IsBeyond reports whether err, or an error it wraps, was marked.
func IsBeyond(err error) bool { return errors.Is(err, beyond) }
