// Package redsi is the program redsi for other modules to build: the same verbs, worker and cache, with step kinds of
// their own beside or instead of the paper's.
//
//	func main() { redsi.Main(append(redsi.Kinds(), mine.Kind)...) }
//
// Package step says what a kind is. examples/own-kind is such a module.
//
// Promised from version 0.1.0 on: Main and Kinds keep their meaning. Before version 1 a minor version may change them,
// which CHANGELOG.md then says.
package redsi

import (
	"embed"
	"os"

	"github.com/redsi/redsi/assets/tokenizers"
	"github.com/redsi/redsi/internal/cli"
	_ "github.com/redsi/redsi/internal/host/heapfloor" // the first garbage collection comes later
	"github.com/redsi/redsi/kinds"
	"github.com/redsi/redsi/step"
)

// Main runs the command line of this process with these kinds and exits: 0 ok, 1 failed, 2 the user's input is wrong.
// Two kinds with the same name panic.
func Main(kinds ...step.Spec) {
	os.Exit(cli.Main(step.NewRegistry(kinds...), cli.Paper{Name: "redsi", Try: "redsi run --var scale=toy -t table.dedup_counts", Files: paper,
		More: map[string][]byte{
			"assets/tokenizers/t5-tokenizer.json.gz":                tokenizers.T5,
			"assets/tokenizers/bert-base-uncased-tokenizer.json.gz": tokenizers.BERTUncased,
			"assets/tokenizers/ATTRIBUTION.md":                      tokenizers.Attribution,
		}}))
}

// paper is the paper's pipeline without its tokenizers: each file by its name, so that no other .hcl file of a clone,
// such as the settings of one machine, is part of it.
//
//go:embed pipelines.hcl results.hcl results_appendices.hcl results_baselines.hcl sample.hcl
//go:embed expected.hcl claims.hcl checklist.hcl exports.hcl pipelines.test.hcl
//go:embed assets/paper/*.csv
var paper embed.FS

// Kinds returns all kinds of the paper for which redsi was written.
func Kinds() []step.Spec { return kinds.All() }
