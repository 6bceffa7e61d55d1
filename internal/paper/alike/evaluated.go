package alike

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/step"
)

const mostReport = 64 << 20

// CompareEvaluated compares a step's reports on two models.
func CompareEvaluated(ctx context.Context, blobs artifacts.BlobReader, address string, rule step.Evaluated, stands, rebuilt artifacts.Artifact) (f Found, err error) {
	f.Verdict = Within // the models' bytes differ
	m := &meter{}
	var all [2]map[string]float64       // numbers by their places
	margins := map[string]step.Margin{} // of the compared numbers
	for i, x := range []artifacts.Artifact{stands, rebuilt} {
		b, err := artifacts.ReadBlob(ctx, blobs, x.Digest, mostReport)
		if err != nil {
			return f, err
		}
		var doc any
		if err := json.Unmarshal(b, &doc); err != nil {
			m.unlike(address, "", "", rule.Output+" is not JSON: "+err.Error())
		}
		all[i] = map[string]float64{}
		leaves(place{}, doc, func(p place, v any) {
			if x, ok := v.(float64); ok {
				all[i][p.String()] = x
				if by, named := margin(rule.Fields, p); named && !by.Skip {
					margins[p.String()] = by
				}
			}
		})
	}
	n, counted := all[1][rule.Of]
	if !counted {
		n = all[0][rule.Of]
	}
	chance := 0.0
	if n > 0 {
		chance = 100 * rule.Chance / math.Sqrt(n)
	}
	for _, at := range slices.Sorted(maps.Keys(margins)) {
		x, there := all[0][at]
		y, here := all[1][at]
		switch {
		case !there:
			m.unlike(address+" "+at, "", float(y), "only one has the field")
		case !here:
			m.unlike(address+" "+at, float(x), "", "only one has the field")
		default:
			m.number(address+" "+at, float(x), float(y), math.Abs(x-y), max(margins[at].Allows(x, y), chance))
		}
	}
	if len(margins) == 0 && m.worst == nil {
		m.unlike(address, "", "", fmt.Sprintf("its %s has none of the fields that models are compared by: %v", rule.Output, slices.Sorted(maps.Keys(rule.Fields))))
	}
	f.Worst = m.worst
	f.Verdict = Worse(f.Verdict, m.verdict())
	return f, nil
}

func leaves(p place, v any, each func(place, any)) {
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			leaves(p.name(name), v[name], each)
		}
	case []any:
		for i, x := range v {
			leaves(p.element(i), x, each)
		}
	default:
		each(p, v)
	}
}

// Add takes over the finding of another evaluation of the same models.
func (f *Found) Add(g Found) {
	f.Verdict = Worse(f.Verdict, g.Verdict)
	if g.Worst != nil && (f.Worst == nil || g.Worst.of > f.Worst.of) {
		f.Worst = g.Worst
	}
}

// Unjudged says, if is, that no step of the pipeline evaluates two models, so that only their bytes can be compared.
func (f *Found) Unjudged(is bool, output string, rule step.Evaluated) {
	if is {
		f.Verdict = Differs
		f.Worst = &Difference{Output: output, of: math.Inf(1),
			What: fmt.Sprintf("its bytes differ, and no %s step of this pipeline reads it, by which two would be compared", rule.By)}
	}
}
