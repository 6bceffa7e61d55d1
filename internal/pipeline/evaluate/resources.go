package evaluate

import (
	"cmp"
	"fmt"
	"math/big"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/host/environment"
	"github.com/redsi/redsi/internal/pipeline/declare"
	"github.com/redsi/redsi/internal/pipeline/language"
	"github.com/redsi/redsi/internal/pipeline/schema"
	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/internal/system/signature"
	"github.com/redsi/redsi/internal/system/words"
	"github.com/redsi/redsi/step"
)

// resources is what an instance asks for, nil: nothing, and its queue, "": the kind's; false: it is wrong, or not known yet.
func (c *stepReader) resources() (queue string, r *step.Resources, ok bool) {
	b, inst := c.b, c.inst
	if b.Resources == nil && b.Retry == nil {
		return "", nil, true
	}
	var of step.Resources
	at, ok := b.Retry, true
	if b.Resources != nil {
		at = b.Resources
		r := c.f.reader(at, inst)
		var x declare.ResourcesForm
		x, ok = schema.Read[declare.ResourcesForm](r)
		queue, of.CPUs, of.GPUs, of.Limits = x.Queue, x.CPUs, x.GPUs, c.limits(r, x.Limits)
		if x.Memory != nil {
			var err error
			if of.Memory, err = words.ParseSize(*x.Memory); err != nil {
				r.Problems(step.Problem{Path: "memory", Detail: fmt.Sprintf(`want a size with its unit, such as "12GB" or "12GiB", got %q`, *x.Memory)})
			}
		}
		if x.Time != nil {
			var err error
			if of.Time, err = time.ParseDuration(*x.Time); err != nil || of.Time < time.Second {
				r.Problems(step.Problem{Path: "time", Detail: fmt.Sprintf(`want a time of a second or more, such as "90m" or "2h", got %q`, *x.Time)})
			}
		}
		if b.Spec.Needs != "" && of.GPUs > 1 {
			r.Problems(step.Problem{Path: "gpus", Detail: fmt.Sprintf("kind %s computes on one card, which its attribute device names; gpus = 1 says no more than that", b.Kind)})
		}
		ok = ok && !r.Failed()
	}
	if b.Retry != nil {
		r := c.f.reader(b.Retry, inst)
		x, read := schema.Read[declare.RetryForm](r)
		of.Tries, of.Grow, of.GrowTime = x.Times, x.Memory, x.Time
		if of.Grow > 1 && of.Memory == 0 && ok {
			r.Problems(step.Problem{Path: "memory", Detail: "it multiplies what resources { memory = … } asks for, and that says nothing"})
		}
		if of.GrowTime > 1 && of.Time == 0 && ok {
			r.Problems(step.Problem{Path: "time", Detail: "it multiplies what resources { time = … } asks for, and that says nothing"})
		}
		ok = ok && read && !r.Failed()
	}
	if of.At = syntax.PosOf(at.TypeRange).String(); !ok || of.CPUs == 0 && of.Memory == 0 && of.GPUs == 0 && of.Time == 0 && len(of.Limits) == 0 && of.Tries == 0 {
		return queue, nil, ok
	}
	return queue, &of, true
}

