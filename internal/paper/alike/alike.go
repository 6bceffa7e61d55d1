package alike

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/step"
)

// Verdict is how two results, or an output of them, compare.
type Verdict string

// The verdicts, from best to worst.
const (
	Same    Verdict = "same bytes"
	Within  Verdict = "within"
	Differs Verdict = "differs"
)

// Worse returns the worse of two verdicts.
func Worse(a, b Verdict) Verdict {
	if a == Differs || b == Same {
		return a
	}
	return b
}

// Difference is a place where two results are not the same.
type Difference struct {
	Output  string   `json:"output"`
	File    string   `json:"file,omitempty"` // of a tree
	Path    string   `json:"path,omitempty"` // a field, cell, row, query or line
	Stands  string   `json:"stands,omitempty"`
	Made    string   `json:"made,omitempty"`
	By      *float64 `json:"difference,omitempty"` // of numbers
	Allowed *float64 `json:"allowed,omitempty"`
	What    string   `json:"what,omitempty"` // in words, where numbers do not say it

	of float64 // difference over allowed
	at place   // of a field
}

// String returns the place, both values and how far they are apart, in one line.
func (d *Difference) String() string {
	place, values := d.Path, ""
	if d.File != "" {
		place = strings.TrimSuffix("file "+d.File+", "+d.Path, ", ")
	}
	if d.Stands != "" || d.Made != "" {
		values = fmt.Sprintf("%s → %s", cmp.Or(d.Stands, "nothing"), cmp.Or(d.Made, "nothing"))
	}
	if d.By != nil && d.Allowed != nil {
		values += fmt.Sprintf(", %.3g apart, %.3g allowed", *d.By, *d.Allowed)
	}
	return strings.Join(lists.Filter([]string{place, values, d.What}, func(s string) bool { return s != "" }), ": ")
}

// Found is how an output whose bytes differ compares.
type Found struct {
	Output  string      `json:"output"`
	Verdict Verdict     `json:"verdict"` // Same if the output differs only in what tells of its run
	Rule    string      `json:"compared_by"`
	Worst   *Difference `json:"worst,omitempty"`
	By      []string    `json:"evaluated_by,omitempty"` // of a model: the steps that evaluated both
}

// Comparison is how two results compare.
type Comparison struct {
	Verdict Verdict `json:"verdict"`
	Outputs []Found `json:"outputs,omitempty"` // outputs whose bytes differ, by name
}

// Worst returns the greatest difference among the outputs that have the comparison's verdict; nil if there is none.
func (c Comparison) Worst() (worst *Difference) {
	for _, f := range c.Outputs {
		if f.Verdict == c.Verdict && f.Worst != nil && (worst == nil || f.Worst.of > worst.of) {
			worst = f.Worst
		}
	}
	return worst
}

// OfTheRun names the outputs that differ only in what tells of their run.
func (c Comparison) OfTheRun() []string {
	same := lists.Filter(c.Outputs, func(f Found) bool { return f.Verdict == Same })
	return lists.Map(same, func(f Found) string { return f.Output })
}

// Evaluate judges a model by the steps that evaluate it.
type Evaluate func(ctx context.Context, output string, rule step.Evaluated) (Found, error)

// Compare judges rebuilt outputs by the outputs that stand, with the kind's outputs and the rule of each by name.
func Compare(ctx context.Context, blobs artifacts.BlobReader, outputs []step.Output, rules map[string]step.Alike,
	stands, rebuilt map[string]artifacts.Artifact, evaluate Evaluate) (Comparison, error) {
	c := comparer{ctx, blobs, outputs, rules, stands, rebuilt, evaluate}
	all := Comparison{Verdict: Same}
	for _, name := range union(stands, rebuilt) {
		if reflect.DeepEqual(stands[name], rebuilt[name]) {
			continue
		}
		f, err := c.output(name)
		if err != nil {
			return all, fmt.Errorf("compare %s: %w", name, err)
		}
		all.Verdict = Worse(all.Verdict, f.Verdict)
		all.Outputs = append(all.Outputs, f)
	}
	return all, nil
}

func union[V any](a, b map[string]V) []string {
	keys := slices.AppendSeq(slices.Collect(maps.Keys(a)), maps.Keys(b))
	slices.Sort(keys)
	return slices.Compact(keys)
}

type comparer struct {
	ctx             context.Context
	blobs           artifacts.BlobReader
	outputs         []step.Output
	rules           map[string]step.Alike
	stands, rebuilt map[string]artifacts.Artifact
	evaluate        Evaluate
}

