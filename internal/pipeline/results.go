package pipeline

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/redsi/redsi/internal/system/signature"
)

// Results is what a pipeline says of results that others made: where they are, and whose
// are believed. It is not part of any key.
type Results struct {
	From      []string // addresses of stores that are only read; folders as the loader's files are named
	Trust     []signature.Public
	Revoked   []signature.Public
	Untrusted string // "run", "verify" or "use": of others' results that no trusted key signed; "" if it is not said
	Shared    string // the same of results in the project's own store
}

// Beliefs are what Untrusted and Shared may be.
var Beliefs = []string{"run", "verify", "use"}

// maxFrom and maxKeys bound what every command opens or compares.
const (
	maxFrom = 20
	maxKeys = 1000
)

// declareResults notes the results block, which is read once variables have values.
func (l *loader) declareResults(b *hclsyntax.Block) {
	if l.single(b) {
		l.noBlocks(b, "A results block has attributes only: from, trust, revoked, untrusted, shared.")
	}
}

// setResults reads the results block. That of a module says nothing: whom to believe is for
// the pipeline that is run.
func (l *loader) setResults() {
	b := l.singles["results"]
	if b == nil {
		return
	}
	at := map[string]hcl.Range{}
	r := &l.results
	l.attributes(b, "A results block",
		attribute{"from", func(a *hclsyntax.Attribute) { r.From = l.addresses(a) }},
		attribute{"trust", func(a *hclsyntax.Attribute) { r.Trust = l.publicKeys(a, at) }},
		attribute{"revoked", func(a *hclsyntax.Attribute) { r.Revoked = l.publicKeys(a, at) }},
		attribute{"untrusted", func(a *hclsyntax.Attribute) { r.Untrusted = l.belief(a) }},
		attribute{"shared", func(a *hclsyntax.Attribute) { r.Shared = l.belief(a) }})
}

// resultsTexts is the value of an attribute of type want, string or list of strings, with
// the place of each text; nil if it is none, which is reported.
func (l *loader) resultsTexts(a *hclsyntax.Attribute, want cty.Type, form string) (texts []string, at []hcl.Range) {
	if !l.refersOnly(a.Expr, "var", "Not a constant", "A results block can refer to variables only.") || !l.check(a.Expr, false) {
		return nil, nil
	}
	ctx := &hcl.EvalContext{Variables: map[string]cty.Value{"var": l.variableObject()}, Functions: l.functions(folder(a.NameRange.Filename))}
	v := l.open(l.value(a.Expr, ctx, nil), a.Expr.Range(), nil)
	if !v.IsWhollyKnown() {
		return nil, nil // reported
	}
	v, err := convert.Convert(v, want)
	if err != nil || v.IsNull() {
		l.diags.error(a.Expr.Range(), "Wrong type", fmt.Sprintf("%s is %s.", a.Name, form))
		return nil, nil
	}
	if want == cty.String {
		return []string{v.AsString()}, []hcl.Range{a.Expr.Range()}
	}
	written, _ := unwrap(a.Expr).(*hclsyntax.TupleConsExpr)
	for i, e := range v.AsValueSlice() {
		rng := a.Expr.Range()
		if written != nil && len(written.Exprs) == v.LengthInt() {
			rng = written.Exprs[i].Range()
		}
		if e.IsNull() {
			l.diags.error(rng, "Wrong type", fmt.Sprintf("%s is %s.", a.Name, form))
			return nil, nil
		}
		texts, at = append(texts, e.AsString()), append(at, rng)
	}
	return texts, at
}

func (l *loader) addresses(a *hclsyntax.Attribute) (from []string) {
	texts, at := l.resultsTexts(a, cty.List(cty.String), "a list of addresses: https://HOST/PATH, s3://BUCKET/PREFIX, or folders")
	if len(texts) > maxFrom {
		l.diags.error(a.Expr.Range(), "Too many addresses", fmt.Sprintf("There are %d addresses; at most %d are allowed: each is asked about every step without a result.", len(texts), maxFrom))
		return nil
	}
	for i, text := range texts {
		switch address := l.besideFile(a, text); {
		case text == "":
			l.diags.error(at[i], "Wrong address", "An address is not empty.")
		case slices.Contains(from, address):
			l.diags.error(at[i], "Named twice", fmt.Sprintf("%s is already in this list.", text))
		default:
			from = append(from, address)
		}
	}
	return from
}

// besideFile is an address as the pipeline means it: a folder is relative to its file.
func (l *loader) besideFile(a *hclsyntax.Attribute, address string) string {
	if strings.Contains(address, "://") || address == "" {
		return address
	}
	return beside(folder(a.NameRange.Filename), address)
}

func (l *loader) publicKeys(a *hclsyntax.Attribute, seen map[string]hcl.Range) (keys []signature.Public) {
	texts, at := l.resultsTexts(a, cty.List(cty.String), `a list of public keys: "NAME:BASE64", as redsi key show prints them`)
	if len(texts) > maxKeys {
		l.diags.error(a.Expr.Range(), "Too many keys", fmt.Sprintf("There are %d keys; at most %d are allowed.", len(texts), maxKeys))
		return nil
	}
	for i, text := range texts {
		k, err := signature.ParsePublic(text)
		if err != nil {
			l.diags.error(at[i], "Not a public key", err.Error()+".")
			continue
		}
		if first, again := seen[k.ID()]; again {
			l.diags.error(at[i], "Named twice", fmt.Sprintf("The key of %s is already here. A revoked key is not trusted: keep it in revoked only.", k.Name), Place{first, "named here first"})
			continue
		}
		seen[k.ID()] = at[i]
		keys = append(keys, k)
	}
	return keys
}

func (l *loader) belief(a *hclsyntax.Attribute) string {
	texts, at := l.resultsTexts(a, cty.String, `"run", "verify" or "use"`)
	if len(texts) == 0 || slices.Contains(Beliefs, texts[0]) {
		return strings.Join(texts, "")
	}
	l.diags.error(at[0], "Wrong value", fmt.Sprintf(`%s is "run" (the step is run here), "verify" (it is run here and compared) or "use" (the result is taken), not %q. %s`,
		a.Name, texts[0], suggest(texts[0], Beliefs, "value")))
	return ""
}
