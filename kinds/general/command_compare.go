package general

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

// compareRule is a step.Alike of a file, as an author writes it.
type compareRule struct {
	As      string                   `hcl:"as,optional" enum:",numbers,texts,run,vectors,skip" help:"numbers, the default: JSON, or lines of it; texts: words with numbers among them, such as CSV; run: rankings in TREC's format; vectors: .npy; skip: not at all, for what describes the run itself"`
	Abs     float64                  `hcl:"abs,optional" help:"how far two numbers that are not whole may be apart; for vectors, their lengths"`
	Rel     float64                  `hcl:"rel,optional" help:"the same as a fraction of the greater one"`
	Fields  map[string]compareMargin `hcl:"fields,optional" help:"for numbers: margins of fields, whole numbers too, by path: points[].loss, metrics.*"`
	Depth   int                      `hcl:"depth,optional" help:"for a run: how many documents of each ranking are compared; default 10"`
	Overlap float64                  `hcl:"overlap,optional" help:"for a run: least share of them that is in both, on average"`
	Cosine  float64                  `hcl:"cosine,optional" help:"for vectors: least cosine of two rows"`
}

type compareMargin struct {
	Abs  float64 `hcl:"abs,optional" help:"how far two numbers may be apart"`
	Rel  float64 `hcl:"rel,optional" help:"the same as a fraction of the greater one"`
	Skip bool    `hcl:"skip,optional" help:"it is not compared, such as seconds"`
}

// rule is what the step is compared by.
func (c compareRule) rule() step.Alike {
	margin := step.Margin{Abs: c.Abs, Rel: c.Rel}
	switch c.As {
	case "skip":
		return step.OfTheRun{}
	case "texts":
		return step.Texts{Margin: margin}
	case "run":
		return step.Runs{Depth: cmp.Or(c.Depth, 10), Overlap: c.Overlap}
	case "vectors":
		return step.Vectors{Margin: margin, Cosine: c.Cosine}
	}
	n := step.Numbers{Margin: margin}
	for at, m := range c.Fields {
		if n.Fields == nil {
			n.Fields = map[string]step.Margin{}
		}
		n.Fields[at] = step.Margin(m)
	}
	return n
}

// check says which attributes the way of comparing does not take.
func (c compareRule) check() error {
	for name, bad := range map[string]bool{
		"abs and rel": (c.Abs != 0 || c.Rel != 0) && (c.As == "run" || c.As == "skip"),
		"fields":      len(c.Fields) > 0 && c.As != "" && c.As != "numbers",
		"depth":       c.Depth != 0 && c.As != "run",
		"overlap":     c.Overlap != 0 && c.As != "run",
		"cosine":      c.Cosine != 0 && c.As != "vectors",
	} {
		if bad {
			return fmt.Errorf("as = %q takes no %s", c.As, name)
		}
	}
	return step.CheckAlike(c.rule())
}

// printed is the name by which compare has what the program printed.
const printed = "stdout"

func (c commandConfig) alike() map[string]step.Alike {
	rules, files := map[string]step.Alike{}, step.Files{}
	for name, r := range c.Compare {
		if name == printed {
			rules[printed] = r.rule()
			continue
		}
		files[name] = r.rule()
	}
	if len(files) > 0 {
		rules["out"] = files
	}
	return rules
}

// compareProblems are the rules that cannot be gone by, or that are of no file.
func (c commandConfig) compareProblems() (ps step.Problems) {
	for _, name := range slices.Sorted(maps.Keys(c.Compare)) {
		at := fmt.Sprintf("compare[%q]", name)
		if err := c.Compare[name].check(); err != nil {
			inout.CheckError(&ps, at, err)
			continue
		}
		if _, err := path.Match(name, ""); err != nil || name == "" {
			inout.Check(&ps, at, false, "is not a pattern of file names: * and ? stand for parts of names")
			continue
		}
		of := func(output string) bool {
			ok, _ := path.Match(name, output)
			return ok || strings.HasSuffix(output, "/") && strings.HasPrefix(name, output)
		}
		inout.Check(&ps, at, name == printed || slices.ContainsFunc(c.Outputs, of),
			"names none of outputs, which are %s, and is not %q", strings.Join(c.Outputs, ", "), printed)
	}
	return ps
}
