package cli

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/system/testkit"
)

// fullStep is a step of pipelines.hcl at full scale, as far as the test of models
// looks at it.
type fullStep struct {
	Model, IDs, Corpus, Queries, Embeddings ref
	MaxInput                                int     `json:"max_input"`
	LearningRate                            float64 `json:"learning_rate"`
	EvaluateEvery                           int     `json:"evaluate_every"`
	MaxTokens                               int     `json:"max_tokens"`
	LeafSize                                int     `json:"leaf_size"`
	Warmup, Steps, Batch, Beams             int
	Seed, Budget, Times, Clusters           int
	Ratio, Precision, Select, Init          string
	Decoding, Split, Pooling                string
}

type ref struct {
	Ref struct{ Step, Output string } `json:"$ref"`
}

// of is the reference that HCL writes KIND.NAME["KEY"].OUTPUT.
func of(kind, key, output string) (r ref) {
	r.Ref.Step, r.Ref.Output = "step."+kind+`["`+key+`"]`, output
	return r
}

// fullSteps are the steps of pipelines.hcl at scale full, by kind and name,
// then by key.
func fullSteps(t *testing.T) map[string]map[string]fullStep {
	all := map[string]map[string]fullStep{}
	for address, task := range loadPaper(t, nil, "scale", "full") {
		name, key, ok := strings.Cut(strings.TrimPrefix(address, "step."), `["`)
		switch name {
		case "train.dsi", "evaluate.dsi", "evaluate.trie", "naive_ids.nq", "semantic_ids.nq", "embed.nq":
		default:
			continue
		}
		var c fullStep
		if err := json.Unmarshal(task.Config, &c); err != nil || !ok {
			t.Fatalf("%s: %v", address, err)
		}
		if all[name] == nil {
			all[name] = map[string]fullStep{}
		}
		all[name][strings.TrimSuffix(key, `"]`)] = c
	}
	return all
}

// TestFullScaleModels compares every training of pipelines.hcl with what the paper
// says of the run that its name promises: sections "Experimental Setup" and
// "Identifier Type Robustness", and the appendices on ratios, hyperparameters,
// implementation, variability and budgets.
func TestFullScaleModels(t *testing.T) {
	t.Parallel()
	all := fullSteps(t)
	rates, warmups := map[string]float64{"1e-3": 1e-3, "5e-4": 5e-4}, map[string]int{"0": 0, "10K": 10_000, "100K": 100_000}
	counts := map[string]int{}
	for name, got := range all["train.dsi"] {
		part := append(strings.Split(name, "/"), "")
		collection, form, size, id, sweep := part[0], part[1], part[2], part[3], part[5]
		seed, err := strconv.Atoi(part[4])
		testkit.None(t, err, name)
		want := fullStep{Steps: 1_000_000, Batch: 128, EvaluateEvery: 5000, Select: "MRR@10", Precision: "fp16", Init: "weights", Beams: 40,
			Seed: seed, Ratio: "natural", MaxInput: 32, LearningRate: 1e-3,
			Model: of("download.t5", size, "files"), Corpus: of("serialize.nq", collection+"/"+form, "corpus"), Queries: of("dedup.nq", collection, "queries")}
		switch id {
		case "atomic":
			want.MaxInput, want.LearningRate, want.Warmup, want.IDs = 64, 5e-4, 10_000, of("atomic_ids.nq", collection, "ids")
		case "naive":
			want.IDs = of("naive_ids.nq", collection+"/dsi", "ids")
		case "semantic":
			want.IDs = of("semantic_ids.nq", collection+"/"+form, "ids")
		}
		kind, value, named := strings.Cut(sweep, "=")
		switch {
		case sweep == "":
			kind = size
		case kind == "ratio":
			want.Ratio = value
		case kind == "budget":
			want.IDs = of("naive_ids.nq", collection+"/"+value, "ids")
		case !named:
			kind = "hyperparameters"
			h := strings.Split(sweep, ",")
			want.LearningRate, want.Warmup = rates[h[1]], warmups[h[2]]
			if want.MaxInput, err = strconv.Atoi(h[0]); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		if sweep != "" && !strings.HasPrefix(name, "title/nci_norm/base/") {
			t.Errorf("%s: the paper sweeps on NQ320K-Title/NciNorm by T5-Base alone", name)
		}
		counts[kind]++
		testkit.Is(t, got, want, name)
		evaluated(t, all["evaluate.dsi"], name, "unconstrained", want)
		if _, ok := all["evaluate.trie"][name]; ok {
			counts["trie"]++
			evaluated(t, all["evaluate.trie"], name, "constrained", want)
		}
	}
	// 2 x 2 constructions, 3 identifier types, 3 sizes, Efficient-Tiny by 5 seeds ("a total of 60 runs"); 7 ratios and 11
	// hyperparameters beside the selected ones, of each type; 6 budgets beside DSI's; 2 types by 3 sizes and 6 budgets by trie.
	for kind, want := range map[string]int{"base": 12, "small": 12, "tiny": 60, "ratio": 21, "hyperparameters": 33, "budget": 6, "trie": 12} {
		testkit.Is(t, counts[kind], want, kind)
	}
	for key, times := range map[string]int{"title/1x": 1, "title/2x": 2, "title/4x": 4, "title/8x": 8, "title/16x": 16, "title/32x": 32, "title/dsi": 0, "page_id/dsi": 0} {
		budget := 0
		if times == 0 {
			budget = 320_000
		}
		if got := all["naive_ids.nq"][key]; got.Budget != budget || got.Times != times || got.Seed != 42 {
			t.Errorf("naive identifiers %s: %+v", key, got)
		}
	}
	for key, got := range all["semantic_ids.nq"] {
		if e := all["embed.nq"][key]; got.Clusters != 10 || got.LeafSize != 100 || got.Embeddings != of("embed.nq", key, "embeddings") || e.MaxTokens != 512 {
			t.Errorf("semantic identifiers %s: %+v of %+v", key, got, e)
		}
	}
}

// evaluated checks that a model is asked the development queries of its
// collection, by 40 beams.
func evaluated(t *testing.T, steps map[string]fullStep, name, decoding string, trained fullStep) {
	t.Helper()
	want := fullStep{Model: of("train.dsi", name, "model"), IDs: trained.IDs, Queries: trained.Queries, Split: "dev", Precision: "fp32", Beams: 40, Decoding: decoding}
	got := steps[name]
	got.Batch = 0 // changes rounding only
	testkit.Is(t, got, want, name)
}
