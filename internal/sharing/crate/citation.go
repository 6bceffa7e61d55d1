package crate

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/redsi/redsi/internal/system/spdx"
	"github.com/redsi/redsi/internal/system/values"
)

// Work is what is deposited.
type Work struct {
	Title    string
	Abstract string
	License  string // SPDX id, in any case, or https address
	Version  string
	DOI      string // reserved for the deposit
	Paper    string // DOI of the paper that it belongs to
	URL      string // of the paper
	Keywords []string
	Authors  []Author
	Released time.Time
}

// Author is an author of a work. A name with a comma is "family, given"; the parts of others cannot be told apart.
type Author struct {
	Name        string `json:"name"`
	Affiliation string `json:"affiliation,omitempty"`
	ORCID       string `json:"orcid,omitempty"`
}

// Citation is a CITATION.cff of version 1.2.0; nil without the required title and authors.
func Citation(w Work) []byte {
	if w.Title == "" || len(w.Authors) == 0 {
		return nil
	}
	var b bytes.Buffer
	line := func(indent, name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%s%s: %s\n", indent, name, quoted(value))
		}
	}
	b.WriteString("cff-version: 1.2.0\nmessage: \"If you use this archive, please cite it.\"\ntype: dataset\n")
	line("", "title", w.Title)
	line("", "version", w.Version)
	doi(&b, "", w.DOI)
	line("", "date-released", w.Released.UTC().Format(time.DateOnly))
	switch id, inCFF := spdx.Find(w.License); {
	case inCFF:
		line("", "license", id)
	case id != "":
		line("", "license-url", spdx.Pages+id)
	default:
		line("", "license-url", w.License)
	}
	line("", "url", w.URL)
	line("", "abstract", w.Abstract)
	for i, k := range w.Keywords {
		if i == 0 {
			b.WriteString("keywords:\n")
		}
		if slices.Index(w.Keywords, k) == i { // each once
			fmt.Fprintf(&b, "  - %s\n", quoted(k))
		}
	}
	b.WriteString("authors:\n")
	authors(&b, "  ", w.Authors)
	if w.Paper != "" {
		b.WriteString("references:\n  - type: article\n")
		line("    ", "title", w.Title)
		doi(&b, "    ", w.Paper)
		b.WriteString("    authors:\n")
		authors(&b, "      ", w.Authors)
	}
	return b.Bytes()
}

// plainDOI matches the DOIs that the format takes; others have more characters.
var plainDOI = regexp.MustCompile(`^10\.\d{4,9}(\.\d+)?/[A-Za-z0-9:/_;\-.()\[\]\\]+$`)

func doi(b *bytes.Buffer, indent, s string) {
	switch {
	case plainDOI.MatchString(s):
		fmt.Fprintf(b, "%sdoi: %s\n", indent, quoted(s))
	case s != "":
		fmt.Fprintf(b, "%sidentifiers:\n%s  - type: other\n%s    value: %s\n", indent, indent, indent, quoted("https://doi.org/"+s))
	}
}

func authors(b *bytes.Buffer, indent string, all []Author) {
	for _, a := range all {
		family, given, split := strings.Cut(a.Name, ", ")
		if split {
			fmt.Fprintf(b, "%s- family-names: %s\n%s  given-names: %s\n", indent, quoted(family), indent, quoted(given))
		} else {
			fmt.Fprintf(b, "%s- name: %s\n", indent, quoted(a.Name))
		}
		if a.ORCID != "" {
			fmt.Fprintf(b, "%s  orcid: %s\n", indent, quoted("https://orcid.org/"+a.ORCID))
		}
		if a.Affiliation != "" && split { // a name without parts is an entity, which has no affiliation
			fmt.Fprintf(b, "%s  affiliation: %s\n", indent, quoted(a.Affiliation))
		}
	}
}

// unprintable matches characters that YAML takes only escaped; JSON has them as they are.
var unprintable = regexp.MustCompile(`[\x{7f}-\x{9f}\x{fffe}\x{ffff}]`)

// quoted is a text in YAML, which accepts JSON strings.
func quoted(s string) string {
	b, _ := values.JSON(s, "") // a string always encodes
	return unprintable.ReplaceAllStringFunc(string(b), func(c string) string { return fmt.Sprintf(`\u%04x`, []rune(c)[0]) })
}
