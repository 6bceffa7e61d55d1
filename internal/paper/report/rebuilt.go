package report

import (
	"context"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/paper/attest"
)

// Attested fills in the attestations of results.
func Attested(ctx context.Context, book *attest.Book, nodes []Node) error {
	stands := map[int]artifacts.Digest{}
	for i, n := range nodes {
		if n.result != nil && book.Has(n.key) {
			stands[i] = n.result.OutputsDigest()
		}
	}
	_, err := attested(ctx, book, nodes, stands)
	return err
}

// attested counts the attestations of results, by nodes and the digests of their outputs, and fills them into detailed
// nodes.
func attested(ctx context.Context, book *attest.Book, nodes []Node, stands map[int]artifacts.Digest) (total attest.Total, err error) {
	for i, outputs := range stands {
		told, err := book.Of(ctx, nodes[i].key, outputs)
		if err != nil {
			return total, err
		}
		total.Add(told)
		if nodes[i].Detailed {
			nodes[i].Rebuilt = told
		}
	}
	return total, nil
}
