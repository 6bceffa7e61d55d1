package collection

import (
	"context"
	"crypto/sha256"
	"fmt"

	"github.com/redsi/redsi/internal/nq"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

// compareConfig checks the two published formats against each other.
type compareConfig struct {
	Full       step.Inputs `hcl:"full" accepts:"nq/records" help:"records of the full format"`
	Simplified step.Inputs `hcl:"simplified" accepts:"nq/records" help:"records of the simplified format"`
	Examples   int         `hcl:"examples,optional" help:"how many differing records to show"`
}

var Compare = step.Define(step.Kind[compareConfig]{
	Name:    "compare_formats",
	Version: 1,
	Doc: `Check that the full and the simplified format say the same of each example.
Where a step reads both, the full record is what counts: this recomputes the
simplified one from it (document_text is document_tokens joined by blanks) and
compares. Cost: reading both once; memory is 50 bytes a record.`,
	Example: `step "compare_formats" "train" {
  full       = step.extract.train.records
  simplified = step.extract.train_simplified.records
}`,
	Outputs:  []step.Output{{Name: "report", Type: "nq/comparison", Help: "how many examples both have, are the same or differ, and where, as JSON", Fields: step.FieldsOf[formatReport]()}},
	Defaults: compareConfig{Examples: 20},
	Run:      runCompare,
})

// formatReport is what compare_formats found.
type formatReport struct {
	Full           int             `json:"full"`
	Simplified     int             `json:"simplified"`
	Both           int             `json:"both"`
	Same           int             `json:"same"`
	Questions      int             `json:"other_question"`
	URLs           int             `json:"other_url"`
	Texts          int             `json:"other_text"`
	OnlySimplified int             `json:"only_simplified"`
	Examples       []formatExample `json:"examples"`
}

// formatExample is one record whose formats differ.
type formatExample struct {
	ExampleID int64 `json:"example_id"`
	nq.Comparison
}

// formatDigests are the parts of a record that both formats have.
type formatDigests struct{ question, url, text [12]byte }

func digestsOf(r *nq.Record) formatDigests {
	digest := func(s string) [12]byte {
		sum := sha256.Sum256([]byte(s))
		return [12]byte(sum[:12])
	}
	text := r.Text
	if r.Full() {
		text = nq.SimplifiedText(r.Tokens)
	}
	return formatDigests{digest(r.Question), digest(r.URL), digest(text)}
}

func runCompare(ctx context.Context, x *step.IO, c compareConfig) error {
	full := map[exampleKey]formatDigests{}
	err := eachRecord(ctx, x, c.Full, func(r *nq.Record) error {
		if !r.Full() {
			return step.Permanent(fmt.Errorf("full: example %d is in the simplified format", r.ExampleID))
		}
		full[exampleKey{r.Split, r.ExampleID}] = digestsOf(r)
		return nil
	})
	if err != nil {
		return err
	}
	rep := formatReport{Full: len(full), Examples: []formatExample{}}
	differing := map[exampleKey]*nq.Record{}
	var order []exampleKey
	err = eachRecord(ctx, x, c.Simplified, func(r *nq.Record) error {
		if r.Full() {
			return step.Permanent(fmt.Errorf("simplified: example %d is in the full format", r.ExampleID))
		}
		rep.Simplified++
		k := exampleKey{r.Split, r.ExampleID}
		a, ok := full[k]
		if !ok {
			rep.OnlySimplified++
			return nil
		}
		rep.Both++
		b := digestsOf(r)
		if a == b {
			rep.Same++
			return nil
		}
		count(&rep.Questions, a.question != b.question)
		count(&rep.URLs, a.url != b.url)
		count(&rep.Texts, a.text != b.text)
		if len(order) < c.Examples {
			order = append(order, k)
			differing[k] = r.Clone()
		}
		return nil
	})
	if err != nil {
		return err
	}
	found := map[exampleKey]nq.Comparison{}
	if len(order) > 0 {
		err = eachRecord(ctx, x, c.Full, func(r *nq.Record) error {
			k := exampleKey{r.Split, r.ExampleID}
			if s, ok := differing[k]; ok {
				found[k], err = nq.Merge(r, s)
				return step.Permanent(err)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	for _, k := range order {
		rep.Examples = append(rep.Examples, formatExample{k.id, found[k]})
	}
	x.Count("both", int64(rep.Both))
	x.Count("same", int64(rep.Same))
	x.Count("differ", int64(rep.Both-rep.Same))
	x.Count("only_full", int64(rep.Full-rep.Both))
	x.Count("only_simplified", int64(rep.OnlySimplified))
	return inout.WriteJSON(x, "report", rep)
}

func count(n *int, yes bool) {
	if yes {
		*n++
	}
}
