package main

import (
	"flag"
	"slices"

	"github.com/redsi/redsi/internal/model/models"
	"github.com/redsi/redsi/internal/model/seq2seq"
	"github.com/redsi/redsi/internal/model/tensor"
	"github.com/redsi/redsi/internal/ranking/retrieve/stopping"
)

// sizes are how much workloads do; bench/peers/card.py has the sizes for a card.
type sizes struct {
	batch     int   // examples of an update
	batches   int   // of them before examples recur
	updates   int   // of a slice
	queries   int   // of an evaluation
	documents int   // that it chooses from
	together  int   // queries that are asked for together; 0: as many as the kinds ask for
	texts     int   // to embed
	tokens    int   // of these that are computed together
	square    int64 // rows and columns of the large product
}

var (
	// paperSizes are the paper's, and a product as the vendors of cards measure theirs.
	paperSizes = sizes{batch: 128, batches: 64, updates: 20, queries: 7830, documents: 109_739, texts: 109_739, tokens: 8192, square: 8192}
	// quickSizes are there to try a workload.
	quickSizes = sizes{batch: 8, batches: 4, updates: 2, queries: 6, documents: 300, texts: 6, tokens: 8192, square: 64}
)

// placed is where a workload runs, and how much it does.
type placed struct {
	folder    string   // of the model
	args      []string // what is given beside flags, folder first
	device    tensor.Device
	compute   tensor.DType
	precision string        // of searches
	flops     bool          // products are counted in operations, not in updates
	single    bool          // a training asks for operation by operation, and replays no graphs
	lengths   string        // of a step's batch: full, or real
	beams     int           // of a search
	early     stopping.Rule // of it
	sizes

	last []func() // what close calls, the newest first
}

func (p *placed) later(f func()) { p.last = append(p.last, f) }

func (p *placed) close() {
	for _, f := range slices.Backward(p.last) {
		f()
	}
	p.last = nil
}

// onDevice is the workload that prepare makes of its arguments. Where that fails, all is freed.
func onDevice(args []string, prepare func(p *placed, w *workload) error) (*workload, error) {
	p, err := place(args)
	if err != nil {
		return nil, err
	}
	w := &workload{close: p.close}
	if err := prepare(p, w); err != nil {
		p.close()
		return nil, err
	}
	return w, nil
}

func place(args []string) (p *placed, err error) {
	p = &placed{sizes: paperSizes}
	set := flag.NewFlagSet("", flag.ContinueOnError)
	device, compute := set.String("device", "cuda:0", ""), set.String("dtype", "bf16", "")
	quick := set.Bool("quick", false, "")
	set.BoolVar(&p.flops, "flops", false, "")
	set.BoolVar(&p.single, "single", false, "")
	set.StringVar(&p.lengths, "lengths", "full", "")
	set.IntVar(&p.beams, "beams", 40, "")
	early := set.String("early", string(stopping.Heuristic), "") // transformers' default
	for name, size := range map[string]*int{"queries": &p.queries, "documents": &p.documents, "together": &p.together, "texts": &p.texts, "tokens": &p.tokens} {
		set.IntVar(size, name, *size, "")
	}
	if err := set.Parse(args); err != nil {
		return nil, err
	}
	p.folder, p.args = set.Arg(0), set.Args()
	p.early = stopping.Rule(*early)
	if *quick {
		p.sizes = quickSizes
	}
	if p.precision = *compute; p.precision == "int8" {
		p.compute = tensor.F32
	} else if p.compute, err = tensor.ParseDType(*compute); err != nil {
		return nil, err
	}
	if p.device, err = tensor.ParseDevice(*device); err != nil {
		return nil, err
	}
	if p.together == 0 && !p.device.IsCUDA() { // on a card, as many as there is room for
		p.together = 32
	}
	return p, nil
}

func (p *placed) open() (*seq2seq.Model, error) {
	m, err := models.Load(p.folder, p.device)
	if err != nil {
		return nil, err
	}
	p.later(m.Close)
	return m, m.SearchIn(p.precision)
}
