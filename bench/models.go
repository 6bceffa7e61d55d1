package main

import (
	"flag"
	"path/filepath"
	"slices"
	"strings"

	"github.com/redsi/redsi/internal/model/models"
	"github.com/redsi/redsi/internal/model/seq2seq"
	"github.com/redsi/redsi/internal/model/tensor"
)

// The peers run on the same libtorch version, weights and threads. A bound is the
// work's matrix products alone, by libtorch.
var modelLines = []line{
	{
		name: "train_step_vs_transformers", target: 1.15, value: perUnit, sliced: true,
		doc:  "a training step of T5 Efficient Tiny with Adafactor and dropout, 128 inputs of 32 tokens, against transformers 4.44.1",
		ours: workOn("train_step.py", "train", "-lengths=full"), peer: peerOn("train_step.py", "train_step.py", "--lengths", "full"),
	},
	{
		name: "train_step_real_lengths_vs_transformers", target: 1.5, value: perUnit, sliced: true,
		doc:  "the same with a quarter documents of 32 tokens and queries of 8 to 16, which transformers pads",
		ours: workOn("train_step.py", "train", "-lengths=real"), peer: peerOn("train_step.py", "train_step.py", "--lengths", "real"),
	},
	{
		name: "train_step_vs_bound", target: 0.65, value: perUnit, sliced: true, unlike: true,
		doc:  "the step of the first line, against its matrix products alone",
		ours: workOn("train_step.py", "train", "-lengths=full"), peer: workOn("train_step.py", "train-products", "-lengths=full"),
	},
	{
		name: "beam40_vs_transformers", target: 2.5, value: perUnit, sliced: true,
		doc:  "a query's search with 40 beams for 6 tokens, batches of 8, against transformers 4.44.1",
		ours: workOn("train_step.py", "beam", "-mode=free"), peer: peerOn("train_step.py", "beam.py", "--mode", "free"),
	},
	{
		name: "beam40_vs_bound", target: 0.5, value: perUnit, sliced: true, unlike: true,
		doc:  "the same search, against its matrix products alone",
		ours: workOn("train_step.py", "beam", "-mode=free"), peer: workOn("train_step.py", "beam-products"),
	},
	{
		name: "trie40_vs_transformers", target: 5, value: perUnit, sliced: true,
		doc:  "the search constrained to 100,000 identifiers of 3 tokens, against prefix_allowed_tokens_fn",
		ours: workOn("train_step.py", "beam", "-mode=trie"), peer: peerOn("train_step.py", "beam.py", "--mode", "trie"),
	},
	{
		name: "atomic_eval_vs_transformers", target: 1.5, value: perUnit, sliced: true,
		doc:  "a query's 40 best of 100,000 atomic identifiers, batches of 64 as they come, against transformers 4.44.1",
		ours: workOn("atomic_eval.py", "atomic"), peer: peerOn("atomic_eval.py", "atomic_eval.py"),
	},
	{
		name: "bert_embed_vs_transformers", target: 1.1, value: perUnit, sliced: true,
		doc:  "a document's [CLS] vector of BERT L-8 H-512, two thirds of 512 tokens, against transformers 4.44.1",
		ours: workOn("bert_embed.py", "bert"), peer: peerOn("bert_embed.py", "bert_embed.py"),
	},
	serveLine,
	runTrainLine,
}

// workloads are the pieces of this group; the bench starts itself again as one.
var workloads = map[string]func(args []string) (*workload, error){
	"train":          trainWork,
	"train-products": trainProducts,
	"beam":           beamWork,
	"beam-products":  beamProducts,
	"atomic":         atomicWork,
	"bert":           bertWork,
	"card-train":     cardTrain,
	"card-products":  cardProducts,
	"card-large":     cardLarge,
	"card-beam":      func(args []string) (*workload, error) { return cardSearch(args, false) },
	"card-trie":      func(args []string) (*workload, error) { return cardSearch(args, true) },
	"card-atomic":    cardAtomic,
	"card-bert":      cardBert,
}

// weights is the folder of a model that a peer's script makes, with random weights.
func (e *env) weights(script string) (string, error) {
	dir, err := e.keep(strings.TrimSuffix(script, ".py")+"-weights1", func(dir string) error {
		command, err := e.python("models", script, filepath.Join(dir, "model"), "--make")
		if err != nil {
			return err
		}
		return e.quiet(command[0], command[1:]...)
	})
	return filepath.Join(dir, "model"), err
}

// workOn is our side of a line, with the weights that a script makes.
func workOn(script, piece string, args ...string) side {
	return side{command: func(e *env) ([]string, error) {
		folder, err := e.weights(script)
		return ours(piece, append(slices.Clone(args), folder)...), err
	}}
}

// peerOn is the peer's side, with those weights.
func peerOn(weights, script string, args ...string) side {
	return side{command: func(e *env) ([]string, error) {
		folder, err := e.weights(weights)
		if err != nil {
			return nil, err
		}
		return e.python("models", script, append([]string{folder}, args...)...)
	}}
}

// openT5 reads a workload's arguments and its model. option is the one flag's name
// and default.
func openT5(args []string, option, value string) (m *seq2seq.Model, chosen string, err error) {
	set := flag.NewFlagSet("", flag.ContinueOnError)
	of := set.String(option, value, "")
	if err := set.Parse(args); err != nil {
		return nil, "", err
	}
	m, err = models.Load(set.Arg(0), tensor.CPU)
	return m, *of, err
}

// product is a matrix product of a workload: x [rows, in] by w [out, in], so often.
type product struct{ rows, in, out, times int64 }

// products does them by libtorch on operands that lie ready; backward adds the two
// products of each one's gradients.
func products(all []product, backward bool) (*workload, error) {
	type operands struct{ x, w, wt, g, gt *tensor.Tensor }
	scope := tensor.NewScope()
	var ready []operands
	err := tensor.Try(func() {
		rng := &tensor.RNG{Seed: 1}
		for _, p := range all {
			o := operands{x: scope.Normal(rng, 0, 1, p.rows, p.in), w: scope.Normal(rng, 0, 1, p.out, p.in)}
			o.wt = scope.Transpose(o.w, 0, 1)
			if backward {
				o.g = scope.Normal(rng, 0, 1, p.rows, p.out)
				o.gt = scope.Transpose(o.g, 0, 1)
			}
			ready = append(ready, o)
		}
	})
	if err != nil {
		scope.Close()
		return nil, err
	}
	run := func() (float64, error) {
		return 1, tensor.Try(func() {
			for i, p := range all {
				o := ready[i]
				for range p.times {
					tensor.Within(func(s *tensor.Scope) {
						s.MatMul(o.x, o.wt)
						if backward {
							s.MatMul(o.g, o.w)
							s.MatMul(o.gt, o.x)
						}
					})
				}
			}
		})
	}
	return &workload{run: run, close: scope.Close}, nil
}
