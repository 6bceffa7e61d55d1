package main

import (
	_ "embed"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/redsi/redsi/internal/corpora/drawn"
	"github.com/redsi/redsi/internal/model/optimizer"
	"github.com/redsi/redsi/internal/model/seq2seq"
	"github.com/redsi/redsi/internal/model/tensor"
)

//go:embed peers/requirements-models.txt
var modelRequirements string

// transformers is the peer of the model lines, in the versions that are installed for it: the newest ones.
var transformers = "transformers " + pinned(modelRequirements, "transformers") + " with torch " + pinned(modelRequirements, "torch")

// pinned is the version of a package in a file of requirements.
func pinned(requirements, name string) string {
	_, rest, _ := strings.Cut("\n"+requirements, "\n"+name+"==")
	version, _, _ := strings.Cut(rest, "\n")
	return version
}

// The peers run on the same weights and threads. A bound is the work's matrix products alone, by libtorch.
var modelLines = []line{
	{
		name: "train_step_vs_transformers", target: 1, value: perUnit, sliced: true,
		doc:  "a training step of T5 Efficient Tiny with Adafactor and dropout, 128 inputs of 32 tokens, in float32",
		ours: workOn("train_step.py", "train", "-lengths=full"), peer: peerOn("train_step.py", "train_step.py", "--lengths", "full"),
		others: []side{peerOn("train_step.py", "train_step.py", "--lengths", "full", "--autocast"), compiledStep},
	},
	{
		name: "train_step_real_lengths_vs_transformers", target: 1.5, value: perUnit, sliced: true,
		doc:  "the same with a quarter documents of 32 tokens and queries of 8 to 16, which transformers pads",
		ours: workOn("train_step.py", "train", "-lengths=real"), peer: peerOn("train_step.py", "train_step.py", "--lengths", "real"),
		others: []side{peerOn("train_step.py", "train_step.py", "--lengths", "real", "--autocast")},
	},
	{
		name: "train_step_bf16_vs_transformers", target: 1.7, value: perUnit, sliced: true, unlike: true,
		doc:  "the step of the first line with precision = bf16, whose loss is not float32's",
		ours: workOn("train_step.py", "train", "-lengths=full", "-dtype=bf16"), peer: peerOn("train_step.py", "train_step.py", "--lengths", "full", "--autocast"),
		others: []side{compiledStep},
	},
	{
		name: "train_step_bf16_real_lengths_vs_transformers", target: 2.5, value: perUnit, sliced: true, unlike: true,
		doc:  "that of the second line with precision = bf16",
		ours: workOn("train_step.py", "train", "-lengths=real", "-dtype=bf16"), peer: peerOn("train_step.py", "train_step.py", "--lengths", "real", "--autocast"),
	},
	{
		name: "train_step_bf16_vs_fp32", target: 1.5, value: perUnit, sliced: true, unlike: true,
		doc:  "the same, against our own in float32",
		ours: workOn("train_step.py", "train", "-lengths=full", "-dtype=bf16"), peer: workOn("train_step.py", "train", "-lengths=full"),
	},
	{
		name: "train_step_vs_bound", target: 0.65, value: perUnit, sliced: true, unlike: true,
		doc:  "the step of the first line, against its matrix products alone",
		ours: workOn("train_step.py", "train", "-lengths=full"), peer: workOn("train_step.py", "train-products", "-lengths=full"),
	},
	{
		name: "beam40_vs_transformers", target: 2.5, value: perUnit, sliced: true,
		doc:  "a query's search with 40 beams for 6 tokens, batches of 8",
		ours: workOn("train_step.py", "beam", "-queries=8"), peer: peerOn("train_step.py", "beam.py", "--mode", "free"),
	},
	{
		name: "beam40_vs_bound", target: 0.5, value: perUnit, sliced: true, unlike: true,
		doc:  "the same search, against its matrix products alone",
		ours: workOn("train_step.py", "beam", "-queries=8"), peer: workOn("train_step.py", "beam-products", "-queries=8"),
	},
	{
		name: "trie40_vs_transformers", target: 3.5, value: perUnit, sliced: true,
		doc:  "the search constrained to 100,000 identifiers of 3 tokens",
		ours: workOn("train_step.py", "trie", "-queries=8", "-documents=100000"), peer: peerOn("train_step.py", "beam.py", "--mode", "vectorized"),
		others: []side{peerOn("train_step.py", "beam.py", "--mode", "trie")},
	},
	{
		name: "atomic_eval_vs_transformers", target: 0.85, value: perUnit, sliced: true,
		doc:  "a query's 40 best of 100,000 atomic identifiers, batches of 64 as they come, in float32, also against bf16",
		ours: workOn("atomic_eval.py", "atomic", "-queries=256", "-documents=100000", "-together=64"), peer: peerOn("atomic_eval.py", "atomic_eval.py", "--sliced"),
		others: []side{peerOn("atomic_eval.py", "atomic_eval.py"), peerOn("atomic_eval.py", "atomic_eval.py", "--sliced", "--bf16")},
	},
	{
		name: "atomic_eval_bf16_vs_transformers", target: 1.5, value: perUnit, sliced: true,
		doc:  "the same with precision = bf16, whose best documents are float32's",
		ours: workOn("atomic_eval.py", "atomic", "-queries=256", "-documents=100000", "-together=64", "-dtype=bf16"), peer: peerOn("atomic_eval.py", "atomic_eval.py", "--sliced", "--bf16"),
	},
	embedLine("bert_embed", 1, "float32", "-dtype=fp32", "float32", "onnxruntime", "openvino"),
	embedLine("bert_embed_bf16", 1, "bf16", "-dtype=bf16", "bf16", "openvino-bf16"),
	embedLine("bert_embed_int8", 1.2, "int8, also against bf16", "-dtype=int8", "onnxruntime-int8", "openvino-bf16"),
	runTrainLine,
}

