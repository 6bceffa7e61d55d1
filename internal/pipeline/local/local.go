// Package local reads redsi.local.hcl: what one machine or person sets beside a pipeline, in no key. It knows only the file.
package local

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/redsi/redsi/internal/host/slurm"
	"github.com/redsi/redsi/internal/pipeline/declare"
	"github.com/redsi/redsi/internal/pipeline/language"
	"github.com/redsi/redsi/internal/pipeline/syntax"
)

// Settings is what a syntax.LocalFile sets; what it does not is empty.
type Settings struct {
	Variables   []syntax.File // as Options.Local takes them
	Store       string
	State       string
	From        []string // addresses of other stores
	Untrusted   string   // as in Results
	RequireFrom bool
	Temporal    struct{ Address, Namespace, Profile string }
	Slurm       *slurm.Site // nil: there is no block
}

var (
	attrs      = []hcl.AttributeSchema{{Name: "store"}, {Name: "state"}, {Name: "from"}, {Name: "require_from"}, {Name: "untrusted"}}
	fileSchema = &hcl.BodySchema{Attributes: attrs,
		Blocks: []hcl.BlockHeaderSchema{{Type: "variables"}, {Type: "temporal"}, {Type: "slurm"}, {Type: "profile", LabelNames: []string{"name"}}}}
	profileSchema  = &hcl.BodySchema{Attributes: attrs, Blocks: []hcl.BlockHeaderSchema{{Type: "variables"}, {Type: "temporal"}, {Type: "slurm"}}}
	temporalSchema = &hcl.BodySchema{Attributes: []hcl.AttributeSchema{{Name: "address"}, {Name: "namespace"}, {Name: "profile"}}}
)

// Parse reads a syntax.LocalFile: what stands in no profile and, stronger, in the named one. Diagnostics quote no line, which may be secret.
func Parse(name string, source []byte, profile string) (Settings, syntax.Diagnostics) {
	p := parser{BlockReader: syntax.BlockReader{Name: name, Source: source}}
	if c := p.File(fileSchema); c != nil {
		p.file(c, profile)
	}
	return p.said, syntax.NewDiagnostics(p.Wrong, nil)
}

type parser struct {
	syntax.BlockReader
	said Settings
}

func (p *parser) file(c *hcl.BodyContent, profile string) {
	p.settings(c)
	base, chosen := p.said, p.said
	var names []string
	for _, b := range c.Blocks.OfType("profile") {
		if slices.Contains(names, b.Labels[0]) {
			p.Fail(b.DefRange, "Declared twice", fmt.Sprintf("There is another profile %q before this one.", b.Labels[0]))
		}
		names = append(names, b.Labels[0])
		p.said = base
		if p.settings(p.Content(b.Body, profileSchema)); b.Labels[0] == profile {
			chosen = p.said
		}
	}
	p.said = chosen
	if profile != "" && !slices.Contains(names, profile) {
		p.Fail(hcl.Range{Filename: p.Name, Start: hcl.InitialPos, End: hcl.InitialPos}, "Unknown profile",
			fmt.Sprintf("The file has no profile %q. %s", profile, syntax.Suggest(profile, names, "profile")))
	}
}

func (p *parser) settings(c *hcl.BodyContent) {
	p.text(c.Attributes["store"], &p.said.Store)
	p.text(c.Attributes["state"], &p.said.State)
	p.others(c.Attributes)
	p.said.Variables = slices.Clip(p.said.Variables)
	sites := 0
	for _, b := range c.Blocks {
		switch b.Type {
		case "variables":
			p.said.Variables = append(p.said.Variables, p.Variables(b))
		case "temporal":
			t := p.Content(b.Body, temporalSchema)
			p.text(t.Attributes["address"], &p.said.Temporal.Address)
			p.text(t.Attributes["namespace"], &p.said.Temporal.Namespace)
			p.text(t.Attributes["profile"], &p.said.Temporal.Profile)
		case "slurm":
			if sites++; sites > 1 {
				p.Fail(b.DefRange, "Declared twice", "There is another slurm block before this one.")
			}
			p.said.Slurm = p.site(b)
		}
	}
}

// others takes over what a body sets for others' results.
func (p *parser) others(attrs hcl.Attributes) {
	const addresses = "from is a list of addresses: https://HOST/PATH, s3://BUCKET/PREFIX, or folders."
	if from, ok := p.Texts(attrs["from"], addresses); ok {
		if p.said.From = from; slices.Contains(from, "") {
			p.Fail(attrs["from"].Expr.Range(), "Wrong type", addresses)
		}
	}
	if v, ok := p.Value(attrs["require_from"], cty.Bool, "require_from is true or false."); ok {
		p.said.RequireFrom = v.True()
	}
	a := attrs["untrusted"]
	if p.text(a, &p.said.Untrusted); a != nil && p.said.Untrusted != "" && !slices.Contains(declare.Beliefs, p.said.Untrusted) {
		p.Fail(a.Expr.Range(), "Wrong value", fmt.Sprintf("untrusted is \"run\", \"verify\" or \"use\". %s", syntax.Suggest(p.said.Untrusted, declare.Beliefs, "value")))
	}
}

