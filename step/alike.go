package step

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
)

// Alike is the rule by which an output of two results of one key is compared, where its bytes differ:
// what may differ between two machines that both did the work right. It is in no key, and is for people.
// It is one of Bytes, Numbers, Texts, Runs, Vectors, Cells, Evaluated, Follows, Files and OfTheRun.
type Alike interface {
	// String is the rule in words, such as "numbers within 1e-06 of the greater".
	String() string
	check() error
}

// Bytes allows no difference. It is the rule where none is declared.
type Bytes struct{}

// OfTheRun is for an output that describes the run itself, such as its seconds: it is not compared.
type OfTheRun struct{}

// Margin is by how much two numbers may differ: by Abs, or by Rel times the greater one, whichever is
// more. With Skip they are not compared, since they describe the run itself.
type Margin struct {
	Abs, Rel float64
	Skip     bool
}

// Allows returns how far x and y may be apart.
func (m Margin) Allows(x, y float64) float64 { return max(m.Abs, m.Rel*max(math.Abs(x), math.Abs(y))) }

// Numbers is for JSON and JSON lines, plain or compressed: the same shape, equal texts and integers, other numbers
// within the margin. The output's Fields say which numbers are integers, or else the way in which both are written.
// Fields has margins of single fields, also of integers, by patterns such as "points[].loss" and "metrics.*".
type Numbers struct {
	Margin
	Fields map[string]Margin
}

// Texts is for text with numbers in it: equal words, numbers within the margin, any white space as one blank.
type Texts struct{ Margin }

// Runs is for rankings in TREC's format: the same queries, and of the first Depth documents a share of
// Overlap in both, on average.
type Runs struct {
	Depth   int
	Overlap float64
}

// Vectors is for an .npy matrix of floats: the cosine of two rows is at least Cosine, and their lengths are
// within the margin.
type Vectors struct {
	Margin
	Cosine float64
}

// Cells is for the JSON of a table or figure: each number, as it is printed, within so many units of its
// last digit, everything else equal.
type Cells struct{ Units int }

// Evaluated is for a model: the steps of kind By that read it are run on both models, and in their Output, a JSON
// document, the numbers that Fields names, percentages of queries, differ by no more than their margin, or than
// Chance * 100/√n, n being the number at the path Of, whichever is more. Other numbers are not compared.
type Evaluated struct {
	By, Output string
	Fields     map[string]Margin
	Of         string // path of the number of queries
	Chance     float64
}

// Follows is for an output that is computed from another output of the step, which is compared in its place.
type Follows struct{ Output string }

// Files is for trees: the rules of files, by patterns of path.Match, of which the longest that matches
// counts. Other files are compared by bytes.
type Files map[string]Alike

func (Bytes) String() string    { return "bytes" }
func (OfTheRun) String() string { return "nothing: it describes the run itself" }

func (m Margin) String() string {
	switch {
	case m.Skip:
		return "not compared"
	case m.Abs > 0 && m.Rel > 0:
		return fmt.Sprintf("within %s, or %s of the greater", number(m.Abs), number(m.Rel))
	case m.Rel > 0:
		return fmt.Sprintf("within %s of the greater", number(m.Rel))
	case m.Abs > 0:
		return "within " + number(m.Abs)
	}
	return "equal"
}

func (n Numbers) String() string { return "numbers " + n.Margin.String() + fieldsText(n.Fields) }

func fieldsText(fields map[string]Margin) string {
	var list []string
	by := map[Margin][]string{}
	for _, f := range slices.Sorted(maps.Keys(fields)) {
		by[fields[f]] = append(by[fields[f]], f)
	}
	for m, fs := range by {
		list = append(list, "; "+strings.Join(fs, ", ")+" "+m.String())
	}
	slices.Sort(list)
	return strings.Join(list, "")
}

func (t Texts) String() string { return "words, and numbers " + t.Margin.String() }

func (r Runs) String() string {
	return fmt.Sprintf("rankings: %s of the first %d on average in both", number(r.Overlap), r.Depth)
}

func (v Vectors) String() string {
	return fmt.Sprintf("vectors: cosine of two rows at least %s, lengths %s", number(v.Cosine), v.Margin)
}

func (c Cells) String() string {
	return fmt.Sprintf("cells: numbers as printed, give or take %d in the last digit", c.Units)
}

func (e Evaluated) String() string {
	s := fmt.Sprintf("what %s steps make of it, in their %s%s", e.By, e.Output, strings.Replace(fieldsText(e.Fields), ";", ":", 1))
	if e.Chance > 0 {
		s += fmt.Sprintf("; or within %s/√%s, if that is more", number(100*e.Chance), e.Of)
	}
	return s
}

func (f Follows) String() string { return f.Output + ", of which it is made" }

func (f Files) String() string {
	list := []string{}
	for _, name := range slices.Sorted(maps.Keys(f)) {
		list = append(list, name+" by "+f[name].String())
	}
	return strings.Join(append(list, "other files by bytes"), "; ")
}

