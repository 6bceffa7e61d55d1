package activities

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/workflows"
)

// Stash keeps a page of a list, workflows.Pages, as a blob.
func (a *Activities) Stash(ctx context.Context, page []byte) (artifacts.Digest, error) {
	return attempt(ctx, a, func(ctx context.Context, _ *pulse) (artifacts.Digest, error) {
		d, _, err := a.Store.Blobs.Put(ctx, bytes.NewReader(page))
		return d, err
	})
}

// Page returns what Stash kept.
func (a *Activities) Page(ctx context.Context, d artifacts.Digest) ([]byte, error) {
	return attempt(ctx, a, func(ctx context.Context, _ *pulse) ([]byte, error) { return readPage(ctx, a.Store.Blobs, d) })
}

func readPage(ctx context.Context, blobs artifacts.Blobs, d artifacts.Digest) ([]byte, error) {
	b, err := artifacts.ReadBlob(ctx, blobs, d, artifacts.AnySize)
	if err != nil {
		return nil, fmt.Errorf("page %s: %w", d, err)
	}
	return b, nil
}

// PagesOf keeps what does not fit a payload in the store.
func PagesOf[T any](ctx context.Context, blobs artifacts.Blobs, rows []T) (out workflows.Pages[T], err error) {
	for len(rows) > 0 {
		var page []byte
		if page, rows, err = workflows.Pack(rows); err != nil {
			return out, err
		}
		if len(rows) == 0 && len(out.Blobs) == 0 {
			out.Page = page
			return out, nil
		}
		d, _, err := blobs.Put(ctx, bytes.NewReader(page))
		if err != nil {
			return out, err
		}
		out.Blobs = append(out.Blobs, d)
	}
	return out, nil
}

// rowsOf reads all pages.
func rowsOf[T any](ctx context.Context, a *Activities, p workflows.Pages[T]) ([]T, error) {
	pages := [][]byte{}
	if len(p.Page) > 0 {
		pages = append(pages, p.Page)
	}
	for _, d := range p.Blobs {
		page, err := readPage(ctx, a.Store.Blobs, d)
		if err != nil {
			return nil, err
		}
		pages = append(pages, page)
	}
	var all []T
	for _, page := range pages {
		rows, err := workflows.Unpack[T](page)
		if err != nil {
			return nil, err
		}
		all = append(all, rows...)
	}
	return all, nil
}

// inlineBytes is how much of a list is in a payload as it is, for people who
// read histories.
const inlineBytes = 64 << 10

// small reports whether values are short enough as JSON for that.
func small(values ...any) (bool, error) {
	total := 0
	for _, v := range values {
		b, err := json.Marshal(v)
		if err != nil {
			return false, err
		}
		total += len(b)
	}
	return total <= inlineBytes, nil
}
