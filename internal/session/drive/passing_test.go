package drive

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/session"
)

type listener struct {
	session.Quiet
	said []string
}

func (l *listener) Say(text string) { l.said = append(l.said, text) }

// TestOutlast: what a run has left is read again while the store is away, which is told once; other errors are returned.
func TestOutlast(t *testing.T) {
	away, broken := fmt.Errorf("table.t: %w", &artifacts.AwayError{Err: errors.New("connection refused")}), errors.New("broken")
	for _, c := range []struct {
		errs []error
		want error
		said int
	}{
		{[]error{nil}, nil, 0},
		{[]error{away, away, nil}, nil, 1},
		{[]error{away, broken}, broken, 1},
		{[]error{artifacts.ErrNotExist}, artifacts.ErrNotExist, 0},
	} {
		l := &listener{}
		dr := &Driver{Session: &session.Session{Talk: l}}
		err := dr.Outlast(t.Context(), func() error {
			e := c.errs[0]
			c.errs = c.errs[1:]
			return e
		})
		if !errors.Is(err, c.want) || len(c.errs) > 0 || len(l.said) != c.said {
			t.Errorf("%v, %v left, said %q", err, c.errs, l.said)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := (&Driver{Session: &session.Session{Talk: session.Quiet{}}}).Outlast(ctx, func() error { return away }); !errors.Is(err, away) {
		t.Errorf("cancelled: %v", err)
	}
}
