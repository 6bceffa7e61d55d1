package pipeline

import (
	"encoding/json"
	"fmt"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	ctyjson "github.com/zclconf/go-cty/cty/json"
)

// Paper is what a pipeline says of the paper or study that it rebuilds, for people: it is
// no part of any key.
type Paper struct {
	Title   string   `json:"title,omitempty"`
	Authors []string `json:"authors,omitempty"`
	URL     string   `json:"url,omitempty"`

	// For those who deposit, cite or reuse it: see `redsi export --archive`.
	Abstract     string            `json:"abstract,omitempty"`
	License      string            `json:"license,omitempty"` // of the pipeline and of what is exported: an SPDX id, or a URL
	Keywords     []string          `json:"keywords,omitempty"`
	DOI          string            `json:"doi,omitempty"`          // of the paper
	Version      string            `json:"version,omitempty"`      // of what is exported
	ORCID        map[string]string `json:"orcid,omitempty"`        // by author
	Affiliations map[string]string `json:"affiliations,omitempty"` // by author
}

var paperType = cty.ObjectWithOptionalAttrs(map[string]cty.Type{
	"title": cty.String, "authors": cty.List(cty.String), "url": cty.String,
	"abstract": cty.String, "license": cty.String, "keywords": cty.List(cty.String), "doi": cty.String, "version": cty.String,
	"orcid": cty.Map(cty.String), "affiliations": cty.Map(cty.String),
}, []string{"authors", "url", "abstract", "license", "keywords", "doi", "version", "orcid", "affiliations"})

// declarePaper reads the paper block, whose attributes are constants.
func (l *loader) declarePaper(b *hclsyntax.Block) {
	if !l.labels(b) {
		return
	}
	if l.paperAt != nil {
		l.twice("paper", header(b), *l.paperAt)
		return
	}
	at := header(b)
	l.paperAt = &at
	l.noBlocks(b, "A paper has attributes only, such as title, authors and url.")
	values := map[string]cty.Value{}
	var known []attribute
	for _, name := range sortedKeys(paperType.AttributeTypes()) {
		want := paperType.AttributeType(name)
		known = append(known, attribute{name, func(a *hclsyntax.Attribute) {
			if !l.constant(a.Expr, "A value of the paper block") {
				return
			}
			v := l.value(a.Expr, nil, nil)
			if !v.IsWhollyKnown() {
				return // reported
			}
			if v, err := convert.Convert(v, want); err == nil && !v.IsNull() {
				values[name] = v
				return
			}
			l.diags.error(a.Expr.Range(), "Wrong type", fmt.Sprintf("A paper's %s must be %s.", name, typeInWords(want)))
		}})
	}
	l.attributes(b, "A paper", known...)
	v, err := convert.Convert(cty.ObjectVal(values), paperType)
	if err != nil {
		if _, ok := b.Body.Attributes["title"]; !ok {
			l.diags.error(at, "Missing attribute", "A paper needs title = \"…\", which the report begins with.")
		}
		return
	}
	text, err := ctyjson.Marshal(v, paperType)
	if err == nil {
		err = json.Unmarshal(text, &l.paper)
	}
	if err != nil {
		l.diags.error(at, "Wrong type", err.Error())
		return
	}
	l.checkPaper(b)
}
