package plan

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/system/values"
	"github.com/redsi/redsi/step"
)

// Store keeps a plan as a blob and returns its digest.
func Store(ctx context.Context, blobs artifacts.Blobs, p *Plan) (artifacts.Digest, error) {
	b, err := json.Marshal(p)
	if err != nil {
		return artifacts.Digest{}, err
	}
	return artifacts.PutBytes(ctx, blobs, b)
}

// Read reads a plan that Store kept.
func Read(ctx context.Context, blobs artifacts.Blobs, d artifacts.Digest) (*Plan, error) {
	p := new(Plan)
	b, err := artifacts.ReadBlob(ctx, blobs, d, artifacts.AnySize)
	if err == nil {
		err = values.Written(b, p)
	}
	if err == nil {
		err = step.Permanent(p.Check())
	}
	if err != nil {
		return nil, fmt.Errorf("plan %s: %w", d, err)
	}
	return p, nil
}
