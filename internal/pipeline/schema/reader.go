package schema

import (
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/redsi/redsi/internal/pipeline/language"
	"github.com/redsi/redsi/step"
)

// Reader reads what a block says, as an instance of it sees values.
type Reader struct {
	language.Scope
	Block   *hclsyntax.Block
	Spec    *step.Spec
	Owner   string // the block in sentences about its attributes
	Address string // the instance in sentences
	Typos   Typos
	broken  [][]any // paths of values that are wrong; reported

	Outputs map[step.Ref]step.Output // artifacts among the values
	Read    map[string]*step.Spec    // the steps that they are of
}

// broken stands in a tree for a value that is wrong. No type takes it, so a kind's own checks never see it.
type broken struct{}

// Spoil remembers where a value is wrong, or not known yet.
func (r *Reader) Spoil(at []any) broken {
	r.broken = append(r.broken, at)
	return broken{}
}

func (r *Reader) Failed() bool { return len(r.broken) > 0 }

// Fail reports a wrong value and remembers where it is.
func (r *Reader) Fail(at []any, rng hcl.Range, summary, detail string) broken {
	about := detail
	if len(at) > 0 {
		about = pattern(at)
	}
	r.Report(rng, summary, detail, about)
	return r.Spoil(at)
}

// covered reports whether a value on the way to a path, or below it, has been reported.
func (r *Reader) covered(path []any) bool {
	return slices.ContainsFunc(r.broken, func(b []any) bool {
		n := min(len(b), len(path))
		return n > 0 && slices.Equal(b[:n], path[:n])
	})
}
