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
	"github.com/redsi/redsi/internal/system/lists"
)

//go:embed peers/requirements-models.txt
var modelRequirements string

// transformers is the peer of the model lines, in the versions that are installed for it: the newest ones.
var transformers = "transformers " + pinned(modelRequirements, "transformers") + " with torch " + pinned(modelRequirements, "torch")

func pinned(requirements, name string) string {
	_, rest, _ := strings.Cut("\n"+requirements, "\n"+name+"==")
	version, _, _ := strings.Cut(rest, "\n")
	return version
}

// The peers run on the same weights and threads. A bound is only the work's matrix products, by libtorch.
var modelLines = []line{
	modelLine("train_step_vs_transformers", 1, 50, "a training step of T5 Efficient Tiny with Adafactor and dropout, 128 inputs of 32 tokens, in float32",
		ourStep("full"), theirStep("full"), theirStep("full", "--autocast"), compiledStep),
	modelLine("train_step_real_lengths_vs_transformers", 1.5, 45, "the same with a quarter documents of 32 tokens and queries of 8 to 16, which transformers pads",
		ourStep("real"), theirStep("real"), theirStep("real", "--autocast")),
	unlike(modelLine("train_step_bf16_vs_transformers", 1.7, 20, "the step of the first line with precision = bf16, whose loss is not float32's",
		ourStep("full", "-dtype=bf16"), theirStep("full", "--autocast"), compiledStep)),
	unlike(modelLine("train_step_bf16_real_lengths_vs_transformers", 2.5, 20, "the step of the second line with precision = bf16",
		ourStep("real", "-dtype=bf16"), theirStep("real", "--autocast"))),
	unlike(modelLine("train_step_bf16_vs_fp32", 1.5, 15, "the same, against our own in float32", ourStep("full", "-dtype=bf16"), ourStep("full"))),
	unlike(modelLine("train_step_vs_bound", 0.65, 12, "the step of the first line, against only its matrix products",
		ourStep("full"), workOn("train_step.py", "train-products", "-lengths=full"))),
	modelLine("beam40_vs_transformers", 2.5, 14, "a query's search with 40 beams for 6 tokens, batches of 8",
		workOn("train_step.py", "beam", "-queries=8"), peerOn("train_step.py", "beam.py", "--mode", "free")),
	unlike(modelLine("beam40_vs_bound", 0.5, 8, "the same search, against only its matrix products",
		workOn("train_step.py", "beam", "-queries=8"), workOn("train_step.py", "beam-products", "-queries=8"))),
	modelLine("trie40_vs_transformers", 3.5, 30, "the search constrained to 100,000 identifiers of 3 tokens",
		workOn("train_step.py", "trie", "-queries=8", "-documents=100000"),
		peerOn("train_step.py", "beam.py", "--mode", "vectorized"), peerOn("train_step.py", "beam.py", "--mode", "trie")),
	modelLine("atomic_eval_vs_transformers", 0.85, 40, "a query's 40 best of 100,000 atomic identifiers, batches of 64 as they come, in float32, also against bf16",
		ourAtomic(), theirAtomic("--sliced"), theirAtomic(), theirAtomic("--sliced", "--bf16")),
	modelLine("atomic_eval_bf16_vs_transformers", 1.5, 15, "the same with precision = bf16, whose best documents are float32's",
		ourAtomic("-dtype=bf16"), theirAtomic("--sliced", "--bf16")),
	embedLine("bert_embed", 1, 120, "float32", "-dtype=fp32", "float32", "onnxruntime", "openvino"),
	embedLine("bert_embed_bf16", 1, 90, "bf16", "-dtype=bf16", "bf16", "openvino-bf16"),
	embedLine("bert_embed_int8", 1.2, 75, "int8, also against bf16", "-dtype=int8", "onnxruntime-int8", "openvino-bf16"),
	runTrainLine,
}

func modelLine(name string, target, takes float64, doc string, ours side, peers ...side) line {
	return line{name: name, target: target, takes: takes, value: perUnit, sliced: true, doc: doc, ours: ours, peer: peers[0], others: peers[1:]}
}

func unlike(l line) line {
	l.unlike = true
	return l
}

func ourStep(lengths string, more ...string) side {
	return workOn("train_step.py", "train", append([]string{"-lengths=" + lengths}, more...)...)
}

func theirStep(lengths string, more ...string) side {
	return peerOn("train_step.py", "train_step.py", append([]string{"--lengths", lengths}, more...)...)
}

func ourAtomic(more ...string) side {
	return workOn("atomic_eval.py", "atomic", append([]string{"-queries=256", "-documents=100000", "-together=64"}, more...)...)
}

func theirAtomic(more ...string) side { return peerOn("atomic_eval.py", "atomic_eval.py", more...) }

// embedLine embeds by ours in a precision, and by peers as bert_embed.py's --how names them.
func embedLine(name string, target, takes float64, precision, dtype string, hows ...string) line {
	return modelLine(name, target, takes, "a document's [CLS] vector of BERT L-8 H-512, two thirds of 512 tokens, in "+precision,
		workOn("bert_embed.py", "bert", "-texts=12", "-tokens=4096", dtype),
		lists.Map(hows, func(how string) side { return peerOn("bert_embed.py", "bert_embed.py", "--how", how) })...)
}

// workloads are the pieces of this group; the bench restarts itself as one.
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
		return e.script("models", script, filepath.Join(dir, "model"), "--make")
	})
	return filepath.Join(dir, "model"), err
}

var onProcessor = []string{"-device=cpu", "-dtype=fp32"}

// workOn is our side of a line on the processor, with the weights that a script makes.
func workOn(script, piece string, args ...string) side {
	return pieceOn(piece, func(e *env) (string, error) { return e.weights(script) }, slices.Concat(onProcessor, args)...)
}

func peerOn(weights, script string, args ...string) side {
	return scriptOn("models", script, func(e *env) (string, error) { return e.weights(weights) }, args...)
}

// compiledStep is a peer's training step by torch.compile, whose compiling is done before it is measured, as what it imports.
var compiledStep = side{command: func(e *env) ([]string, error) {
	folder, err := e.weights("train_step.py")
	if err != nil {
		return nil, err
	}
	step := []string{folder, "--autocast", "--compile"}
	cache, err := e.keep("compiled-"+pinned(modelRequirements, "torch"), func(cache string) error {
		return e.script("models", "train_step.py", append(slices.Clip(step), cache, "--slices", "1")...)
	})
	if err != nil {
		return nil, err
	}
	return e.python("models", "train_step.py", append(step, cache)...)
}}

// trainWork is one training step, gradients and optimizer; the check is the loss before it, without dropout.
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
	fitted, err := optimizer.NewAdafactor(m.Params, optimizer.AdafactorDefaults())
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
