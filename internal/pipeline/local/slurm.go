package local

import (
	"fmt"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/redsi/redsi/internal/host/slurm"
	"github.com/redsi/redsi/internal/pipeline/syntax"
)

var (
	slurmSchema = &hcl.BodySchema{Attributes: []hcl.AttributeSchema{{Name: "setup"}, {Name: "max"}, {Name: "head"}},
		Blocks: []hcl.BlockHeaderSchema{{Type: "pilot", LabelNames: []string{"name"}}}}
	pilotSchema = &hcl.BodySchema{Attributes: []hcl.AttributeSchema{{Name: "flags"},
		{Name: "cpus"}, {Name: "gpus"}, {Name: "max"}, {Name: "memory"}, {Name: "time"}, {Name: "idle"}}}
	numbers = []string{"cpus", "gpus", "max"} // of these; the others are texts
)

// site is what a slurm block says.
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
