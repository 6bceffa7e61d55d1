package workflows

import (
	"bytes"
	"compress/flate"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/redsi/redsi/artifacts"
)

// Pages is a list in a payload that grows with a run's steps, inputs or parts: a single page is in the payload, as
// deflated JSON; several pages are blobs of the store, which activities read themselves and workflow code reads by
// PageActivity. So nothing that Temporal limits grows with a pipeline.
type Pages[T any] struct {
	Page  []byte             `json:"page,omitempty"`
	Blobs []artifacts.Digest `json:"blobs,omitempty"`
}

// Bounds of one page, in bytes of JSON before it is deflated: also a page that cannot be deflated is below Temporal's
// 2 MB, and a blob that is not a page takes little memory.
const (
	pageBytes    = 1 << 20
	maxPageBytes = 64 << 20
)

// Pack returns a page with as many rows as fit, and the other rows.
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
	w := deflaters.Get().(*flate.Writer)
	defer deflaters.Put(w)
	w.Reset(&b)
	if _, err = w.Write(text.Bytes()); err == nil {
		err = w.Close()
	}
	return b.Bytes(), rows[n:], err
}

// deflaters are pooled: each has a megabyte of memory, and most pages have some hundred bytes.
var deflaters = sync.Pool{New: func() any {
	w, err := flate.NewWriter(nil, flate.BestSpeed)
	if err != nil {
		panic(err) // of the level
	}
	return w
}}

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

// PagesOf returns rows as Pages. If they do not fit a payload, put stores the nth page, from 0.
func PagesOf[T any](rows []T, put func(page []byte, n int) (artifacts.Digest, error)) (out Pages[T], err error) {
	for len(rows) > 0 {
		var page []byte
		if page, rows, err = Pack(rows); err != nil {
			return out, err
		}
		if len(rows) == 0 && len(out.Blobs) == 0 {
			out.Page = page
			return out, nil
		}
		d, err := put(page, len(out.Blobs))
		if err != nil {
			return out, err
		}
		out.Blobs = append(out.Blobs, d)
	}
	return out, nil
}

// Rows reads all of p. If it is not in the payload, get reads the nth page, from 0.
func (p Pages[T]) Rows(get func(d artifacts.Digest, n int) ([]byte, error)) ([]T, error) {
	if len(p.Page) > 0 {
		return Unpack[T](p.Page)
	}
	var all []T
	for n, d := range p.Blobs {
		page, err := get(d, n)
		if err != nil {
			return nil, err
		}
		rows, err := Unpack[T](page)
		if err != nil {
			return nil, err
		}
		all = append(all, rows...)
	}
	return all, nil
}

// stash returns rows as Pages. It stores pages one after the other, since all of them would not fit an answer to the
// server.
func stash[T any](ctx workflow.Context, rows []T) (Pages[T], error) {
	p, err := PagesOf(rows, func(page []byte, n int) (d artifacts.Digest, err error) {
		err = pageActivity(ctx, fmt.Sprintf("store page %d of a list", n+1), StashActivity, page, &d)
		return d, err
	})
	return p, unpageable(err)
}

// unstash reads all of p.
func unstash[T any](ctx workflow.Context, p Pages[T]) ([]T, error) {
	rows, err := p.Rows(func(d artifacts.Digest, n int) (page []byte, err error) {
		err = pageActivity(ctx, fmt.Sprintf("read page %d of %d of a list", n+1, len(p.Blobs)), PageActivity, d, &page)
		return page, err
	})
	return rows, unpageable(err)
}

func pageActivity(ctx workflow.Context, what, name string, in, out any) error {
	return workflow.ExecuteActivity(workflow.WithActivityOptions(ctx, doing(controlQueue(ctx), what, lookUp)), name, in).Get(ctx, out)
}

// unpageable keeps an error of a page itself from being retried. An activity's error stays as it is.
func unpageable(err error) error {
	if _, activity := errors.AsType[*temporal.ActivityError](err); err == nil || activity || temporal.IsCanceledError(err) {
		return err
	}
	return temporal.NewNonRetryableApplicationError(err.Error(), PermanentError, nil)
}
