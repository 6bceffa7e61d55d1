package pipeline

import (
	"encoding/json"
	"fmt"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
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

var paperTypes = map[string]cty.Type{
	"title": cty.String, "authors": cty.List(cty.String), "url": cty.String,
	"abstract": cty.String, "license": cty.String, "keywords": cty.List(cty.String), "doi": cty.String, "version": cty.String,
	"orcid": cty.Map(cty.String), "affiliations": cty.Map(cty.String),
}

// declarePaper reads the paper block, whose attributes are constants.
func (l *loader) declarePaper(b *hclsyntax.Block) {
	if !l.single(b) {
		return
	}
	l.noBlocks(b, "A paper has attributes only, such as title, authors and url.")
	values := map[string]cty.Value{}
	var known []attribute
	for _, name := range sortedKeys(paperTypes) {
		known = append(known, attribute{name, func(a *hclsyntax.Attribute) {
			want := paperTypes[name]
			if v, ok := l.said(a, want, "A value of the paper block", fmt.Sprintf("A paper's %s must be %s.", name, typeInWords(want))); ok {
				values[name] = v
			}
		}})
	}
	l.attributes(b, "A paper", known...)
	if _, ok := values["title"]; !ok {
		if b.Body.Attributes["title"] == nil {
			l.diags.error(header(b), "Missing attribute", "A paper needs title = \"…\", which the report begins with.")
		}
		return
	}
	v := cty.ObjectVal(values)
	text, err := ctyjson.Marshal(v, v.Type())
	if err == nil {
		err = json.Unmarshal(text, &l.paper)
	}
	if err != nil {
		panic(fmt.Sprintf("paper: %v", err)) // the types are those of Paper
	}
	l.checkPaper(b)
}