func (p *parser) text(a *hcl.Attribute, to *string) {
	if a == nil {
		return
	}
	wrong := a.Name + " is a text that is not empty."
	if v, ok := p.Value(a, cty.String, wrong); ok {
		if *to = v.AsString(); *to == "" {
			p.Fail(a.Expr.Range(), "Wrong type", wrong)
		}
	}
}

// Variables is a LocalFile that gives variables the values that they have in JSON.
func Variables(values map[string]json.RawMessage) ([]byte, error) {
	var b strings.Builder
	b.WriteString("variables {\n")
	for _, name := range syntax.Keys(values) {
		if !hclsyntax.ValidIdentifier(name) {
			return nil, fmt.Errorf("%.100q is not a variable name", name)
		}
		var v ctyjson.SimpleJSONValue
		if err := v.UnmarshalJSON(values[name]); err != nil {
			return nil, fmt.Errorf("the value of %s: %w", name, err)
		}
		fmt.Fprintf(&b, "  %s = %s\n", name, strings.ReplaceAll(language.Text(v.Value, nil), "\n", "\n  "))
	}
	b.WriteString("}\n")
	return []byte(b.String()), nil
}

var (
	slurmSchema = &hcl.BodySchema{Attributes: []hcl.AttributeSchema{{Name: "setup"}, {Name: "max"}, {Name: "head"}},
		Blocks: []hcl.BlockHeaderSchema{{Type: "pilot", LabelNames: []string{"name"}}}}
	pilotSchema = &hcl.BodySchema{Attributes: []hcl.AttributeSchema{{Name: "flags"},
		{Name: "cpus"}, {Name: "gpus"}, {Name: "max"}, {Name: "memory"}, {Name: "time"}, {Name: "idle"}}}
	numbers = []string{"cpus", "gpus", "max"} // of these; the others are texts
)

func (p *parser) site(b *hcl.Block) *slurm.Site {
	site := &slurm.Site{Max: slurm.UsualMax}
	c := p.Content(b.Body, slurmSchema)
	site.Setup, _ = p.Texts(c.Attributes["setup"], `setup is a list of lines for bash, such as ["module load cuda/13"].`)
	site.Head, _ = p.Texts(c.Attributes["head"], `head is a list of flags of sbatch for the job of --as-job, such as ["--partition=long"].`)
	p.setting(c.Attributes["max"], func(text string) (err error) { site.Max, err = slurm.Number(text, 1000); return err })
	for _, b := range c.Blocks {
		if slices.ContainsFunc(site.Pilots, func(x slurm.Pilot) bool { return x.Name == b.Labels[0] }) {
			p.Fail(b.DefRange, "Declared twice", fmt.Sprintf("There is another pilot %q before this one.", b.Labels[0]))
		}
		site.Pilots = append(site.Pilots, p.pilot(b))
	}
	if site.Pilots == nil {
		p.Fail(b.DefRange, "No pilots", `Say what jobs there may be: a block pilot "cpu" has lines cpus = 8, memory = "32GB" and time = "4h".`)
	}
	return site
}

func (p *parser) pilot(b *hcl.Block) slurm.Pilot {
	pilot := slurm.Pilot{Name: b.Labels[0], At: syntax.PosOf(b.DefRange).String()}
	wrong := len(p.Wrong)
	c := p.Content(b.Body, pilotSchema)
	pilot.Flags, _ = p.Texts(c.Attributes["flags"], `flags is a list of flags of sbatch, such as ["--partition=short"].`)
	delete(c.Attributes, "flags")
	for _, name := range slices.Sorted(maps.Keys(c.Attributes)) {
		p.setting(c.Attributes[name], func(text string) error { return pilot.Set(name, text) })
	}
	if len(p.Wrong) == wrong {
		if err := pilot.Complete(); err != nil {
			p.Fail(b.DefRange, "Wrong pilot", fmt.Sprintf("Pilot %s: %s.", pilot.Name, err))
		}
	}
	return pilot
}

// setting gives set the text of an attribute, if that is of its type.
func (p *parser) setting(a *hcl.Attribute, set func(string) error) {
	if a == nil {
		return
	}
	want, wrong := cty.String, "a text in quotes, with its unit."
	if slices.Contains(numbers, a.Name) {
		want, wrong = cty.Number, "a number without quotes, such as 8."
	}
	v, ok := p.Value(a, want, a.Name+" is "+wrong)
	if !ok {
		return
	}
	text, _ := convert.Convert(v, cty.String)
	if err := set(text.AsString()); err != nil {
		p.Fail(a.Expr.Range(), "Wrong value", fmt.Sprintf("%s: %s.", a.Name, err))
	}
}
