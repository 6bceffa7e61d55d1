package report

import (
	"context"

	"github.com/redsi/redsi/internal/pipeline/plan"
)

// Build is the report of a preview that holds all results.
func Build(ctx context.Context, v *plan.Preview, read Reader, o Options) (*Report, error) {
	g := Gather(v.Plan, nil)
	for i := range v.Items {
		if v.Items[i].Result != nil {
			g.Keep(i, &v.Items[i])
		}
	}
	return g.Build(ctx, v, read, o)
}
