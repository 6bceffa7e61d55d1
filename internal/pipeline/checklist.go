package pipeline

import (
	"errors"
	"fmt"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/redsi/redsi/internal/pipeline/questions"
)

// Checklist is what a pipeline says for conferences' checklists that no record knows, each
// with its place. It is not part of any key.
type Checklist struct {
	Selection Said                       // how what is reported was chosen
	Search    []Bound                    // by name
	Assets    []Asset                    // as they stand
	Answers   map[string]map[string]Said // by list and number of the question
}

// Said is a text with its place.
type Said struct {
	Text string
	Pos  Pos
}

// Bound is what was tried of one hyperparameter.
type Bound struct {
	Name string
	Said
}

// Asset is a dataset or model that the pipeline uses or makes.
type Asset struct {
	Type, Name string // "dataset" or "model", and what it is called
	License    string
	URL        string
	Languages  []string
	About      string // domains, splits, terms: whatever a reader should know
	Pos        Pos
}

var assetBlocks = []string{"dataset", "model"}

// declareChecklist reads the checklist block, whose attributes are constants.
func (l *loader) declareChecklist(b *hclsyntax.Block) {
	if !l.single(b) {
		return
	}
	c := &l.checklist
	c.Answers = map[string]map[string]Said{}
	known := []attribute{
		{"search", func(a *hclsyntax.Attribute) {
			l.eachSaid(a, func(name string, s Said, _ hcl.Range) { c.Search = append(c.Search, Bound{name, s}) })
		}},
		{"selection", func(a *hclsyntax.Attribute) {
			if v, ok := l.said(a, cty.String, checklistValue, "A selection is a string."); ok {
				c.Selection = Said{v.AsString(), posOf(a.NameRange)}
			}
		}},
	}
	for _, name := range questions.Names() {
		known = append(known, attribute{name, l.answers})
	}
	l.attributes(b, "A checklist", known...)
	named := map[string]hcl.Range{}
	for _, inner := range b.Body.Blocks {
		if !slices.Contains(assetBlocks, inner.Type) {
			l.diags.error(inner.TypeRange, "Unknown block", fmt.Sprintf("A checklist has no block %q. %s", inner.Type, suggest(inner.Type, assetBlocks, "block")))
			continue
		}
		if len(inner.Labels) != 1 {
			l.diags.error(header(inner), "Wrong labels", fmt.Sprintf("A %s is written %s \"NAME\" { … }.", inner.Type, inner.Type))
			continue
		}
		name := inner.Type + " " + inner.Labels[0]
		if first, ok := named[name]; ok {
			l.twice(name, header(inner), first)
			continue
		}
		named[name] = header(inner)
		c.Assets = append(c.Assets, l.asset(inner))
	}
}

// answers reads what people answer to the questions of one list.
func (l *loader) answers(a *hclsyntax.Attribute) {
	list, _ := questions.Of(a.Name)
	given := map[string]Said{}
	l.eachSaid(a, func(number string, s Said, at hcl.Range) {
		if !list.Has(number) {
			l.diags.error(at, "Unknown question", fmt.Sprintf("The list %s has no question %q. %s", list.Name, number, suggest(number, list.Numbers(), "question")))
			return
		}
		given[number] = s
	})
	l.checklist.Answers[a.Name] = given
}

func (l *loader) asset(b *hclsyntax.Block) Asset {
	x := Asset{Type: b.Type, Name: b.Labels[0], Pos: posOf(header(b))}
	owner := fmt.Sprintf("A %s of a checklist", b.Type)
	l.noBlocks(b, owner+" has attributes only: license, url, languages and about.")
	const wrong = "license, url and about are strings; languages is a list of strings."
	text := func(to *string) func(*hclsyntax.Attribute) {
		return func(a *hclsyntax.Attribute) {
			if v, ok := l.said(a, cty.String, checklistValue, wrong); ok {
				*to = v.AsString()
			}
		}
	}
	l.attributes(b, owner, attribute{"about", text(&x.About)}, attribute{"languages", func(a *hclsyntax.Attribute) {
		if v, ok := l.said(a, cty.List(cty.String), checklistValue, wrong); ok {
			for _, e := range v.AsValueSlice() {
				x.Languages = append(x.Languages, e.AsString())
			}
		}
	}}, attribute{"license", text(&x.License)}, attribute{"url", text(&x.URL)})
	return x
}

const checklistValue = "A value of a checklist"

// said is the constant value of an attribute, without nulls; what is wrong with it is reported.
func (l *loader) said(a *hclsyntax.Attribute, want cty.Type, what, wrong string) (cty.Value, bool) {
	if !l.constant(a.Expr, what) {
		return cty.NilVal, false
	}
	v := l.value(a.Expr, nil, nil)
	if !v.IsWhollyKnown() {
		return cty.NilVal, false // reported
	}
	v, err := convert.Convert(v, want)
	if err == nil {
		err = cty.Walk(v, func(_ cty.Path, e cty.Value) (bool, error) {
			if e.IsNull() {
				return false, errors.New("it is null")
			}
			return true, nil
		})
	}
	if err != nil {
		l.diags.error(a.Expr.Range(), "Wrong type", wrong)
		return cty.NilVal, false
	}
	return v, true
}

// eachSaid calls use with each text of a map, in the order of their names, with its place.
func (l *loader) eachSaid(a *hclsyntax.Attribute, use func(name string, s Said, at hcl.Range)) {
	v, ok := l.said(a, cty.Map(cty.String), checklistValue, fmt.Sprintf("%s is a map from names to strings: { NAME = \"…\" }.", a.Name))
	if !ok {
		return
	}
	o, written := a.Expr.(*hclsyntax.ObjectConsExpr)
	texts := v.AsValueMap()
	for _, name := range sortedKeys(texts) {
		rng := a.NameRange
		if written {
			if item, ok := itemOf(o, nil, name); ok {
				rng = item.KeyExpr.Range()
			}
		}
		use(name, Said{texts[name].AsString(), posOf(rng)}, rng)
	}
}

func posOf(r hcl.Range) Pos { return Pos{r.Filename, r.Start.Line} }