func number(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// Rule returns how a file of the tree is compared.
func (f Files) Rule(name string) Alike {
	best := ""
	var rule Alike = Bytes{}
	for pattern, r := range f {
		if ok, _ := path.Match(pattern, name); ok && (best == "" || len(pattern) > len(best) || len(pattern) == len(best) && pattern < best) {
			best, rule = pattern, r
		}
	}
	return rule
}

func (Bytes) check() error    { return nil }
func (OfTheRun) check() error { return nil }

func (m Margin) check() error {
	if !(m.Abs >= 0 && m.Rel >= 0 && m.Rel < 1) || m.Abs > maxMargin {
		return fmt.Errorf("numbers differ by an abs of at least 0, and a rel of at least 0 and below 1; not by %v and %v", m.Abs, m.Rel)
	}
	return nil
}

// maxMargin bounds Abs: with a larger one, or infinity, nothing would be compared.
const maxMargin = 1e300

func checkFields(fields map[string]Margin) error {
	for at, m := range fields {
		if at == "" || m.check() != nil {
			return fmt.Errorf("field %q: %w", at, cmp.Or(m.check(), errors.New("it has no path")))
		}
	}
	return nil
}

func (n Numbers) check() error { return errors.Join(n.Margin.check(), checkFields(n.Fields)) }

func (r Runs) check() error {
	if r.Depth < 1 || !(r.Overlap >= 0 && r.Overlap <= 1) {
		return errors.New("runs are compared to a depth of at least 1, by an overlap from 0 to 1")
	}
	return nil
}

func (v Vectors) check() error {
	if !(v.Cosine >= -1 && v.Cosine <= 1) {
		return fmt.Errorf("%v is not a cosine", v.Cosine)
	}
	return v.Margin.check()
}

func (c Cells) check() error {
	if c.Units < 0 {
		return fmt.Errorf("%d units of the last digit are below 0", c.Units)
	}
	return nil
}

func (e Evaluated) check() error {
	if e.By == "" || e.Output == "" || len(e.Fields) == 0 || (e.Chance > 0) != (e.Of != "") || !(e.Chance >= 0) {
		return errors.New("a model is evaluated by a kind, in an output, by fields, and by queries that are counted somewhere")
	}
	return checkFields(e.Fields)
}

func (f Follows) check() error {
	if f.Output == "" {
		return errors.New("it follows no output")
	}
	return nil
}

func (f Files) check() error {
	for pattern, r := range f {
		if _, err := path.Match(pattern, ""); err != nil || pattern == "" {
			return fmt.Errorf("%q is not a pattern of file names: use * and ? for parts of names", pattern)
		}
		switch r.(type) {
		case nil, Files, Follows, Evaluated:
			return fmt.Errorf("files %s: one file is compared by bytes, numbers, texts, runs, vectors or cells", pattern)
		}
		if err := r.check(); err != nil {
			return fmt.Errorf("files %s: %w", pattern, err)
		}
	}
	return nil
}

// rounding is how far floats of Go code may be apart between processors: some multiply and add at once,
// and so round the last bit of a sum differently.
const rounding = 1e-9

type Output struct {
	Name string
	Type string // artifact type, such as "nq/records"; inputs with accepts ask for it
	Help string
	Tree bool // many named files rather than one blob

	Optional bool // some configurations do not have it

	// Fields, if set, declares the JSON that the output is; see FieldsOf. The fields that a table, say,
	// reads of it are checked before anything runs.
	Fields *Fields

	// Alike decides whether two results whose bytes differ count as equal; nil: see Rule. Why is its
	// reason, for people.
	Alike Alike
	Why   string
}

// Rule returns how the output is compared: by the rule that it declares; for JSON with floats, by Numbers
// within the rounding of sums; else by Bytes.
func (o Output) Rule() Alike {
	if o.Alike != nil {
		return o.Alike
	}
	if o.Fields != nil {
		for _, f := range o.Fields.All() {
			if f.Type == Float {
				return Numbers{Margin: Margin{Rel: rounding}}
			}
		}
	}
	return Bytes{}
}

// CheckAlike says what is wrong with a rule that somebody else wrote.
func CheckAlike(a Alike) error { return a.check() }

// checkAlike panics on a rule that cannot be applied: a programming error.
func checkAlike(kind string, outputs []Output) {
	for _, o := range outputs {
		err := o.Rule().check()
		if r, ok := o.Rule().(Follows); ok {
			if !slices.ContainsFunc(outputs, func(p Output) bool { return p.Name == r.Output && p.Name != o.Name }) {
				err = fmt.Errorf("there is no other output %q", r.Output)
			}
		}
		_, files := o.Rule().(Files)
		if err == nil && files && !o.Tree {
			err = errors.New("it is not a tree")
		}
		if err != nil {
			panic(fmt.Sprintf("kind %q: how %s is compared: %v", kind, o.Name, err))
		}
	}
}
