package report

import (
	"context"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/paper/attest"
)

// Attested fills in the attestations of results.
func Attested(ctx context.Context, book *attest.Book, nodes []Node) error {
	for i := range nodes {
		n := &nodes[i]
		if n.result == nil || !book.Has(n.key) {
			continue
		}
		told, err := book.Of(ctx, n.key, n.result.OutputsDigest())
		if err != nil {
			return err
		}
		n.Rebuilt = told
	}
	return nil
}

// attested counts the attestations of all results, also of results that are not shown.
func (r *Report) attested(ctx context.Context, stands map[int]artifacts.Digest) error {
	for i := range r.Nodes {
		outputs, ok := stands[i]
		if !ok {
			continue
		}
		told, err := r.Book.Of(ctx, r.Nodes[i].key, outputs)
		if err != nil {
			return err
		}
		r.Rebuilt.Add(told)
		if r.Nodes[i].Detailed {
			r.Nodes[i].Rebuilt = told
		}
	}
	return nil
}
