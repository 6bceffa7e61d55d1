package kinds_test

import (
	"testing"

	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/kinds"
	"github.com/redsi/redsi/step"
)

// TestPaperWork: every step of the paper that is done on a card says what is computed, of
// which model and for which identifiers; its sources say what they will be.
func TestPaperWork(t *testing.T) {
	src, err := pipeline.Read(paper)
	if err != nil {
		t.Fatal(err)
	}
	reg := kinds.Registry()
	p := newLocal(t).load(src, nil)
	works := map[string]step.Work{}
	for _, s := range p.Steps {
		works[s.Address] = reg.Lookup(s.Kind).Work(s.Task)
	}
	from := func(of string, in step.Input) step.Work {
		t.Helper()
		if in.Ref == nil {
			t.Fatalf("%s has an input that comes from no step", of)
		}
		return works[in.Ref.Step]
	}
	trained, asked := 0, 0
	for _, s := range p.Steps {
		w := works[s.Address]
		if w.Trains == nil && w.Searches == nil && w.Embeds == nil && w.Writes == nil && (s.Queue == "gpu" || reg.Lookup(s.Kind).Queue == step.GPU) {
			t.Errorf("%s of kind %s does not say what it computes", s.Address, s.Kind)
		}
		if tr := w.Trains; tr != nil {
			trained++
			if m := from(s.Address, tr.Model).Model; m == nil || m.Repository == "" {
				t.Errorf("%s: of its model it is known %+v", s.Address, m)
			}
			if from(s.Address, tr.Identifiers).Identifiers == nil {
				t.Errorf("%s: nothing is known of its identifiers", s.Address)
			}
			if tr.Updates != 1_000_000 || tr.Batch != 128 || tr.Precision != "fp16" || w.Searches.Times != 200 || w.Searches.Beams != 40 {
				t.Errorf("%s: %+v, %+v", s.Address, tr, w.Searches)
			}
		}
		if w.Searches != nil && w.Trains == nil {
			asked++
			if m := from(s.Address, w.Searches.Model).Model; m == nil || !m.Like.Set() {
				t.Errorf("%s: of its model it is known %+v", s.Address, m)
			}
		}
	}
	if trained != 144 || asked != 156 {
		t.Errorf("%d trainings and %d evaluations", trained, asked)
	}
}
