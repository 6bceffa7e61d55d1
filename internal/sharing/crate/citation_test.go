package crate

import (
	"strings"
	"testing"
	"time"

	"github.com/redsi/redsi/internal/corpora/unpack/goldens"
	"github.com/redsi/redsi/internal/system/testkit"
)

var work = Work{Title: `A "T": & more`, Abstract: "About <T>.\nTwo lines.", License: "CC-BY-4.0", Version: "1.1", DOI: "10.5281/zenodo.2", Paper: "10.1145/1", Keywords: []string{"x: y", "z"},
	Released: time.Date(2026, 11, 22, 23, 0, 0, 0, time.UTC),
	Authors:  []Author{{Name: "Author, Ann", ORCID: "0000-0002-1825-0097", Affiliation: "Here"}, {Name: "Bo Writer"}}}

func TestCitation(t *testing.T) {
	goldens.Same(t, "testdata/CITATION.cff", string(Citation(work)))
	if b := Citation(Work{Title: "T"}); b != nil {
		t.Errorf("a citation without authors: %s", b)
	}
}

// TestCitationForms: what the format has no place for is written in the way that it has.
func TestCitationForms(t *testing.T) {
	const odd = "10.1002/(SICI)1097-4571(199009)41:6<391::AID-ASI1>3.0.CO;2-9"
	for want, change := range map[string]func(*Work){
		"\nlicense: \"CC-BY-4.0\"\n": func(w *Work) { w.License = "cc-by-4.0" },
		"\nlicense: \"MIT\"\n":       func(w *Work) { w.License = "mit" },
		"\nlicense-url: \"https://spdx.org/licenses/CDLA-Permissive-2.0\"\n":                      func(w *Work) { w.License = "CDLA-Permissive-2.0" },
		"\nlicense-url: \"https://example.org/license\"\n":                                        func(w *Work) { w.License = "https://example.org/license" },
		"\ntitle: \"A\\u007f \\u009d\\ufffe é\"\n":                                                func(w *Work) { w.Title = "A\x7f \u009d\ufffe é" },
		"\nkeywords:\n  - \"a\"\n  - \"b\"\nauthors:":                                             func(w *Work) { w.Keywords = []string{"a", "b", "a"} },
		"\nidentifiers:\n  - type: other\n    value: \"https://doi.org/" + odd + "\"\n":           func(w *Work) { w.DOI = odd },
		"\n    identifiers:\n      - type: other\n        value: \"https://doi.org/" + odd + "\"": func(w *Work) { w.Paper = odd },
	} {
		w := work
		change(&w)
		testkit.Says(t, string(Citation(w)), want)
	}
}

func TestZenodo(t *testing.T) {
	b, err := Zenodo(work)
	testkit.None(t, err)
	goldens.Same(t, "testdata/zenodo.json", string(b))
	if _, err := Zenodo(Work{Title: "T"}); err == nil || !strings.HasSuffix(err.Error(), "lacks: abstract, license, authors") {
		t.Errorf("nothing is made up: %v", err)
	}
	w := work
	w.License = "https://example.org/license"
	testkit.Some(t, testkit.Err(Zenodo(w)), "Zenodo knows no licences by address")
}
