package kinds_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/internal/system/errtest"
	"github.com/redsi/redsi/kinds"
	"github.com/redsi/redsi/step"
)

// TestPaperWork: every step of the paper that models compute says its units, of a model whose sizes are
// those of a published one, and how many there are; its sources say what they will be.
func TestPaperWork(t *testing.T) {
	src, err := syntax.Read(paper)
	errtest.None(t, err)
	reg := kinds.Registry()
	p := newLocal(t).load(src, nil)
	works := map[string]step.Work{}
	for _, s := range p.Steps {
		works[s.Address] = reg.Lookup(s.Kind).Work(s.Task)
	}
	shape := func(in step.Input) string {
		for in.Ref != nil {
			w := works[in.Ref.Step]
			if w.Shape != "" {
				return w.Shape
			}
			in = w.Like
		}
		return ""
	}
	found := map[string]int{}
	for _, s := range p.Steps {
		does := works[s.Address].Does
		if len(does) == 0 && (s.Queue == "gpu" || reg.Lookup(s.Kind).Queue == step.GPU) {
			t.Errorf("%s of kind %s does not say its work", s.Address, s.Kind)
		}
		for _, d := range does {
			text := fmt.Sprintf("%s: %g %s", s.Kind, d.Amount.Times, d.Unit)
			if d.Amount.Count != "" {
				text += " for each of " + d.Amount.Count
			}
			if of := shape(d.Model); of != "" {
				text += " by " + of
			}
			if in := d.Identifiers; in.Ref != nil {
				text += ", " + works[in.Ref.Step].Identifiers
			}
			found[text]++
		}
	}
	var got []string
	for text, n := range found {
		got = append(got, fmt.Sprintf("%d %s", n, text))
	}
	slices.Sort(got)
	if d := cmp.Diff(paperWork, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

// TestWorkOf: what tasks say of the work of small configurations, and of results.
func TestWorkOf(t *testing.T) {
	reg := kinds.Registry()
	for _, c := range []struct{ kind, config, want string }{
		{"download", `{"urls":["https://huggingface.co/google-t5/t5-base/resolve/1/config.json"],"bytes":892000000}`, `t5-base map[bytes:{8.92e+08 []  0}]`},
		{"download", `{"urls":["http://127.0.0.1:1/hub/google/t5-efficient-tiny/resolve/1/config.json"]}`, `t5-efficient-tiny map[]`},
		{"download", `{"urls":["https://huggingface.co/google-t5/t5-large/resolve/1/config.json"]}`, ` map[]`},
		{"random_t5", `{"layers":4,"d_model":256,"d_kv":64,"d_ff":1024,"heads":4}`, `t5-efficient-tiny map[bytes:{6.22592e+07 []  0}]`},
		{"random_t5", `{"layers":4,"d_model":256,"d_kv":64,"d_ff":1024,"heads":4,"decoder_layers":2}`, ` map[]`},
		{"synth", `{"pages":7,"train_questions":5,"dev_questions":3}`, ` map[documents:{7 []  0} records.dev:{3 []  0} records.train:{5 []  0}]`},
	} {
		spec := reg.Lookup(c.kind)
		var tree map[string]any
		errtest.None(t, json.Unmarshal([]byte(c.config), &tree))
		task, err := step.NewTask(spec, tree)
		errtest.None(t, err)
		w := spec.Work(task)
		if got := fmt.Sprint(w.Shape, " ", w.Counts); got != c.want {
			t.Errorf("%s %s: %s, want %s", c.kind, c.config, got, c.want)
		}
	}
}

var paperWork = []string{
	"1 evaluate: 1 trie searches for each of records.dev by t5-base, semantic",
	"1 evaluate: 1 trie searches for each of records.dev by t5-efficient-tiny, naive",
	"1 evaluate: 1 trie searches for each of records.dev by t5-efficient-tiny, semantic",
	"1 evaluate: 1 trie searches for each of records.dev by t5-small, naive",
	"1 evaluate: 1 trie searches for each of records.dev by t5-small, semantic",
	"2 embed: 14 tokens for each of records.dev by bert_uncased_L-8_H-512_A-8",
	"20 evaluate: 1 searches for each of records.dev by t5-efficient-tiny, atomic",
	"20 evaluate: 1 searches for each of records.dev by t5-efficient-tiny, naive",
	"20 evaluate: 1 searches for each of records.dev by t5-efficient-tiny, semantic",
	"20 train: 1e+06 updates by t5-efficient-tiny, atomic",
	"20 train: 1e+06 updates by t5-efficient-tiny, naive",
	"20 train: 1e+06 updates by t5-efficient-tiny, semantic",
	"20 train: 200 searches for each of records.dev by t5-efficient-tiny, atomic",
	"20 train: 200 searches for each of records.dev by t5-efficient-tiny, naive",
	"20 train: 200 searches for each of records.dev by t5-efficient-tiny, semantic",
	"22 evaluate: 1 searches for each of records.dev by t5-base, atomic",
	"22 evaluate: 1 searches for each of records.dev by t5-base, semantic",
	"22 train: 1e+06 updates by t5-base, atomic",
	"22 train: 1e+06 updates by t5-base, semantic",
	"22 train: 200 searches for each of records.dev by t5-base, atomic",
	"22 train: 200 searches for each of records.dev by t5-base, semantic",
	"28 evaluate: 1 searches for each of records.dev by t5-base, naive",
	"28 train: 1e+06 updates by t5-base, naive",
	"28 train: 200 searches for each of records.dev by t5-base, naive",
	"3 extract: 1 gzip bytes for each of bytes",
	"4 embed: 512 tokens for each of documents by bert_uncased_L-8_H-512_A-8",
	"4 evaluate: 1 searches for each of records.dev by t5-small, atomic",
	"4 evaluate: 1 searches for each of records.dev by t5-small, naive",
	"4 evaluate: 1 searches for each of records.dev by t5-small, semantic",
	"4 train: 1e+06 updates by t5-small, atomic",
	"4 train: 1e+06 updates by t5-small, naive",
	"4 train: 1e+06 updates by t5-small, semantic",
	"4 train: 200 searches for each of records.dev by t5-small, atomic",
	"4 train: 200 searches for each of records.dev by t5-small, naive",
	"4 train: 200 searches for each of records.dev by t5-small, semantic",
	"7 evaluate: 1 trie searches for each of records.dev by t5-base, naive",
}
