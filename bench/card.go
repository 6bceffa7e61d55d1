//go:build !notorch

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"

	"github.com/redsi/redsi/internal/adafactor"
	"github.com/redsi/redsi/internal/bert"
	"github.com/redsi/redsi/internal/decode"
	"github.com/redsi/redsi/internal/docid"
	"github.com/redsi/redsi/internal/models"
	"github.com/redsi/redsi/internal/seq2seq"
	"github.com/redsi/redsi/internal/t5"
	"github.com/redsi/redsi/internal/tensor"
	"github.com/redsi/redsi/internal/train"
)

// cardLines are measured on a card, in bf16, beside transformers of the machine's own Python. They were never run.
var cardLines = []line{
	trainOnCard("tiny", 2), trainOnCard("small", 2), trainOnCard("base", 2),
	compiledOnCard("tiny", 1.3), compiledOnCard("small", 1.3), compiledOnCard("base", 1.3),
	{
		name: "cuda/train_base_vs_bound", target: 0.5, value: perUnit, sliced: true, unlike: true, asked: true, needs: aCard,
		doc:  "that training step of T5 Base, against its matrix products alone",
		ours: onCard("base", "card-train"), peer: onCard("base", "card-products"),
	},
	searchOnCard("beam", "a query's search with 40 beams for 6 tokens, T5 Base, 64 queries at a time"),
	searchOnCard("trie", "the search along a trie of 100,000 identifiers, against prefix_allowed_tokens_fn"),
	searchOnCard("atomic", "a query's 40 best of 100,000 atomic identifiers, T5 Base, 64 queries at a time"),
	{
		name: "cuda/bert_embed", target: 1.1, value: perUnit, sliced: true, unlike: true, asked: true, needs: aCard,
		doc:  "a document's [CLS] vector of BERT L-8 H-512, two thirds of 512 tokens",
		ours: onCard("base", "card-bert"), peer: besideOnCard("base", "bert"),
	},
}

func trainOnCard(size string, target float64) line {
	return line{
		name: "cuda/train_" + size, target: target, value: perUnit, sliced: true, unlike: true, asked: true, needs: aCard,
		doc:  "an update of T5 " + size + " with Adafactor and dropout, 128 inputs of real lengths, against transformers 4.44.1, eager",
		ours: onCard(size, "card-train"), peer: besideOnCard(size, "train"),
	}
}

func compiledOnCard(size string, target float64) line {
	l := trainOnCard(size, target)
	l.name += "_vs_compiled"
	l.doc += " but for torch.compile"
	l.peer = besideOnCard(size, "train", "--compile")
	return l
}

func searchOnCard(work, doc string) line {
	return line{
		name: "cuda/" + work, target: 8, value: perUnit, sliced: true, unlike: true, asked: true, needs: aCard,
		doc: doc, ours: onCard("base", "card-"+work), peer: besideOnCard("base", work),
	}
}

// aCard says what is missing where there is no card.
func aCard() error {
	if tensor.CUDADevices() > 0 {
		return nil
	}
	return errors.New("libtorch sees no card here, and this line is measured on one; redsi doctor says what is missing, docs/card.md what to install")
}

// cardWeights is the folder of a model with random weights that card.py makes.
func (e *env) cardWeights(size, work string) (string, error) {
	kind := map[string]string{"atomic": "atomic", "bert": "bert"}[work]
	if kind == "" {
		kind = "train"
	}
	dir, err := e.keep("card-"+size+"-"+kind+"-weights1", func(dir string) error {
		return e.quiet(machinePython(), filepath.Join("bench", "peers", "card.py"), filepath.Join(dir, "model"), "--size", size, "--work", kind, "--make")
	})
	return filepath.Join(dir, "model"), err
}

// machinePython is the machine's own: torch with CUDA is not installed for a measurement.
func machinePython() string {
	if path := os.Getenv("REDSI_BENCH_PYTHON"); path != "" {
		return path
	}
	return "python3"
}

