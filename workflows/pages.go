package workflows

import (
	"bytes"
	"compress/flate"
	"encoding/json"
	"fmt"
	"io"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/redsi/redsi/artifacts"
)

// Pages is a list that grows with a run's steps, inputs or parts, as payloads have
// it: what fits one page is in the payload, deflated JSON; what does not is in
// blobs of the store, a page each, which activities read by themselves and workflow
// code by PageActivity. So nothing that Temporal limits grows with a pipeline.
type Pages[T any] struct {
	Page  []byte             `json:"page,omitempty"`
	Blobs []artifacts.Digest `json:"blobs,omitempty"`
}

// Bounds of one page, in bytes of JSON before it is deflated: what cannot be
// deflated at all is still below Temporal's 2 MB, and a blob that is not a page of ours
// takes no memory to speak of.
const (
	pageBytes    = 1 << 20
	maxPageBytes = 64 << 20
)

// Pack makes a page of as many rows as fit, and returns the others.
func Pack[T any](rows []T) (page []byte, rest []T, err error) {
	var text bytes.Buffer
	text.WriteByte('[')
	n := 0
	for ; n < len(rows); n++ {
		b, err := json.Marshal(rows[n])
		if err != nil {
			return nil, nil, err
		}
		if len(b) > maxPageBytes-2 {
			return nil, nil, fmt.Errorf("one entry of a list has %d bytes, more than %d", len(b), maxPageBytes)
		}
		if n > 0 {
			if text.Len()+len(b) > pageBytes {
				break
			}
			text.WriteByte(',')
		}
		text.Write(b)
	}
	text.WriteByte(']')
	var b bytes.Buffer
	w, err := flate.NewWriter(&b, flate.BestSpeed)
	if err == nil {
		_, err = w.Write(text.Bytes())
	}
	if err == nil {
		err = w.Close()
	}
	return b.Bytes(), rows[n:], err
}

// Unpack reads a page.
func Unpack[T any](page []byte) ([]T, error) {
	b, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(page)), maxPageBytes+1))
	if err != nil {
		return nil, fmt.Errorf("a page of a list: %w", err)
	}
	if len(b) > maxPageBytes {
		return nil, fmt.Errorf("a page of a list has more than %d bytes", maxPageBytes)
	}
	var rows []T
	if err := json.Unmarshal(b, &rows); err != nil {
		return nil, fmt.Errorf("a page of a list: %w", err)
	}
	return rows, nil
}

// stash makes Pages of rows, storing what does not fit a payload.
func stash[T any](ctx workflow.Context, rows []T) (out Pages[T], err error) {
	for len(rows) > 0 {
		var page []byte
		if page, rows, err = Pack(rows); err != nil {
			return out, temporal.NewNonRetryableApplicationError(err.Error(), PermanentError, nil)
		}
		if len(rows) == 0 && len(out.Blobs) == 0 {
			out.Page = page
			return out, nil
		}
		// One at a time: all of them would not fit an answer to the server.
		sctx := workflow.WithActivityOptions(ctx, doing(controlQueue(ctx), fmt.Sprintf("store page %d of a list", len(out.Blobs)+1), lookUp))
		var d artifacts.Digest
		if err := workflow.ExecuteActivity(sctx, StashActivity, page).Get(ctx, &d); err != nil {
			return out, err
		}
		out.Blobs = append(out.Blobs, d)
	}
	return out, nil
}

// unstash reads all of p.
func unstash[T any](ctx workflow.Context, p Pages[T]) ([]T, error) {
	var all []T
	add := func(page []byte) error {
		rows, err := Unpack[T](page)
		if err != nil {
			return temporal.NewNonRetryableApplicationError(err.Error(), PermanentError, nil)
		}
		all = append(all, rows...)
		return nil
	}
	if len(p.Page) > 0 {
		if err := add(p.Page); err != nil {
			return nil, err
		}
	}
	for i, d := range p.Blobs {
		var page []byte
		pctx := workflow.WithActivityOptions(ctx, doing(controlQueue(ctx), fmt.Sprintf("read page %d of %d of a list", i+1, len(p.Blobs)), lookUp))
		if err := workflow.ExecuteActivity(pctx, PageActivity, d).Get(ctx, &page); err != nil {
			return nil, err
		}
		if err := add(page); err != nil {
			return nil, err
		}
	}
	return all, nil
}
