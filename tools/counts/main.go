// Command counts writes what operations of the paper's models ask of a card, counted on a CPU
// that is taken for one: internal/host/roofline/counts.json.
//
//	go run ./tools/counts [-of tiny,more,small,base,bert] [-out internal/host/roofline/counts.json]
//
// What -of does not name stays as it was counted. All of it takes two minutes.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/redsi/redsi/internal/host/roofline"
	"github.com/redsi/redsi/internal/model/counted"
	"github.com/redsi/redsi/internal/system/atomicfile"
)

func main() { os.Exit(run(os.Args[1:], os.Stderr)) }

func run(args []string, errs io.Writer) int {
	f := flag.NewFlagSet("counts", flag.ContinueOnError)
	f.SetOutput(errs)
	of := f.String("of", strings.Join(counted.Models, ","), "what to count")
	out := f.String("out", "internal/host/roofline/counts.json", "the file to write")
	if f.Parse(args) != nil {
		return 2
	}
	names := strings.Split(*of, ",")
	for _, name := range names {
		if !slices.Contains(counted.Models, name) {
			fmt.Fprintf(errs, "counts: %q is not one of %s\n", name, strings.Join(counted.Models, ", "))
			return 2
		}
	}
	if err := write(names, *out); err != nil {
		fmt.Fprintln(errs, "counts:", err)
		return 1
	}
	return 0
}

func write(names []string, path string) error {
	var all []roofline.Counted
	for _, name := range counted.Models {
		if !slices.Contains(names, name) {
			all = append(all, counted.Held(name)...)
			continue
		}
		again, err := counted.All(name)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, again...)
	}
	text, err := json.MarshalIndent(all, "", " ")
	if err != nil {
		return err
	}
	return atomicfile.WriteFile(path, append(text, '\n'), 0o644)
}
