package hours

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/redsi/redsi/internal/host/roofline"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/step"
)

// Sizes where no result says them: those of the paper's collection NQ320K-Title.
const (
	paperDocuments = 109_739
	paperTrain     = 307_373
	paperDev       = 7_830
)

// resolver finds out what works name by inputs.
type resolver struct {
	v     *plan.Preview
	reg   *step.Registry
	facts Facts
	index map[string]int
	works map[int]step.Work

	collections map[int]*step.FutureCollection
	assumed     map[string]bool
}

func newResolver(v *plan.Preview, reg *step.Registry, facts Facts) *resolver {
	r := &resolver{v: v, reg: reg, facts: facts, index: make(map[string]int, len(v.Plan.Steps)), works: map[int]step.Work{},
		collections: map[int]*step.FutureCollection{}, assumed: map[string]bool{}}
	for i, s := range v.Plan.Steps {
		r.index[s.Address] = i
	}
	return r
}

// Asked are the steps whose results say what works of a plan name by inputs: Facts are
// asked for these, and for what steps on cards took.
func Asked(p *plan.Plan, reg *step.Registry) map[int]bool {
	r := newResolver(&plan.Preview{Plan: p}, reg, Facts{})
	out := map[int]bool{}
	for i := range p.Steps {
		w := r.work(i)
		ins := []step.Input{}
		if t := w.Trains; t != nil {
			ins = append(ins, t.Model, t.Identifiers, t.Corpus, t.Queries)
		}
		if s := w.Searches; s != nil {
			ins = append(ins, s.Model, s.Identifiers, s.Queries)
		}
		if e := w.Embeds; e != nil {
			ins = append(ins, e.Model, e.Corpus, e.Queries)
		}
		if g := w.Writes; g != nil {
			ins = append(ins, g.Model, g.Documents)
		}
		if m := w.Model; m != nil {
			ins = append(ins, m.Like)
		}
		if m := w.Identifiers; m != nil {
			ins = append(ins, m.Documents)
		}
		for _, in := range ins {
			if at, ok := r.source(in); ok {
				out[at] = true
			}
		}
	}
	return out
}

// work is that of step i, once asked.
func (r *resolver) work(i int) step.Work {
	w, ok := r.works[i]
	if !ok {
		task := r.v.Plan.Steps[i].Task
		if spec := r.reg.Lookup(task.Kind); spec != nil {
			w = spec.Work(task)
		}
		r.works[i] = w
	}
	return w
}

// source is the step that an input comes from.
func (r *resolver) source(in step.Input) (int, bool) {
	if in.Ref == nil {
		return 0, false
	}
	i, ok := r.index[in.Ref.Step]
	return i, ok
}

// model is the sizes of a model; why says that they are not known.
func (r *resolver) model(in step.Input) (m roofline.Model, why string, err error) {
	i, ok := r.source(in)
	if !ok {
		return m, "its model comes from no step", nil
	}
	if r.facts.File != nil {
		config, err := r.facts.File(i, in.Ref.Output, "config.json")
		if err != nil {
			return m, "", err
		}
		if config != nil {
			m, err := roofline.ParseModel(config)
			if err != nil {
				return m, fmt.Sprintf("%s: %v", in.Ref.Step, err), nil
			}
			return m, "", nil
		}
	}
	w := r.work(i)
	unknown := fmt.Sprintf("the sizes of the model of %s are not known until it exists", in.Ref.Step)
	switch f := w.Model; {
	case f == nil:
		return m, unknown, nil
	case f.Config != nil:
		text, err := json.Marshal(f.Config)
		if err != nil {
			return m, "", err
		}
		if m, err = roofline.ParseModel(text); err != nil {
			return m, fmt.Sprintf("%s: %v", in.Ref.Step, err), nil
		}
		return m, "", nil
	case f.Repository != "":
		if m, ok := roofline.Published(f.Repository); ok {
			return m, "", nil
		}
		return m, unknown, nil
	default:
		if m, why, err = r.model(f.Like); why != "" || err != nil || w.Trains == nil {
			return m, why, err
		}
		rows, err := r.rows(w.Trains.Model, w.Trains.Identifiers)
		return m.Extended(rows), "", err
	}
}

