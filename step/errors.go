package step

import "errors"

// mark says what an error means for further attempts. errors.Is finds it, whatever wraps the error.
type mark string

const (
	permanent mark = "permanent"
	poisoned  mark = "poisoned"
	unfit     mark = "unfit"
	beyond    mark = "beyond"
)

func (m mark) Error() string { return string(m) }

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

// Permanent marks an error that a retry cannot fix: bad input, bad configuration, our own bug. nil stays nil.
func Permanent(err error) error { return permanent.on(err) }

// IsPermanent reports whether err, or an error it wraps, was marked; as IsPoisoned, IsUnfit and IsBeyond do.
func IsPermanent(err error) bool { return errors.Is(err, permanent) }

// Poisoned marks an error after which its process cannot compute any more, though another process may do the same work:
// a card has failed, or an operation on it was illegal. It is stronger than Permanent. nil stays nil.
func Poisoned(err error) error  { return poisoned.on(err) }
func IsPoisoned(err error) bool { return errors.Is(err, poisoned) }

// SourceChangedError says that a source or program on this machine has other bytes than the plan says: only
// a new plan can fix it.
type SourceChangedError struct {
	Path string // absolute
	Err  error
}

func (e *SourceChangedError) Error() string { return e.Err.Error() }
func (e *SourceChangedError) Unwrap() error { return e.Err }

// Unfit marks an error by which the step cannot continue from a checkpoint, though it is intact; it may from
// the checkpoint before. nil stays nil.
func Unfit(err error) error  { return unfit.on(err) }
func IsUnfit(err error) bool { return errors.Is(err, unfit) }

// Beyond marks an error by which a kept state is further than the step goes, though nothing is wrong with
// it. nil stays nil.
func Beyond(err error) error  { return beyond.on(err) }
func IsBeyond(err error) bool { return errors.Is(err, beyond) }
