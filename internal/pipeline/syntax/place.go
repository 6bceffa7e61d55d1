package syntax

import (
	"bufio"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/redsi/redsi/internal/system/lists"
)

// Place is a further place that a diagnostic shows, and what it says there.
type Place struct {
	Range hcl.Range
	Text  string
}

// Related lists the further places of a diagnostic.
func Related(d *hcl.Diagnostic) []Place {
	places, _ := d.Extra.([]Place)
	return places
}

// Pos is a place in a source.
type Pos struct {
	File string `json:"file"`
	Line int    `json:"line"`
}

func (p Pos) String() string { return fmt.Sprintf("%s:%d", p.File, p.Line) }

// PosOf is where a range begins.
func PosOf(r hcl.Range) Pos { return Pos{r.Filename, r.Start.Line} }

// Header is the range of a block's type and labels.
func Header(b *hclsyntax.Block) hcl.Range { return b.DefRange() }

// Attributes returns a body's attributes in the order of the source.
func Attributes(b *hclsyntax.Body) []*hclsyntax.Attribute {
	return slices.SortedFunc(maps.Values(b.Attributes), func(x, y *hclsyntax.Attribute) int { return BySource(x.SrcRange, y.SrcRange) })
}

// Blocks are a body's blocks of a type, in the order of the source.
func Blocks(body *hclsyntax.Body, name string) []*hclsyntax.Block {
	return lists.Filter(body.Blocks, func(b *hclsyntax.Block) bool { return b.Type == name })
}

// BySource compares places: by file, then from its top.
func BySource(a, b hcl.Range) int {
	return cmp.Or(strings.Compare(a.Filename, b.Filename), a.Start.Byte-b.Start.Byte)
}

// Line is a whole line, from 1, of a file.
func Line(f File, line int) hcl.Range {
	s := hcl.NewRangeScanner(f.Bytes, f.Name, bufio.ScanLines)
	for range line {
		s.Scan()
	}
	return s.Range()
}
