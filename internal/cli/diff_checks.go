package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/render"
)

// checkDiff is a comparison with the paper that came to another verdict.
type checkDiff struct {
	A    render.Verdict `json:"a,omitempty"` // "" where only the second run has it
	B    render.Verdict `json:"b"`
	Said string         `json:"said"` // what is asked, and what the second run has
}

// diffChecks compares what two results of a table or figure say of the paper. Results of
// other kinds say nothing.
func diffChecks(ctx context.Context, store artifacts.Store, was, is *artifacts.Result) (ds []checkDiff, err error) {
	before, err := checksOf(ctx, store, was)
	if err != nil {
		return nil, err
	}
	after, err := checksOf(ctx, store, is)
	if err != nil {
		return nil, err
	}
	verdicts := map[string]render.Verdict{}
	name := func(c render.Check) string { return fmt.Sprintf("%s %s %s %s", c.Cell, c.Form, c.Asked, c.Text) }
	for _, c := range before {
		verdicts[name(c)] = c.Verdict
	}
	for _, c := range after {
		if a := verdicts[name(c)]; a != c.Verdict {
			ds = append(ds, checkDiff{a, c.Verdict, c.Said()})
		}
	}
	return ds, nil
}

// checksOf reads the comparison with the paper of a table or figure.
func checksOf(ctx context.Context, store artifacts.Store, r *artifacts.Result) ([]render.Check, error) {
	out := r.Outputs["json"]
	if !strings.HasPrefix(out.Type, "table/") && !strings.HasPrefix(out.Type, "figure/") {
		return nil, nil
	}
	b, err := readBlob(ctx, store, out.Digest)
	if err != nil {
		return nil, err
	}
	var rendered struct{ Checks []render.Check }
	err = json.Unmarshal(b, &rendered)
	return rendered.Checks, err
}
