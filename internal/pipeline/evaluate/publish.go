package evaluate

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/redsi/redsi/internal/pipeline/declare"
	"github.com/redsi/redsi/internal/pipeline/schema"
	"github.com/redsi/redsi/internal/pipeline/syntax"
)

func (f *frame) publishes(n *declare.Node, ctx *hcl.EvalContext) {
	x, ok := schema.Read[declare.PublishForm](f.reader(n.Form, &instance{ctx: ctx}))
	if !ok {
		return
	}
	p := Publish{Name: n.Form.Labels[0], To: x.To, Pos: syntax.PosOf(n.Range)}
	for _, in := range x.Files {
		for _, other := range f.own.Publish {
			if path.Clean(other.To) == path.Clean(p.To) && slices.Contains(other.Files, *in.Ref) {
				f.Diags.Error(n.Range, "Published twice", fmt.Sprintf("The block publish %q writes %s into %s, too.", other.Name, in.Ref, p.To))
				return
			}
		}
		p.Files = append(p.Files, *in.Ref)
	}
	f.own.Publish = append(f.own.Publish, p)
}

// warnPublished warns of a run that would write into a folder that a source block reads.
func (f *frame) warnPublished() {
	var all Result
	if len(f.own.Publish) > 0 {
		f.collect(&all)
	}
	for _, s := range all.Steps {
		from, _, ok := SourceOf(s.Task, s.Pos)
		from, below := filepath.ToSlash(from), true
		if path.Base(from) == "*" {
			from, below = path.Dir(from), false
		}
		if path.Base(from) == "**" {
			from, below = path.Dir(from), true
		}
		for _, p := range f.own.Publish {
			to := path.Join(path.Dir(p.Pos.File), p.To)
			if ok && (to == from || below && (from == "." || strings.HasPrefix(to, from+"/"))) {
				f.Diags.Warn(f.decl.ByName["publish."+p.Name].Range, "Published into a source", fmt.Sprintf("%s reads %s, and with it what a run writes here, unless an ignore file leaves that out: the next run then reads other bytes, and repeats what depends on them. Publish to a folder beside it.", s.Address, from))
			}
		}
	}
}