func onCard(size, piece string) side {
	return side{command: func(e *env) ([]string, error) {
		folder, err := e.cardWeights(size, piece[len("card-"):])
		return ours(piece, folder), err
	}}
}

func besideOnCard(size, work string, more ...string) side {
	return side{command: func(e *env) ([]string, error) {
		folder, err := e.cardWeights(size, work)
		return append([]string{machinePython(), filepath.Join("bench", "peers", "card.py"), folder, "--work", work, "--size", size}, more...), err
	}}
}

// placed reads a workload's arguments; -device=cpu -dtype=fp32 tries one without a card.
func placed(args []string) (folder string, dev tensor.Device, dtype tensor.DType, err error) {
	set := flag.NewFlagSet("", flag.ContinueOnError)
	device, compute := set.String("device", "cuda:0", ""), set.String("dtype", "bf16", "")
	if err = set.Parse(args); err != nil {
		return
	}
	if dev, err = tensor.ParseDevice(*device); err != nil {
		return
	}
	dtype, err = tensor.ParseDType(*compute)
	return set.Arg(0), dev, dtype, err
}

func openOnCard(args []string) (*seq2seq.Model, error) {
	folder, dev, dtype, err := placed(args)
	if err != nil {
		return nil, err
	}
	m, err := models.Load(folder, dev)
	if err != nil {
		return nil, err
	}
	m.Compute = dtype
	return m, nil
}

const updatesPerSlice = 10

// pausing evaluates nothing: training waits there for the next slice.
type pausing struct {
	reached chan struct{}
	next    chan struct{}
}

