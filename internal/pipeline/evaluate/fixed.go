package evaluate

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/redsi/redsi/internal/pipeline/declare"
	"github.com/redsi/redsi/internal/pipeline/language"
	"github.com/redsi/redsi/internal/pipeline/schema"
	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/internal/system/signature"
)

const (
	maxCount = 1 << 20 // steps of a run that have a name at a time
	maxFrom  = 20      // addresses, each of which every command opens
	maxKeys  = 1000    // which every command compares
)

// fixed reads the blocks that a pipeline has once, which refer at most to variables; of a module only limits count.
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
			if x, ok := schema.Read[declare.ResultsForm](r); ok {
				seen := map[string]hcl.Range{}
				trust, revoked := publicKeys(r, "trust", x.Trust, seen), publicKeys(r, "revoked", x.Revoked, seen)
				f.own.Results = Results{addresses(r, x.From), trust, revoked, x.Untrusted, x.Shared}
			}
		case "checklist":
			f.own.Checklist = checklistOf(r)
		case declare.LimitsBlock:
			f.setLimits(b, f.sees(ctx, nil))
		default:
			panic(fmt.Sprintf("evaluate: no case reads a %s block", b.Type))
		}
	}
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
		if first, twice := seen[k.ID()]; twice {
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
