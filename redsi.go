// Package redsi is the program redsi for other modules to build: the same verbs, worker and
// cache, with step kinds of their own beside or instead of those of the paper.
//
//	func main() { redsi.Main(append(redsi.Kinds(), mine.Kind)...) }
//
// Package step says what a kind is. examples/own-kind is such a module.
//
// Promised from version 0.1.0 on: Main and Kinds keep their meaning. Before version 1 a minor
// version may change them, which CHANGELOG.md then says.
package redsi

import (
	"os"

	"github.com/redsi/redsi/internal/cli"
	_ "github.com/redsi/redsi/internal/host/heapfloor" // the first garbage collection comes later
	"github.com/redsi/redsi/kinds"
	"github.com/redsi/redsi/step"
)

// Main runs the command line of this process with these kinds and exits: 0 ok, 1 failed,
// 2 what the user gave cannot be done as it is. Two kinds with the same name panic.
func Main(kinds ...step.Spec) { os.Exit(cli.Main(step.NewRegistry(kinds...))) }

// Kinds are all kinds of the paper that redsi was made for.
func Kinds() []step.Spec { return kinds.All() }
