package activities

import (
	"context"
	"encoding/json"
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
