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

// mostReport bounds what an evaluation says.
const mostReport = 64 << 20

// CompareEvaluated compares what one step says of two models.
func CompareEvaluated(ctx context.Context, blobs artifacts.BlobReader, address string, rule step.Evaluated, stands, made artifacts.Artifact) (f Found, err error) {
	f.Verdict = Within // the models' bytes are others
	m := &meter{}
	var docs [2]any
	for i, x := range []artifacts.Artifact{stands, made} {
		b, err := artifacts.ReadBlob(ctx, blobs, x.Digest, mostReport)
		if err != nil {
			return f, err
		}
		if err := json.Unmarshal(b, &docs[i]); err != nil {
			m.unlike(address, "", "", rule.Output+" is not JSON: "+err.Error())
		}
	}
	n := 0.0
	for i := range docs {
		leaves(place{}, docs[i], func(p place, v any) {
			if x, ok := v.(float64); ok && p.String() == rule.Of {
				n = x
			}
		})
	}
	chance := 0.0
	if n > 0 {
		chance = 100 * rule.Chance / math.Sqrt(n)
	}
	was, compared := map[string]float64{}, map[string]bool{}
	leaves(place{}, docs[0], func(p place, v any) {
		if x, ok := v.(float64); ok {
			was[p.String()] = x
		}
	})
	leaves(place{}, docs[1], func(p place, v any) {
		y, ok := v.(float64)
		by, named := margin(rule.Fields, p)
		if !ok || !named || by.Skip {
			return
		}
		at := p.String()
		x, there := was[at]
		compared[at] = true
		if !there {
			m.unlike(address+" "+at, "", float(y), "only one has the field")
			return
		}
		m.number(address+" "+at, float(x), float(y), math.Abs(x-y), max(by.Allows(x, y), chance))
	})
	leaves(place{}, docs[0], func(p place, v any) {
		by, named := margin(rule.Fields, p)
		if x, ok := v.(float64); ok && named && !by.Skip && !compared[p.String()] {
			m.unlike(address+" "+p.String(), float(x), "", "only one has the field")
		}
	})
	if len(compared) == 0 && m.worst == nil {
		m.unlike(address, "", "", fmt.Sprintf("its %s has none of the fields that models are compared by: %v", rule.Output, slices.Sorted(maps.Keys(rule.Fields))))
	}
	f.Worst = m.worst
	f.Verdict = Worse(f.Verdict, m.verdict())
	return f, nil
}

// leaves visits what is neither object nor list.
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

// Add takes over what another evaluation of the same models found.
func (f *Found) Add(g Found) {
	f.Verdict = Worse(f.Verdict, g.Verdict)
	if g.Worst != nil && (f.Worst == nil || g.Worst.of > f.Worst.of) {
		f.Worst = g.Worst
	}
}

// Unjudged says of two models that no step of the pipeline evaluates that nothing but
// bytes can be gone by.
func (f *Found) Unjudged(is bool, output string, rule step.Evaluated) {
	if is {
		f.Verdict = Differs
		f.Worst = &Difference{Output: output, of: math.Inf(1),
			What: fmt.Sprintf("its bytes differ, and no %s step of this pipeline reads it, by which two would be compared", rule.By)}
	}
}