// rows is how many tokens a model's vocabulary grows by, if it is trained on identifiers: by
// none if it was trained before.
func (r *resolver) rows(model, ids step.Input) (int64, error) {
	if i, ok := r.source(model); ok && r.work(i).Trains != nil {
		return 0, nil
	}
	at, f, err := r.identifiers(ids)
	if err != nil || f == nil {
		return 0, err
	}
	n := int64(f.Rows)
	if f.OneToken {
		n += r.documents(at)
	}
	return n, nil
}

// identifiers are what is known of those of an input; nil: there is none.
func (r *resolver) identifiers(in step.Input) (at int, f *step.FutureIdentifiers, err error) {
	at, ok := r.source(in)
	if !ok {
		return 0, nil, nil
	}
	f = &step.FutureIdentifiers{Tokens: 4}
	if w := r.work(at); w.Identifiers != nil {
		known := *w.Identifiers
		f = &known
	}
	if r.facts.File == nil {
		return at, f, nil
	}
	text, err := r.facts.File(at, "report", "")
	if err != nil || text == nil {
		r.assumed["identifiers that do not exist yet have as many tokens as their kind says: 1 if atomic, 4 if naive or semantic"] = true
		return at, f, err
	}
	var report struct {
		Mean float64 `json:"mean_tokens"`
	}
	if json.Unmarshal(text, &report) == nil && report.Mean > 0 {
		f.Tokens = report.Mean
	}
	return at, f, nil
}

// count is a number of a hit's result.
func (r *resolver) count(i int, name string) (int64, bool) {
	if r.facts.Counts == nil {
		return 0, false
	}
	n, ok := r.facts.Counts(i)[name]
	return n, ok
}

// documents is how many a step's collection has.
func (r *resolver) documents(i int) int64 {
	if n, ok := r.count(i, "documents"); ok {
		return n
	}
	if c := r.collection(i); c != nil {
		return c.Documents
	}
	r.assumed[fmt.Sprintf("a collection that does not exist yet has %d documents, as NQ320K-Title", paperDocuments)] = true
	return paperDocuments
}

// queries is how many a split of a step's collection has.
func (r *resolver) queries(i int, split string) int64 {
	if n, ok := r.count(i, "records."+split); ok {
		return n
	}
	c := r.collection(i)
	if c == nil {
		r.assumed[fmt.Sprintf("a collection that does not exist yet has %d training and %d development queries, as NQ320K-Title", paperTrain, paperDev)] = true
		c = &step.FutureCollection{TrainQueries: paperTrain, DevQueries: paperDev}
	}
	if split == "train" {
		return c.TrainQueries
	}
	return c.DevQueries
}

// collection is what a step that i comes from says of its collection; nil: none does.
func (r *resolver) collection(i int) *step.FutureCollection {
	if c, ok := r.collections[i]; ok {
		return c
	}
	c := r.work(i).Collection
	r.collections[i] = c
	for _, d := range r.v.Plan.Steps[i].Deps {
		if c != nil {
			break
		}
		c = r.collection(d)
	}
	r.collections[i] = c
	return c
}

// assumptions are what times depend on, in order.
func (r *resolver) assumptions(computed bool) []string {
	if !computed {
		return nil
	}
	a := roofline.Assumed()
	out := []string{
		fmt.Sprintf("products reach %.0f %% of the data sheet in half precision and %.0f %% in float32, memory %.0f %%", 100*a.HalfEfficiency, 100*a.FloatEfficiency, 100*a.Bandwidth),
		fmt.Sprintf("an operation takes %.0f µs of the host and %.0f µs of the card besides; in a graph %.1f and %.0f, and a replay %.0f µs of the host", 1e6*roofline.Cards()[0].Launch, 1e6*a.Gap,
			1e6*a.NodeLaunch, 1e6*a.NodeGap, 1e6*a.Replay),
		fmt.Sprintf("trainings replay CUDA graphs in %.0f %% of their updates, except those with checkpoint_activations; batches are padded to buckets of shapes, by about a thirty-second", 100*a.Replayed),
		"operations, bytes and memory are those counted with the CPU standing in for a card (internal/host/roofline/counts.json); no card was measured",
		fmt.Sprintf("a query has %d tokens with its prefix and end, a document as many as are read and %d more; a text is read whole where it is embedded", queryTokens, aroundDocument),
		fmt.Sprintf("a step, and each part of an evaluation, begins %d s after it could", startSeconds),
		"training makes all its updates and evaluations",
	}
	return append(out, slices.Sorted(maps.Keys(r.assumed))...)
}