// limits are the names of limits, as a plan has them.
func (c *stepReader) limits(r *schema.Reader, given []string) (names []string) {
	var declared hclsyntax.Attributes
	if b := c.f.decl.Once[declare.LimitsBlock]; b != nil {
		declared = b.Body.Attributes
	}
	for i, name := range given {
		if declared[name] == nil {
			at := []any{"limits", i}
			r.Fail(at, r.Locate(at), "Unknown limit", fmt.Sprintf("There is no limit %q. %s A limits block declares it: limits { %s = 2 }.", name, syntax.Suggest(name, syntax.Keys(declared), "limit"), name))
			continue
		}
		if name = c.f.qualified(name); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// environment reads the lock of an environment. Steps see its name and two digests.
func (f *frame) environment(n *declare.Node, ctx *hcl.EvalContext) {
	c := f.reader(n.Form, &instance{ctx: ctx})
	x, ok := schema.Read[declare.EnvironmentForm](c)
	if !ok {
		if f.Awaits().Any() {
			f.Diags.Error(n.Range, "Environment that is not known", "An environment cannot wait for what a step makes.")
		}
		return
	}
	r := environment.Recipe{Format: environment.Format, Platform: cmp.Or(x.Platform, environment.Here()), Python: x.Python, Extras: x.Extras, Groups: x.Groups}
	given := 0
	for i, lock := range []string{x.UV, x.Pylock, x.Requirements, x.Conda, x.Image, x.Nix} {
		if lock != "" {
			given, r.Kind, r.Lock = given+1, environment.Kinds[i], lock
		}
	}
	if given != 1 {
		f.Diags.Error(n.Range, "Not one lock", fmt.Sprintf("An environment has one of %s: environment \"NAME\" { uv = \"uv.lock\" }.", strings.Join(environment.Kinds, ", ")))
		return
	}
	e := Environment{Name: f.qualified(n.Name)}
	err := readLock(f.Files, n.Dir, &r)
	if err == nil {
		e.Text, err = r.Text()
	}
	if err == nil {
		e.Recipe = artifacts.Sum(e.Text)
		e.Packages, err = f.Environments.Manifest(r, e.Recipe, fmt.Sprintf("%s (%s, %s)", e.Name, r.Lock, r.Platform))
	}
	if err != nil {
		f.Diags.Error(c.Locate([]any{r.Kind}), "Environment that cannot be had", fmt.Sprintf("%s: %s.", n.Name, strings.TrimRight(err.Error(), ".")))
		return
	}
	f.own.Environments = append(f.own.Environments, e)
	f.of(n).value = cty.ObjectVal(map[string]cty.Value{
		"name": cty.StringVal(n.Form.Labels[0]), "kind": cty.StringVal(r.Kind),
		"packages": cty.StringVal(e.Packages.Digest.Hex()), "recipe": cty.StringVal(e.Recipe.Hex()),
	})
}

// readLock reads the files that a recipe names, as file() does, and leaves the lock's folder out of its name.
func readLock(l *language.Files, dir string, r *environment.Recipe) (err error) {
	name := r.Lock
	if r.Kind == environment.Image {
		if environment.IsReference(name) || !strings.HasSuffix(name, ".sif") {
			return nil
		}
		sum, err := l.DigestBeside(dir, name)
		r.Lock, r.Path, r.Files = path.Base(name), syntax.Beside(dir, name), map[string]string{path.Base(name): sum}
		return err
	}
	r.Lock, r.Files = path.Base(name), map[string]string{}
	beside, err := environment.Beside(r.Kind, r.Lock)
	if err != nil {
		return err
	}
	for _, file := range append([]string{r.Lock}, beside...) {
		b, err := l.ReadBeside(dir, path.Join(path.Dir(name), file))
		if err != nil {
			return err
		}
		r.Add(file, string(b))
	}
	return nil
}

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

// warnPublished warns of a run that writes into what it reads, of sources that take all of a folder.
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
				f.Diags.Warn(f.decl.ByName["publish."+p.Name].Range, "Published into a source", fmt.Sprintf("%s reads %s, with what a run writes here, unless an ignore file leaves that out: the next run then has other bytes to read, and does what depends on them again. Publish to a folder beside it.", s.Address, from))
			}
		}
	}
}

const maxCount = 1 << 20

// maxFrom and maxKeys bound what every command opens or compares.
const (
	maxFrom = 20
	maxKeys = 1000
)

// fixed reads the blocks of which there is one and which refer to variables at most; of a module only limits count.
func (f *frame) fixed() {
	for _, t := range declare.Types {
		b := f.decl.Once[t.Name]
		if b == nil || f.decl.Ignores(&t) {
			continue
		}
		ctx := f.context(syntax.Dir(b.TypeRange.Filename))
		r := f.reader(b, &instance{address: b.Type, ctx: ctx})
		switch t.Name {
		case "paper":
			f.own.Paper, _ = schema.Read[declare.Paper](r)
		case "results":
			f.own.Results = resultsOf(r)
		case "checklist":
			f.own.Checklist = checklistOf(r)
		case declare.LimitsBlock:
			f.setLimits(b, f.sees(ctx, nil))
		default:
			panic(unread(b.Type))
		}
	}
}