func (p pausing) evaluate(ctx context.Context, _ int64) (map[string]float64, error) {
	select {
	case p.reached <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	select {
	case <-p.next:
		return map[string]float64{"none": 0}, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// nowhere keeps no checkpoint.
type nowhere struct{}

func (nowhere) Save(context.Context, int64, string) error { return nil }
func (nowhere) Latest(context.Context, string, func(int64) error) (bool, error) {
	return false, nil
}

// cardTrain is training as the kind train does it, ten updates a slice.
func cardTrain(args []string) (*workload, error) {
	m, err := openOnCard(args)
	if err != nil {
		return nil, err
	}
	optimizer, err := adafactor.New(m.Params(), adafactor.Defaults())
	if err != nil {
		return nil, err
	}
	learner, err := train.NewSeq2Seq(m, optimizer, 1)
	if err != nil {
		return nil, err
	}
	batch, data := trainBatch("real"), &train.Data{}
	for i := range batch.Inputs {
		data.Retrieval = append(data.Retrieval, train.Example{Input: batch.Inputs[i], Target: batch.Labels[i]})
	}
	folder, err := os.MkdirTemp("", "bench-card")
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	pause := pausing{make(chan struct{}), make(chan struct{})}
	ended := make(chan struct{})
	var failed error // of training, once it ended
	begin := func() {
		defer close(ended)
		_, failed = train.Train(ctx, train.Task{
			Config: train.Config{Steps: 1 << 30, Batch: len(batch.Inputs), Seed: 1, Schedule: train.Schedule{Rate: 1e-3},
				EvaluateEvery: updatesPerSlice, Select: "none", CheckpointEvery: 1 << 30},
			Data: data, Vocabulary: int(m.Vocabulary().Size), Learner: learner, Checkpoints: nowhere{}, Folder: folder, Evaluate: pause.evaluate,
		})
	}
	started := false
	run := func() (float64, error) {
		if !started {
			started = true
			go begin()
		} else {
			pause.next <- struct{}{}
		}
		select {
		case <-pause.reached:
			return updatesPerSlice, nil
		case <-ended:
			return 0, fmt.Errorf("training ended: %w", failed)
		}
	}
	return &workload{run: run, close: func() {
		cancel()
		if started {
			<-ended
		}
		optimizer.Close()
		m.Close()
		os.RemoveAll(folder)
	}}, nil
}

// cardProducts are the products of cardTrain's updates, forward and both of backward, in the compute type.
func cardProducts(args []string) (*workload, error) {
	folder, dev, dtype, err := placed(args)
	if err != nil {
		return nil, err
	}
	m, err := models.Load(folder, tensor.CPU)
	if err != nil {
		return nil, err
	}
	c := m.Config.(t5.Config)
	m.Close()
	var from, to int64
	for batch, i := trainBatch("real"), 0; i < len(batch.Inputs); i++ {
		from, to = from+int64(len(batch.Inputs[i])), to+int64(len(batch.Labels[i]))
	}
	all := append(encoderProducts(c, from), append(decoderProducts(c, to, 1), product{to, c.DModel, c.VocabSize, 1})...)
	scope := tensor.NewScope()
	type operands struct{ x, w, wt, g, gt *tensor.Tensor }
	var ready []operands
	err = tensor.Try(func() {
		matrix := func(rows, columns int64) *tensor.Tensor { return scope.Full(0.5, dtype, dev, rows, columns) }
		for _, p := range all {
			o := operands{x: matrix(p.rows, p.in), w: matrix(p.out, p.in), g: matrix(p.rows, p.out)}
			o.wt, o.gt = scope.Transpose(o.w, 0, 1), scope.Transpose(o.g, 0, 1)
			ready = append(ready, o)
		}
	})
	if err != nil {
		scope.Close()
		return nil, err
	}
	run := func() (float64, error) {
		return updatesPerSlice, tensor.Try(func() {
			for range updatesPerSlice {
				for i, p := range all {
					for range p.times {
						tensor.Within(func(s *tensor.Scope) {
							s.MatMul(ready[i].x, ready[i].wt)
							s.MatMul(ready[i].g, ready[i].w)
							s.MatMul(ready[i].gt, ready[i].x)
						})
					}
				}
			}
			tensor.Within(func(s *tensor.Scope) { s.Sum(ready[0].x).Item() }) // waits for the card
		})
	}
	return &workload{run: run, close: scope.Close}, nil
}

// cardSearch is beam search of 64 queries.
func cardSearch(args []string, constrained bool) (*workload, error) {
	m, err := openOnCard(args)
	if err != nil {
		return nil, err
	}
	d := draw(3)
	queries := d.sequences(64, 8, 16)
	b := decode.NewBeam(beamTokens, nil)
	b.EarlyStopping = decode.StopHeuristic // as the peer, which takes transformers' default
	if constrained {
		if b.Trie, err = docid.NewTrie(d.identifiers(beamIDs)); err != nil {
			return nil, err
		}
	}
	searcher, err := decode.NewSearcher(m)
	if err != nil {
		return nil, err
	}
	return &workload{close: func() { searcher.Close(); m.Close() }, run: func() (float64, error) {
		_, err := searcher.Search(context.Background(), queries, b, len(queries), nil)
		return float64(len(queries)), err
	}}, nil
}

func cardAtomic(args []string) (*workload, error) {
	m, err := openOnCard(args)
	if err != nil {
		return nil, err
	}
	ranker, queries, err := atomicRanker(m)
	if err != nil {
		return nil, err
	}
	return &workload{close: func() { ranker.Close(); m.Close() }, run: func() (float64, error) {
		_, err := ranker.Rank(context.Background(), queries, 40, atomicBatch, nil)
		return float64(len(queries)), err
	}}, nil
}

func cardBert(args []string) (*workload, error) {
	folder, dev, _, err := placed(args)
	if err != nil {
		return nil, err
	}
	m, err := bert.Load(folder, dev)
	if err != nil {
		return nil, err
	}
	texts := bertTexts(96)
	return &workload{close: m.Close, run: func() (float64, error) {
		_, err := m.Embed(texts, bert.CLS, math.MaxInt)
		return float64(len(texts)), err
	}}, nil
}