// embedLine embeds by ours in a precision, and by peers as bert_embed.py's --how names them.
func embedLine(name string, target float64, precision, dtype, how string, others ...string) line {
	l := line{
		name: name, target: target, value: perUnit, sliced: true,
		doc:  "a document's [CLS] vector of BERT L-8 H-512, two thirds of 512 tokens, in " + precision,
		ours: workOn("bert_embed.py", "bert", "-texts=12", "-tokens=4096", dtype), peer: peerOn("bert_embed.py", "bert_embed.py", "--how", how),
	}
	for _, other := range others {
		l.others = append(l.others, peerOn("bert_embed.py", "bert_embed.py", "--how", other))
	}
	return l
}

// workloads are the pieces of this group; the bench starts itself again as one.
var workloads = map[string]func(p *placed, w *workload) error{
	"train":          trainWork,
	"train-products": trainProducts,
	"beam":           func(p *placed, w *workload) error { return searchWork(p, w, false) },
	"beam-products":  beamProducts,
	"trie":           func(p *placed, w *workload) error { return searchWork(p, w, true) },
	"atomic":         rankWork,
	"bert":           embedWork,
	"bm25-words":     byWords,
	"bm25-lucene":    byLucene,
	"clients":        clientsWork,
	"card-train":     cardTrain,
	"card-products":  cardProducts,
	"card-large":     cardLarge,
}

// weights is the folder of a model that a peer's script makes, with random weights.
func (e *env) weights(script string) (string, error) {
	dir, err := e.keep(strings.TrimSuffix(script, ".py")+"-weights2", func(dir string) error {
		command, err := e.python("models", script, filepath.Join(dir, "model"), "--make")
		if err != nil {
			return err
		}
		return e.quiet(command[0], command[1:]...)
	})
	return filepath.Join(dir, "model"), err
}

var onProcessor = []string{"-device=cpu", "-dtype=fp32"}

// workOn is our side of a line on the processor, with the weights that a script makes.
func workOn(script, piece string, args ...string) side {
	return side{command: func(e *env) ([]string, error) {
		folder, err := e.weights(script)
		return ours(piece, slices.Concat(onProcessor, args, []string{folder})...), err
	}}
}

// peerOn is the peer's side, with those weights.
func peerOn(weights, script string, args ...string) side {
	return scriptOn("models", script, func(e *env) (string, error) { return e.weights(weights) }, args...)
}

// compiledStep is a peer's training step by torch.compile, whose compiling is done before it is measured, as what it imports.
var compiledStep = side{command: func(e *env) ([]string, error) {
	folder, err := e.weights("train_step.py")
	if err != nil {
		return nil, err
	}
	step := func(cache string) ([]string, error) {
		return e.python("models", "train_step.py", folder, "--autocast", "--compile", cache)
	}
	cache, err := e.keep("compiled-"+pinned(modelRequirements, "torch"), func(cache string) error {
		command, err := step(cache)
		if err != nil {
			return err
		}
		return e.quiet(command[0], append(command[1:], "--slices", "1")...)
	})
	if err != nil {
		return nil, err
	}
	return step(cache)
}}

// trainWork is one training step, gradients and optimizer; the check is the loss
// before the first, without dropout.
func trainWork(p *placed, w *workload) error {
	m, err := p.open()
	if err != nil {
		return err
	}
	var batch seq2seq.Batch
	batch.Inputs, batch.Labels = drawn.Batch(p.lengths)
	loss, err := m.Loss(batch)
	if err != nil {
		return err
	}
	fitted, err := optimizer.NewAdafactor(m.Params(), optimizer.AdafactorDefaults())
	if err != nil {
		return err
	}
	p.later(fitted.Close)
	w.check = fmt.Sprintf("loss %.4f", loss)
	rng := &tensor.RNG{Seed: 1}
	w.run = func() (float64, error) {
		return 1, tensor.Run(func(s *tensor.Scope) {
			_, grads := m.Gradients(s, m.Prepare(batch), rng, seq2seq.Scale{})
			fitted.Step(grads, 1e-3)
			m.Changed()
		})
	}
	return nil
}
