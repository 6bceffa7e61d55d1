package pipeline

import (
	"fmt"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
)

// LocalFile is the file of a pipeline's folder with what one person has set there, on one
// machine. It is not part of the pipeline, and nobody else's.
const LocalFile = "redsi.local.hcl"

// Local is what a LocalFile sets; what it does not is empty.
type Local struct {
	Variables   []File // as Options.Local takes them
	Store       string
	State       string
	From        []string // addresses of other stores
	Untrusted   string   // as in Results
	RequireFrom bool
	Temporal    struct{ Address, Namespace, Profile string }
}

var (
	localAttrs  = []hcl.AttributeSchema{{Name: "store"}, {Name: "state"}, {Name: "from"}, {Name: "require_from"}, {Name: "untrusted"}}
	localSchema = &hcl.BodySchema{Attributes: localAttrs,
		Blocks: []hcl.BlockHeaderSchema{{Type: "variables"}, {Type: "temporal"}, {Type: "profile", LabelNames: []string{"name"}}}}
	profileSchema  = &hcl.BodySchema{Attributes: localAttrs, Blocks: []hcl.BlockHeaderSchema{{Type: "variables"}, {Type: "temporal"}}}
	temporalSchema = &hcl.BodySchema{Attributes: []hcl.AttributeSchema{{Name: "address"}, {Name: "namespace"}, {Name: "profile"}}}
)

// ParseLocal reads a LocalFile: what is in no profile and, stronger, what the named
// one has, unless the name is "". There must be no errors for Local to be of use. They
// quote no line of the file: which values are sensitive, only the pipeline says.
func ParseLocal(name string, source []byte, profile string) (Local, Diagnostics) {
	p := localParser{name: name, source: source}
	p.file(profile)
	return p.local, NewDiagnostics(p.diags, nil)
}

type localParser struct {
	name   string
	source []byte
	local  Local
	diags  hcl.Diagnostics
}

func (p *localParser) fail(r hcl.Range, summary, detail string) {
	p.diags = append(p.diags, &hcl.Diagnostic{Severity: hcl.DiagError, Summary: summary, Detail: detail, Subject: &r})
}

func (p *localParser) content(b hcl.Body, s *hcl.BodySchema) *hcl.BodyContent {
	c, ds := b.Content(s)
	p.diags = append(p.diags, ds...)
	return c
}

func (p *localParser) file(profile string) {
	parsed, ds := hclsyntax.ParseConfig(p.source, p.name, hcl.InitialPos)
	if p.diags = append(p.diags, ds...); ds.HasErrors() {
		return
	}
	c := p.content(parsed.Body, localSchema)
	p.settings(c)
	base, chosen := p.local, p.local
	var names []string
	for _, b := range c.Blocks.OfType("profile") {
		if slices.Contains(names, b.Labels[0]) {
			p.fail(b.DefRange, "Declared twice", fmt.Sprintf("There is another profile %q before this one.", b.Labels[0]))
		}
		names = append(names, b.Labels[0])
		p.local = base
		if p.settings(p.content(b.Body, profileSchema)); b.Labels[0] == profile {
			chosen = p.local
		}
	}
	p.local = chosen
	if profile != "" && !slices.Contains(names, profile) {
		p.fail(hcl.Range{Filename: p.name, Start: hcl.InitialPos, End: hcl.InitialPos}, "Unknown profile",
			fmt.Sprintf("The file has no profile %q. %s", profile, suggest(profile, names, "profile")))
	}
}

// settings takes over what a body sets.
func (p *localParser) settings(c *hcl.BodyContent) {
	p.text(c.Attributes["store"], &p.local.Store)
	p.text(c.Attributes["state"], &p.local.State)
	p.others(c.Attributes)
	p.local.Variables = slices.Clip(p.local.Variables)
	for _, b := range c.Blocks {
		switch b.Type {
		case "variables":
			vars, ds := VariablesBlock(p.name, p.source, b)
			p.diags = append(p.diags, ds...)
			p.local.Variables = append(p.local.Variables, vars)
		case "temporal":
			t := p.content(b.Body, temporalSchema)
			p.text(t.Attributes["address"], &p.local.Temporal.Address)
			p.text(t.Attributes["namespace"], &p.local.Temporal.Namespace)
			p.text(t.Attributes["profile"], &p.local.Temporal.Profile)
		}
	}
}

// others takes over what a body sets for others' results.
func (p *localParser) others(attrs hcl.Attributes) {
	const addresses = "from is a list of addresses: https://HOST/PATH, s3://BUCKET/PREFIX, or folders."
	if v, ok := p.value(attrs["from"], cty.List(cty.String), addresses); ok {
		p.local.From = nil
		for _, e := range v.AsValueSlice() {
			p.local.From = append(p.local.From, e.AsString())
		}
	}
	if v, ok := p.value(attrs["require_from"], cty.Bool, "require_from is true or false."); ok {
		p.local.RequireFrom = v.True()
	}
	a := attrs["untrusted"]
	if p.text(a, &p.local.Untrusted); a != nil && p.local.Untrusted != "" && !slices.Contains(Beliefs, p.local.Untrusted) {
		p.fail(a.Expr.Range(), "Wrong value", fmt.Sprintf("untrusted is \"run\", \"verify\" or \"use\". %s", suggest(p.local.Untrusted, Beliefs, "value")))
	}
}

func (p *localParser) text(a *hcl.Attribute, to *string) {
	if a == nil {
		return
	}
	if v, ok := p.value(a, cty.String, a.Name+" is a text that is not empty."); ok {
		*to = v.AsString()
	}
}

// value is the value of an attribute, if there is one: a text or an element of a list is not
// empty.
func (p *localParser) value(a *hcl.Attribute, want cty.Type, wrong string) (v cty.Value, ok bool) {
	if a == nil {
		return v, false
	}
	v, ds := a.Expr.Value(nil)
	if p.diags = append(p.diags, ds...); ds.HasErrors() {
		return v, false
	}
	var err error
	if want.IsListType() {
		v, err = convert.Convert(v, want)
	}
	empty := func(e cty.Value) bool { return e.IsNull() || e.Type() == cty.String && e.AsString() == "" }
	if err != nil || v.Type() != want || empty(v) || want.IsListType() && slices.ContainsFunc(v.AsValueSlice(), empty) {
		p.fail(a.Expr.Range(), "Wrong type", wrong)
		return v, false
	}
	return v, true
}

// VariablesBlock is the file with nothing in it but what a variables block says, at its
// place, so that diagnostics about it have theirs.
func VariablesBlock(name string, source []byte, b *hcl.Block) (File, hcl.Diagnostics) {
	attrs, ds := b.Body.JustAttributes()
	text := make([]byte, len(source))
	for i, c := range source {
		if text[i] = ' '; c == '\n' {
			text[i] = '\n'
		}
	}
	for _, a := range attrs {
		copy(text[a.Range.Start.Byte:], a.Range.SliceBytes(source))
	}
	return File{Name: name, Bytes: text}, ds
}