func resultsOf(c *schema.Reader) Results {
	x, ok := schema.Read[declare.ResultsForm](c)
	if !ok {
		return Results{}
	}
	seen := map[string]hcl.Range{}
	return Results{addresses(c, x.From), publicKeys(c, "trust", x.Trust, seen), publicKeys(c, "revoked", x.Revoked, seen), x.Untrusted, x.Shared}
}

func addresses(c *schema.Reader, texts []string) (from []string) {
	if len(texts) > maxFrom {
		c.Diags.Error(c.Locate([]any{"from"}), "Too many addresses", fmt.Sprintf("There are %d addresses; at most %d are allowed: each is asked about every step without a result.", len(texts), maxFrom))
		return nil
	}
	for i, text := range texts {
		address := text
		if !strings.Contains(text, "://") { // a folder is relative to the file
			address = syntax.Beside(syntax.Dir(c.Block.TypeRange.Filename), text)
		}
		switch at := c.Locate([]any{"from", i}); {
		case text == "":
			c.Diags.Error(at, "Wrong address", "An address is not empty.")
		case slices.Contains(from, address):
			c.Diags.Error(at, "Named twice", fmt.Sprintf("%s is already in this list.", text))
		default:
			from = append(from, address)
		}
	}
	return from
}

func publicKeys(c *schema.Reader, attribute string, texts []string, seen map[string]hcl.Range) (keys []signature.Public) {
	if len(texts) > maxKeys {
		c.Diags.Error(c.Locate([]any{attribute}), "Too many keys", fmt.Sprintf("There are %d keys; at most %d are allowed.", len(texts), maxKeys))
		return nil
	}
	for i, text := range texts {
		at := c.Locate([]any{attribute, i})
		k, err := signature.ParsePublic(text)
		if err != nil {
			c.Diags.Error(at, "Not a public key", err.Error()+".")
			continue
		}
		if first, again := seen[k.ID()]; again {
			c.Diags.Error(at, "Named twice", fmt.Sprintf("The key of %s is already here. A revoked key is not trusted: keep it in revoked only.", k.Name), syntax.Place{Range: first, Text: "named here first"})
			continue
		}
		seen[k.ID()] = at
		keys = append(keys, k)
	}
	return keys
}

func checklistOf(c *schema.Reader) (list Checklist) {
	x, ok := schema.Read[declare.ChecklistForm](c)
	if !ok {
		return list
	}
	said := func(text string, path ...any) Said {
		rng, _ := c.Find(path, true)
		return Said{text, syntax.PosOf(rng)}
	}
	list.Answers = map[string]map[string]Said{}
	if x.Selection != nil {
		list.Selection = said(*x.Selection, "selection")
	}
	for _, name := range syntax.Keys(x.Search) {
		list.Search = append(list.Search, Bound{name, said(x.Search[name], "search", schema.Key(name))})
	}
	for name, given := range x.Answers() {
		for number, text := range given {
			if list.Answers[name] == nil {
				list.Answers[name] = map[string]Said{}
			}
			list.Answers[name][number] = said(text, name, schema.Key(number))
		}
	}
	for typ, assets := range x.Assets() {
		for i, asset := range assets {
			asset.Type, asset.Pos = typ, syntax.PosOf(syntax.Blocks(c.Block.Body, typ)[i].TypeRange)
			list.Assets = append(list.Assets, asset)
		}
	}
	slices.SortFunc(list.Assets, func(a, b declare.Asset) int { return cmp.Compare(a.Pos.Line, b.Pos.Line) })
	return list
}

// setLimits reads the limits block, where null is no limit. A module's names are its own.
func (f *frame) setLimits(b *hclsyntax.Block, sc language.Scope) {
	for _, a := range syntax.Attributes(b.Body) {
		v := sc.Open(sc.Value(a.Expr), a.Expr.Range())
		if !v.IsKnown() || v.IsNull() {
			continue
		}
		n, accuracy := int64(0), big.Exact
		if v.Type() == cty.Number {
			n, accuracy = v.AsBigFloat().Int64()
		}
		if accuracy != big.Exact || n < 1 || n > maxCount {
			f.Diags.Error(a.Expr.Range(), "Wrong value", fmt.Sprintf("%s is how many steps of a run may have it at a time, from 1 to %d.", a.Name, maxCount))
			continue
		}
		f.limits[f.qualified(a.Name)] = int(n)
	}
}
