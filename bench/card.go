package main

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"

	"github.com/redsi/redsi/internal/model/tensor"
	"github.com/redsi/redsi/internal/system/lists"
)

// cardLines are measured on a card, in bf16, beside transformers of the machine's own Python, each way of it a peer.
var cardLines = []line{
	trainOnCard("tiny", 1.3), trainOnCard("small", 1.3), trainOnCard("base", 1.3),
	replayedOnCard("tiny"), replayedOnCard("small"), replayedOnCard("base"),
	cardLine("train_base_vs_bound", 0.5, "that update of T5 base, against only its matrix products",
		onCard("base", "card-train"), onCard("base", "card-products")),
	productsOnCard("bf16"), productsOnCard("fp16"), productsOnCard("fp32"),
	searchOnCard("beam", 8, "all 7,830 queries with 40 beams for 6 tokens, T5 base; a peer 64 at a time, as many as its time allows", "dynamic", "static"),
	searchOnCard("trie", 8, "those along a trie of 109,739 identifiers", "vectorized", "static", "dict"),
	searchOnCard("atomic", 8, "the 40 best of 109,739 atomic identifiers for all 7,830 queries, T5 base; a peer 64 at a time, as many as its time allows", "sliced", "whole"),
	embedOnCard("bert_embed", 1.1, "fp32"), embedOnCard("bert_embed_bf16", 0, "bf16"),
}

func cardLine(name string, target float64, doc string, ours side, peers ...side) line {
	return line{name: "cuda/" + name, target: target, value: perUnit, sliced: true, unlike: true, asked: true, needs: aCard, doc: doc,
		ours: ours, peer: peers[0], others: peers[1:]}
}

func trainOnCard(size string, target float64) line {
	return cardLine("train_"+size, target,
		"an update of T5 "+size+" with Adafactor and dropout, 128 inputs of real lengths that vary, against transformers, eager and compiled",
		onCard(size, "card-train"), besideOnCard(size, "train", "reduce-overhead", "compile", "eager")...)
}

// replayedOnCard has no floor: it says what replaying graphs is worth.
func replayedOnCard(size string) line {
	l := trainOnCard(size, 0)
	l.name += "_replayed"
	l.doc = "that update of T5 " + size + ", against its operations asked for one by one: no graphs are replayed"
	l.peer, l.others = onCard(size, "card-train", "-single"), nil
	return l
}

var flops = value{"TFLOP/s", func(s sample) float64 { return s.Work / 1e12 / s.Seconds }, true}

// productsOnCard has no floor: it says how far a card's speed goes down at Base's sizes.
func productsOnCard(dtype string) line {
	l := cardLine("products_base_"+dtype, 0,
		"the matrix products of that update of T5 base in "+dtype+", against a product of 8192 x 8192 x 8192, as vendors measure a card",
		onCard("base", "card-products", "-flops", "-dtype="+dtype), onCard("base", "card-large", "-dtype="+dtype))
	l.value = flops
	return l
}

func searchOnCard(work string, target float64, doc string, hows ...string) line {
	l := cardLine(work, target, doc, onCard("base", work), besideOnCard("base", work, hows...)...)
	l.toEnd = true
	return l
}

func embedOnCard(name string, target float64, dtype string) line {
	l := cardLine(name, target,
		"[CLS] vectors of 109,739 documents by BERT L-8 H-512 in "+dtype+", two thirds of 512 tokens; the peer 96 at a time, as many as its time allows",
		onCard("base", "bert", "-dtype="+dtype), byCardScript("base", "bert", "--dtype", dtype))
	l.toEnd = true
	return l
}

// aCard says what is missing where there is no card.
func aCard(e *env) error {
	switch {
	case e.card == "cpu" && !e.quick:
		return errors.New("-card cpu computes on the CPU, where the line would take days: add -quick")
	case e.card == "cpu":
		return nil
	case tensor.CUDADevices() == 0:
		return errors.New("libtorch finds no GPU here, and this line is measured on one; redsi doctor says what is missing, docs/card.md what to install")
	}
	_, err := tensor.ParseDevice(e.card)
	return err
}

// cardWeights is the folder of a model with random weights that card.py makes.
func (e *env) cardWeights(size, work string) (string, error) {
	kind := cmp.Or(map[string]string{"atomic": "atomic", "bert": "bert"}[work], "train")
	var more []string
	if e.quick {
		size, more = "quick", []string{"--quick"}
	}
	dir, err := e.keep("card-"+size+"-"+kind+"-weights2", func(dir string) error {
		command := []string{filepath.Join("bench", "peers", "card.py"), filepath.Join(dir, "model"), "--size", size, "--work", kind, "--make"}
		return e.quiet(machinePython(), append(command, more...)...)
	})
	return filepath.Join(dir, "model"), err
}

// machinePython is the machine's own: torch with CUDA is not installed for a measurement.
func machinePython() string {
	return cmp.Or(os.Getenv("REDSI_BENCH_PYTHON"), "python3")
}

func onCard(size, piece string, more ...string) side {
	return side{command: func(e *env) ([]string, error) {
		folder, err := e.cardWeights(size, piece)
		args := append([]string{"-device=" + e.card}, more...)
		if e.quick {
			args = append(args, "-quick")
		}
		return ours(piece, append(args, folder)...), err
	}}
}

// besideOnCard are transformers' sides, as card.py's --how names them.
func besideOnCard(size, work string, hows ...string) []side {
	return lists.Map(hows, func(how string) side { return byCardScript(size, work, "--how", how) })
}

func byCardScript(size, work string, more ...string) side {
	return side{command: func(e *env) ([]string, error) {
		folder, err := e.cardWeights(size, work)
		args := append([]string{"--work", work, "--device", e.card}, more...)
		if e.quick {
			args = append(args, "--quick")
		}
		return append([]string{machinePython(), filepath.Join("bench", "peers", "card.py"), folder}, args...), err
	}}
}