// output compares an output whose bytes differ.
func (c *comparer) output(name string) (Found, error) {
	rule := c.rules[name]
	if rule == nil {
		rule = step.Bytes{}
	}
	f := Found{Output: name, Rule: rule.String()}
	x, there := c.stands[name]
	y, here := c.rebuilt[name]
	evaluated, isEvaluated := rule.(step.Evaluated)
	follows, isFollower := rule.(step.Follows)
	m := &meter{}
	switch {
	case !there:
		m.unlike("", "", "", "the stored result does not have it")
	case !here:
		m.unlike("", "", "", "the rebuild did not make it")
	case isFollower:
		return c.follow(f, follows)
	case isEvaluated:
		g, err := c.evaluate(c.ctx, name, evaluated)
		g.Output, g.Rule = f.Output, f.Rule
		if g.Worst != nil {
			g.Worst.Output = name
		}
		return g, err
	case x.Type != y.Type:
		m.unlike("", x.Type, y.Type, "its type differs")
	case (x.Files == nil) != (y.Files == nil):
		m.unlike("", "", "", "one is a tree of files")
	case x.Files != nil:
		if err := c.files(m, name, rule, x, y); err != nil {
			return f, err
		}
	default:
		if err := c.blob(m, name, rule, x.Digest, y.Digest); err != nil {
			return f, err
		}
	}
	f.Verdict, f.Worst = m.verdict(), m.worst
	if f.Worst != nil {
		f.Worst.Output = name
	}
	return f, nil
}

// follow judges an output by the output that it is computed from.
func (c *comparer) follow(f Found, r step.Follows) (Found, error) {
	if reflect.DeepEqual(c.stands[r.Output], c.rebuilt[r.Output]) {
		f.Verdict = Differs
		f.Worst = &Difference{Output: f.Output, What: "its bytes differ, and the bytes of " + r.Output + ", from which it is computed, do not", of: math.Inf(1)}
		return f, nil
	}
	g, err := c.output(r.Output)
	f.Verdict, f.Worst = g.Verdict, g.Worst
	if f.Verdict == Same { // only in what tells of the run
		f.Verdict = Within
	}
	return f, err
}

func (c *comparer) files(m *meter, name string, rule step.Alike, x, y artifacts.Artifact) error {
	in := lists.By(y.Files, func(f artifacts.File) string { return f.Name })
	each, byFile := rule.(step.Files)
	for _, f := range x.Files {
		g, ok := in[f.Name]
		delete(in, f.Name)
		m.file = f.Name
		if !ok {
			m.unlike("", "", "", "the rebuild did not make the file")
			continue
		}
		if f.Digest == g.Digest {
			continue
		}
		r := rule
		if byFile {
			r = each.Rule(f.Name)
		}
		if err := c.blob(m, name, r, f.Digest, g.Digest); err != nil {
			return fmt.Errorf("file %s: %w", f.Name, err)
		}
	}
	for _, f := range slices.Sorted(maps.Keys(in)) {
		m.file = f
		m.unlike("", "", "", "the stored result does not have the file")
	}
	return nil
}

func (c *comparer) blob(m *meter, output string, rule step.Alike, x, y artifacts.Digest) error {
	var compare func(a, b io.Reader) error
	switch r := rule.(type) {
	case step.OfTheRun:
		return nil // and nothing is noted
	case step.Numbers:
		compare = numbers{m, r, c.fieldsOf(output)}.compare
	case step.Texts:
		compare = texts{m, r}.compare
	case step.Runs:
		compare = runs{m, r}.compare
	case step.Vectors:
		compare = vectors{m, r}.compare
	case step.Cells:
		compare = cells{m, r}.compare
	default:
		m.unlike("", x.Short(), y.Short(), "its bytes differ")
		return nil
	}
	m.notes, m.ofTheRun = 0, false
	unread, err := c.both(x, y, compare)
	if err != nil {
		return err
	}
	if unread != nil {
		m.unlike("", "", "", unread.Error())
	}
	if m.notes == 0 && !m.ofTheRun {
		m.note(&Difference{What: "the same, written differently"})
	}
	return nil
}

// both opens two blobs: unread is an error of compare, err one of the store.
func (c *comparer) both(x, y artifacts.Digest, compare func(a, b io.Reader) error) (unread, err error) {
	a, err := openBlob(c.ctx, c.blobs, x)
	if err != nil {
		return nil, err
	}
	defer a.Close()
	b, err := openBlob(c.ctx, c.blobs, y)
	if err != nil {
		return nil, err
	}
	defer b.Close()
	unread = compare(a, b)
	// A comparison that ended early may not have read the end, where the bytes are verified.
	return unread, cmp.Or(a.verify(), b.verify())
}

func (c *comparer) fieldsOf(output string) *step.Fields {
	for _, o := range c.outputs {
		if o.Name == output {
			return o.Fields
		}
	}
	return nil
}
