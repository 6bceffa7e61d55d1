package activities

import (
	"context"
	"fmt"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/workflows"
)

// Stash keeps a page of a list, workflows.Pages, as a blob.
func (a *Activities) Stash(ctx context.Context, page []byte) (artifacts.Digest, error) {
	return artifacts.PutBytes(ctx, a.Store.Blobs, page)
}

// Page returns what Stash kept.
func (a *Activities) Page(ctx context.Context, d artifacts.Digest) ([]byte, error) {
	b, err := artifacts.ReadBlob(ctx, a.Store.Blobs, d, artifacts.AnySize)
	if err != nil {
		return nil, fmt.Errorf("page %s: %w", d, err)
	}
	return b, nil
}

// PagesOf keeps what does not fit a payload in the store.
func PagesOf[T any](ctx context.Context, blobs artifacts.Blobs, rows []T) (workflows.Pages[T], error) {
	return workflows.PagesOf(rows, func(page []byte, _ int) (artifacts.Digest, error) { return artifacts.PutBytes(ctx, blobs, page) })
}

// rowsOf reads all pages.
func rowsOf[T any](ctx context.Context, a *Activities, p workflows.Pages[T]) ([]T, error) {
	return p.Rows(func(d artifacts.Digest, _ int) ([]byte, error) { return a.Page(ctx, d) })
}
