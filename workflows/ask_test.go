package workflows

import (
	"context"
	"errors"
	"testing"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
)

// busy answers queries after some errors.
type busy struct {
	client.Client
	errs  []error
	asked int
}

func (b *busy) QueryWorkflow(context.Context, string, string, string, ...any) (converter.EncodedValue, error) {
	if b.asked++; b.asked <= len(b.errs) {
		return nil, b.errs[b.asked-1]
	}
	return client.NewValue(must(converter.GetDefaultDataConverter().ToPayloads(7))), nil
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// TestAsk: a question that died with a stopping worker's poll is asked again, and what a
// run or who asks has ended is not.
func TestAsk(t *testing.T) {
	gone, late := serviceerror.NewCanceled("context canceled"), serviceerror.NewDeadlineExceeded("context deadline exceeded")
	other := serviceerror.NewNotFound("no such run")
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for name, c := range map[string]struct {
		ctx   context.Context
		errs  []error
		asked int
		err   error
	}{
		"answered":          {t.Context(), nil, 1, nil},
		"polls are gone":    {t.Context(), []error{gone, late, context.DeadlineExceeded}, 4, nil},
		"all polls go":      {t.Context(), make([]error, 100), 11, gone},
		"another error":     {t.Context(), []error{other}, 1, other},
		"nobody asks":       {ended, []error{gone}, 1, gone},
		"gone, then failed": {t.Context(), []error{gone, other}, 2, other},
	} {
		for i := range c.errs {
			if c.errs[i] == nil {
				c.errs[i] = gone
			}
		}
		b := &busy{errs: c.errs}
		n, err := Ask[int](c.ctx, b, "run", StateQuery)
		if !errors.Is(err, c.err) || b.asked != c.asked || err == nil && n != 7 {
			t.Errorf("%s: %d, %v, asked %d times", name, n, err, b.asked)
		}
	}
}
