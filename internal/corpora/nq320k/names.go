package nq320k

import (
	"fmt"
	"strings"
)

// A Variant is one folder of the layout: a form of texts and a grouping of records.
type Variant struct {
	Style string // of the texts: simplified, simplenorm, ncinorm or htmlnorm
	Key   string // of the grouping: none, pageid, ncititle, url or text4k
}

func (v Variant) Folder() string { return "data/" + v.Style + "/" + v.Key }

// Config is the variant's name for a program that loads data sets.
func (v Variant) Config() string { return v.Style + "-" + v.Key }

// styles are the layout's names for our forms, shifted: simplified keeps tags, simplenorm is the paper's simplified.
var styles = []struct{ form, style, why string }{
	{"simplified_tags", "simplified", "all stored tokens, tags too, joined by blanks"},
	{"simplified", "simplenorm", "stored tokens without tags, the line of the page title included"},
	{"simplenorm", "", "the layout's simplenorm is the form simplified; title, abstract and content have no name in it"},
	{"ncinorm", "ncinorm", "NCI's title and abstract"},
	{"htmlnorm", "htmlnorm", "surface text of the HTML"},
}

// keys are the layout's names for our keys; the layout's "none", a document for each record, is no key of ours.
var keys = []struct{ ours, theirs string }{
	{"page_id", "pageid"}, {"title", "ncititle"}, {"url", "url"}, {"text4k", "text4k"},
}

// VariantOf returns the layout's variant for our form and key, or an error if it has no name for them.
func VariantOf(form, key string) (Variant, error) {
	var v Variant
	why := "the layout does not know it"
	var forms, named []string
	for _, s := range styles {
		if s.style != "" {
			forms = append(forms, s.form)
		}
		if s.form == form {
			v.Style, why = s.style, s.why
		}
	}
	if v.Style == "" {
		return v, fmt.Errorf("form %q has no style in the released layout (%s); the forms with a style are %s", form, why, strings.Join(forms, ", "))
	}
	for _, k := range keys {
		named = append(named, k.ours)
		if k.ours == key {
			v.Key = k.theirs
		}
	}
	if v.Key == "" {
		return v, fmt.Errorf("key %q has no name in the released layout; the keys with a name are %s", key, strings.Join(named, ", "))
	}
	return v, nil
}
