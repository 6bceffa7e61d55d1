package compute

import (
	"context"
	"errors"
	"syscall"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/step"
)

// wireError is an error with what decisions depend on: whether a retry can help, and what the error says of the store.
type wireError struct {
	Text      string                    `json:"text"`
	Permanent bool                      `json:"permanent,omitempty"`
	Poisoned  bool                      `json:"poisoned,omitempty"`
	Cancelled bool                      `json:"cancelled,omitempty"`
	Lost      bool                      `json:"lost,omitempty"`
	Refused   bool                      `json:"refused,omitempty"`
	Changed   string                    `json:"changed,omitempty"` // source
	Integrity *artifacts.IntegrityError `json:"integrity,omitempty"`
	Errno     syscall.Errno             `json:"errno,omitempty"` // of the system, which is the same on both sides
}

func encodeError(err error) *wireError {
	if err == nil {
		return nil
	}
	e := &wireError{Text: err.Error(), Permanent: step.IsPermanent(err), Poisoned: step.IsPoisoned(err),
		Cancelled: errors.Is(err, context.Canceled), Lost: errors.Is(err, artifacts.ErrNotExist)}
	_, e.Refused = errors.AsType[*artifacts.RefusedError](err)
	if changed, ok := errors.AsType[*step.SourceChangedError](err); ok {
		e.Changed = changed.Path
	}
	errors.As(err, &e.Integrity)
	errors.As(err, &e.Errno)
	return e
}

// remote is an error of a process, with all properties that it had there.
type remote struct {
	text string
	is   []error
}

func (r *remote) Error() string   { return r.text }
func (r *remote) Unwrap() []error { return r.is }

func (e *wireError) decode() error {
	if e == nil {
		return nil
	}
	r := &remote{text: e.Text}
	add := func(yes bool, err error) {
		if yes {
			r.is = append(r.is, err)
		}
	}
	said := errors.New(e.Text)
	add(e.Permanent, step.Permanent(said))
	add(e.Poisoned, step.Poisoned(said))
	add(e.Cancelled, context.Canceled)
	add(e.Lost, artifacts.ErrNotExist)
	add(e.Refused, &artifacts.RefusedError{Err: said})
	add(e.Changed != "", &step.SourceChangedError{Path: e.Changed, Err: said})
	add(e.Integrity != nil, e.Integrity)
	add(e.Errno != 0, e.Errno)
	return r
}
