package pipeline_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/step"
)

// The kinds of these tests: small, but of every form that a kind can have.

type download struct {
	URL    string `hcl:"url" help:"Where the bytes are."`
	SHA256 string `hcl:"sha256,optional" help:"Their checksum."`
}

type extract struct {
	Shards step.Inputs `hcl:"shards" help:"NQ shards." accepts:"file"`
	Split  string      `hcl:"split,optional" help:"Which split it is." enum:"train,dev"`
	Limit  int         `hcl:"limit,optional" help:"Stop after this many records; 0 for none."`
}

type dedup struct {
	Records step.Input        `hcl:"records" help:"What to deduplicate." accepts:"nq/records"`
	Key     string            `hcl:"key" help:"What makes two documents one." enum:"url,h1,page_id,text4k"`
	Pages   *step.Input       `hcl:"pages,optional" help:"Page ids, for page_id."`
	Rename  map[string]string `hcl:"rename,optional" help:"Other names."`
}

type train struct {
	Corpus  step.Input `hcl:"corpus" help:"Documents." accepts:"corpus"`
	Size    string     `hcl:"size,optional" help:"Model size."`
	Seed    int        `hcl:"seed,optional" help:"Random seed."`
	Rate    float64    `hcl:"rate,optional" help:"Learning rate."`
	Budgets []int      `hcl:"budgets,optional" help:"Steps at which to evaluate."`
	BF16    bool       `hcl:"bf16,optional" help:"Half precision."`
	Pace    *int       `hcl:"pace,optional,was=tempo" help:"Of training."`
}

type anyProgram struct {
	Argv    []string               `hcl:"argv,optional" help:"Program and arguments."`
	Script  string                 `hcl:"script,optional" help:"Text of a script."`
	Files   map[string]string      `hcl:"files,optional" help:"Its files."`
	Inputs  map[string]step.Input  `hcl:"inputs,optional" help:"What it reads."`
	Lists   map[string]step.Inputs `hcl:"lists,optional" help:"More of it."`
	Outputs []string               `hcl:"outputs,optional" help:"What it leaves."`
	Secret  map[string]string      `hcl:"secret_env,optional,added,names,secret" help:"Where values are found."`
}

type row struct {
	Label string       `hcl:"label" help:"First column."`
	Cells []step.Input `hcl:"cells,optional" help:"The other columns."`
}

type expectation struct {
	Cell      string   `hcl:"cell,label" help:"Which cell."`
	Value     float64  `hcl:"value" help:"What the paper prints."`
	Tolerance *float64 `hcl:"tolerance,optional" help:"How far off it may be."`
}

type table struct {
	Paper   string                `hcl:"paper,optional" help:"Its label in the paper."`
	Caption string                `hcl:"caption,optional,nokey" help:"Its caption."`
	Rows    []row                 `hcl:"rows,optional" help:"Its rows."`
	Data    step.Inputs           `hcl:"data,optional" help:"What it shows."`
	Named   map[string]step.Input `hcl:"named,optional" help:"What it shows, by name." accepts:"metrics"`
	Expect  []expectation         `hcl:"expect,block" help:"Numbers of the paper."`
}

func noRun[C any](context.Context, *step.IO, C) error { return errors.New("not in these tests") }

func kinds() *step.Registry {
	return step.NewRegistry(
		step.Define(step.Kind[download]{Name: "download", Version: 1, Doc: "Fetches a file.",
			Outputs: []step.Output{{Name: "file", Type: "file"}}, Run: noRun[download],
			Pins: func(download, map[string]artifacts.Artifact) []step.Pin { return nil }}),
		step.Define(step.Kind[extract]{Name: "extract", Version: 1, Doc: "Reads NQ.",
			Outputs:  []step.Output{{Name: "records", Type: "nq/records"}, {Name: "audit", Type: "audit"}},
			Defaults: extract{Split: "train"}, Run: noRun[extract]}),
		step.Define(step.Kind[dedup]{Name: "dedup", Version: 2, Doc: "Groups documents.",
			Outputs: []step.Output{{Name: "corpus", Type: "corpus"}, {Name: "counts", Type: "metrics"}},
			Check: func(c dedup) error {
				if c.Key == "page_id" && c.Pages == nil {
					return step.Problem{Path: "pages", Detail: "key = \"page_id\" needs pages"}
				}
				return nil
			}, Run: noRun[dedup]}),
		step.Define(step.Kind[train]{Name: "train", Version: 1, Doc: "Trains a model.", Queue: step.GPU,
			Outputs:  []step.Output{{Name: "checkpoint", Type: "model"}, {Name: "metrics", Type: "metrics"}},
			Defaults: train{Size: "tiny", Seed: 42, Rate: 1e-3},
			Check: func(c train) error {
				var ps step.Problems
				for i, b := range c.Budgets {
					if b <= 0 {
						ps = append(ps, step.Problem{Path: fmt.Sprintf("budgets[%d]", i), Detail: fmt.Sprintf("%d is not positive", b)})
					}
				}
				if c.Rate <= 0 {
					ps = append(ps, step.Problem{Path: "rate", Detail: "it must be positive"})
				}
				return ps.Err()
			}, Run: noRun[train]}),
		step.Define(step.Kind[anyProgram]{Name: "command", Version: 1, Doc: "Runs a program.",
			Outputs: []step.Output{{Name: "out", Type: "files", Tree: true}, {Name: "stdout", Type: "file"}}, Run: noRun[anyProgram],
			Leaves: func(c anyProgram) map[string][]string { return map[string][]string{"out": c.Outputs} }}),
		step.Define(step.Kind[table]{Name: "render_table", Version: 1, Doc: "Draws a table.", Block: true, Inline: true,
			Outputs: []step.Output{{Name: "markdown", Type: "text"}}, Run: noRun[table]}),
		step.Define(step.Kind[table]{Name: "render_figure", Version: 1, Doc: "Draws a figure.", Block: true, Inline: true,
			Outputs: []step.Output{{Name: "svg", Type: "svg"}}, Run: noRun[table]}),
		step.DefinePart(step.Kind[download]{Name: "download_part", Version: 1, Doc: "A part.",
			Outputs: []step.Output{{Name: "file", Type: "file"}}, Run: noRun[download]}).Spec,
	)
}
