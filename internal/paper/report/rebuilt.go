package report

import (
	"context"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/paper/attest"
	"github.com/redsi/redsi/internal/pipeline/plan"
)

// Attested fills in the attestations of results.
func Attested(ctx context.Context, book *attest.Book, v *plan.Preview, nodes []Node) error {
	for i := range nodes {
		it := v.Items[nodes[i].Index]
		if it.Result == nil || !book.Has(it.Key) {
			continue
		}
		told, err := book.Of(ctx, it.Key, it.Result.OutputsDigest())
		if err != nil {
			return err
		}
		nodes[i].Rebuilt = told
	}
	return nil
}

// attested counts the attestations of all results, also of those that are not shown.
func (r *Report) attested(ctx context.Context, v *plan.Preview, stands map[int]artifacts.Digest) error {
	for i := range r.Nodes {
		outputs, ok := stands[i]
		if !ok {
			continue
		}
		told, err := r.Book.Of(ctx, v.Items[i].Key, outputs)
		if err != nil {
			return err
		}
		r.Rebuilt.Add(r.Book, told, outputs)
		if r.Nodes[i].Detailed {
			r.Nodes[i].Rebuilt = told
		}
	}
	return nil
}
