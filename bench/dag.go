package main

import (
	_ "embed"
	"fmt"
	"path/filepath"
	"strconv"
)

//go:embed peers/requirements-dag.txt
var dagRequirements string

// processorTime is of all processes that a run starts, servers among them.
var processorTime = value{"CPU s", func(s sample) float64 { return s.Processor }, false}

// dagLines run trivial steps, one program each, by complete commands on fresh folders.
var dagLines = []line{
	{name: "first_1000_cpu_vs_snakemake", takes: 36, target: 1, value: processorTime, once: true,
		doc:  "1,000 steps beside each other, first run with the server: the processor's seconds",
		ours: redsiDAG("wide", 1000, "first"), peer: snakemakeDAG("wide", 1000, "first")},
	{name: "first_1000_vs_snakemake", takes: 0.1, target: 1, value: seconds, once: true,
		doc:  "the same, by the clock",
		ours: redsiDAG("wide", 1000, "first"), peer: snakemakeDAG("wide", 1000, "first")},
	{name: "chain_300_vs_snakemake", takes: 10, target: 1, value: seconds, once: true,
		doc:  "300 steps, each reads the one before it, first run",
		ours: redsiDAG("chain", 300, "first"), peer: snakemakeDAG("chain", 300, "first")},
	{name: "chain_300_by_reference_vs_snakemake", takes: 4, target: 1, value: seconds, once: true,
		doc:  "the same chain in one block, each step by reference to the one before it",
		ours: redsiDAG("steps", 300, "first"), peer: snakemakeDAG("chain", 300, "first")},
	{name: "pieces_1000_vs_written", takes: 35, target: 0.9, value: seconds,
		doc:  "1,000 pieces that a step names when it has run, first run, against the same pieces written down",
		ours: redsiDAG("pieces", 1000, "first"), peer: redsiDAG("written", 1000, "first")},
	{name: "pieces_3000_vs_written", takes: 45, target: 1 / 1.2, value: seconds, once: true,
		doc:  "the same with 3,000 pieces",
		ours: redsiDAG("pieces", 3000, "first"), peer: redsiDAG("written", 3000, "first")},
	{name: "pieces_10000_vs_written", target: 1 / 1.2, value: seconds, once: true, asked: true,
		doc:  "the same with 10,000 pieces, three minutes",
		ours: redsiDAG("pieces", 10_000, "first"), peer: redsiDAG("written", 10_000, "first")},
	{name: "piece_changed_vs_snakemake", takes: 42, target: 1, value: seconds, once: true,
		doc:  "1,000 files, each a piece, of which one is changed: split, the piece and what gathers them run, against a checkpoint of snakemake, which runs the same ones",
		ours: redsiDAG("pieces", 1000, "changed"), peer: snakemakeDAG("pieces", 1000, "changed")},
	{name: "gather_1000_failing_10_vs_snakemake", takes: 45, target: 1, value: seconds, once: true,
		doc:  "1,000 steps of which 10 fail, first run: what gathers them goes on without those, against snakemake --keep-going, which does the 990 and gathers none",
		ours: redsiDAG("failing", 1000, "first"), peer: snakemakeDAG("failing", 1000, "first")},
	{name: "noop_1000_vs_snakemake", takes: 6, target: 8, value: seconds,
		doc:  "1,000 steps that are all done, rerun",
		ours: redsiDAG("wide", 1000, "again"), peer: snakemakeDAG("wide", 1000, "again")},
	{name: "noop_1000_vs_make", takes: 5, value: seconds,
		doc:  "the same, against make, which looks only at times",
		ours: redsiDAG("wide", 1000, "again"), peer: side{command: func(e *env) ([]string, error) {
			return ours("dag", e.shared("make", "wide", 1000), "make", "make", "wide", "1000", "again"), nil
		}, is: "make -j2"}},
	{name: "plan_1000_vs_snakemake", takes: 5, target: 6, value: seconds,
		doc:  "what is to be done for 1,000 steps that are all done: redsi plan, snakemake -n",
		ours: redsiDAG("wide", 1000, "plan"), peer: snakemakeDAG("wide", 1000, "plan")},
}

// redsiDAG and snakemakeDAG do one thing with a DAG. Later lines of the same DAG find what a first run leaves.
func redsiDAG(shape string, n int, what string) side {
	return side{command: func(e *env) ([]string, error) {
		program, err := e.redsi()
		return ours("dag", e.shared("redsi", shape, n), "redsi", program, shape, strconv.Itoa(n), what), err
	}}
}

func snakemakeDAG(shape string, n int, what string) side {
	return side{command: func(e *env) ([]string, error) {
		dir, err := e.venv("dag")
		return ours("dag", e.shared("snakemake", shape, n), "snakemake", filepath.Join(dir, "bin", "snakemake"), shape, strconv.Itoa(n), what), err
	}, is: "snakemake " + pinned(dagRequirements, "snakemake") + " --cores 2"}
}

// shared is the option that has a DAG run in a folder of this run of the bench. Large ones are in a new one each time.
func (e *env) shared(tool, shape string, n int) string {
	if shape == "large" || shape == "tree" {
		return "-in="
	}
	return fmt.Sprintf("-in=%s", filepath.Join(e.scratch, fmt.Sprint(tool, "-", shape, "-", n)))
}
