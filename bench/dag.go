package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// processorTime is of all processes that a run starts, servers among them.
var (
	processorTime = value{"CPU s", func(s sample) float64 { return s.Processor }, false}
	writtenEach   = value{"MB/step", func(s sample) float64 { return s.Written / 1e6 / s.Work }, false}
)

// dagLines run trivial steps, one program each, by whole commands on fresh folders.
var dagLines = []line{
	{name: "first_1000_cpu_vs_snakemake", target: 1, value: processorTime, once: true,
		doc:  "1,000 steps beside each other, first run with the server: the processor's seconds, against snakemake 9.27 --cores 2",
		ours: redsiDAG("wide", 1000, "first"), peer: snakemakeDAG("wide", 1000, "first")},
	{name: "first_1000_vs_snakemake", target: 1, value: seconds, once: true,
		doc:  "the same, by the clock",
		ours: redsiDAG("wide", 1000, "first"), peer: snakemakeDAG("wide", 1000, "first")},
	{name: "first_1000_written_vs_1mb", target: 1, value: writtenEach, once: true,
		doc:  "the same, what is written to disk for each step, against a bound of 1 MB",
		ours: redsiDAG("wide", 1000, "first"), peer: side{bound: 1}},
	{name: "chain_300_vs_snakemake", target: 1, value: seconds, once: true,
		doc:  "300 steps, each reads the one before it, first run, against snakemake 9.27 --cores 2",
		ours: redsiDAG("chain", 300, "first"), peer: snakemakeDAG("chain", 300, "first")},
	{name: "chain_300_by_reference_vs_snakemake", target: 1, value: seconds, once: true,
		doc:  "the same chain in one block, each step by reference to the one before it",
		ours: redsiDAG("steps", 300, "first"), peer: snakemakeDAG("chain", 300, "first")},
	{name: "pieces_1000_vs_written", target: 0.9, value: seconds, once: true,
		doc:  "1,000 pieces that are known when a step has run, first run, against the same pieces written down",
		ours: redsiDAG("pieces", 1000, "first"), peer: redsiDAG("written", 1000, "first")},
	{name: "pieces_10000_vs_written", target: 1 / 1.2, value: seconds, once: true,
		doc:  "the same with 10,000 pieces",
		ours: redsiDAG("pieces", 10_000, "first"), peer: redsiDAG("written", 10_000, "first")},
	{name: "piece_changed_vs_snakemake", target: 1, value: seconds, once: true,
		doc:  "1,000 files, each a piece, of which one is changed: split, the piece and what gathers them run, against a checkpoint of snakemake 9.27 --cores 2, which runs the same ones",
		ours: redsiDAG("pieces", 1000, "changed"), peer: snakemakeDAG("pieces", 1000, "changed")},
	{name: "noop_1000_vs_snakemake", target: 8, value: seconds,
		doc:  "1,000 steps that are all done, run again",
		ours: redsiDAG("wide", 1000, "again"), peer: snakemakeDAG("wide", 1000, "again")},
	{name: "plan_1000_vs_snakemake", target: 8, value: seconds,
		doc:  "what is to be done for 1,000 steps that are all done: redsi plan, snakemake -n",
		ours: redsiDAG("wide", 1000, "plan"), peer: snakemakeDAG("wide", 1000, "plan")},
	{name: "cutoff_300_vs_2s", target: 1, value: processorTime, once: true,
		doc:  "the first of a chain of 300 is edited and leaves the same bytes: the processor's seconds of the run, against a bound of 2",
		ours: redsiDAG("chain", 300, "cutoff"), peer: side{bound: 2}},
	{name: "load_50000_vs_8s", target: 1, value: processorTime, once: true,
		doc:  "for_each of 50,000 in one block is loaded: redsi validate, the processor's seconds, against a bound of 8",
		ours: redsiDAG("wide", 50_000, "load"), peer: side{bound: 8}},
	{name: "first_10000_vs_360s", target: 1, value: seconds, once: true,
		doc:  "10,000 steps beside each other, first run, against a bound of 6 minutes",
		ours: redsiDAG("wide", 10_000, "first"), peer: side{bound: 360}},
}

// resident is the memory of the command that is measured.
var (
	resident = value{"MB", func(s sample) float64 { return s.Resident / 1e6 }, false}
	page     = value{"MB", func(s sample) float64 { return s.Written / 1e6 }, false}
)

// filledLines are commands on a store with the results of 100,000 steps in one block. Their bounds of
// time are what revision d360bf4 took. Memory is that of this program at least, see peak.
var filledLines = slices.Concat(
	filled("plan_100000", "what is to be done, when all is done", 23, "plan"),
	filled("noop_100000", "run again", 28, "run"),
	filled("ls_100000", "their outputs", 23, "artifacts", "ls"),
	filled("gc_100000", "what no run names", 11, "gc", "--dry-run"),
	filled("verify_100000", "every byte", 15, "verify"),
	filled("report_100000", "the page of all", 39, "report"),
	[]line{onFilled("report_100000_page", "the page's size", page, 10, "report")},
)

// filled are the time of a command, with its bound, and its memory.
func filled(name, doc string, bound float64, verb ...string) []line {
	return []line{onFilled(name, doc, processorTime, bound, verb...), onFilled(name+"_memory", "the same", resident, 400, verb...)}
}

func onFilled(name, doc string, v value, bound float64, verb ...string) line {
	return line{name: name, target: 1, value: v, once: true, asked: true,
		doc:  fmt.Sprintf("results of 100,000 steps, %s: redsi %s, against a bound of %g %s", doc, strings.Join(verb, " "), bound, v.unit),
		ours: redsiDAG("wide", 100_000, "filled", verb...), peer: side{bound: bound}}
}

// redsiDAG and snakemakeDAG do one thing with a DAG of a shape and size.
func redsiDAG(shape string, n int, what string, command ...string) side {
	return side{command: func(e *env) ([]string, error) {
		program, err := e.redsi()
		return ours("dag", append([]string{"redsi", program, shape, strconv.Itoa(n), what}, command...)...), err
	}}
}

func snakemakeDAG(shape string, n int, what string) side {
	return side{command: func(e *env) ([]string, error) {
		dir, err := e.venv("dag")
		return ours("dag", "snakemake", filepath.Join(dir, "bin", "snakemake"), shape, strconv.Itoa(n), what), err
	}}
}
