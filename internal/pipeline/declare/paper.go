package declare

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/redsi/redsi/internal/pipeline/schema"
	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/internal/system/spdx"
	"github.com/redsi/redsi/step"
)

// Paper is what a pipeline says, for people, of the paper or study that it rebuilds. It is in no key.
type Paper struct {
	Title   string   `hcl:"title" help:"The paper's title, which the report begins with." json:"title,omitempty"`
	Authors []string `hcl:"authors,optional" help:"Its authors." json:"authors,omitempty"`
	URL     string   `hcl:"url,optional" help:"Where it can be read." json:"url,omitempty"`
	Part    string   `hcl:"part,optional" help:"Which part of the paper's data and training this is, such as \"6 of 55 files, 2,000 of 1,000,000 updates\". Reports, checks and the end of a run then say that it is no reproduction. Empty: nothing is said." json:"part,omitempty"`

	// For those who deposit, cite or reuse it: see `redsi export --archive`.
	Abstract     string            `hcl:"abstract,optional" help:"What it is about, for deposits." json:"abstract,omitempty"`
	License      string            `hcl:"license,optional" help:"Licence of the pipeline and of what is exported: an SPDX id, or the https:// address of its text." json:"license,omitempty"`
	Keywords     []string          `hcl:"keywords,optional" help:"Words under which a deposit is found." json:"keywords,omitempty"`
	DOI          string            `hcl:"doi,optional" help:"The paper's DOI, such as 10.5281/zenodo.1234." json:"doi,omitempty"`
	Version      string            `hcl:"version,optional" help:"Version of what is exported, for citations." json:"version,omitempty"`
	ORCID        map[string]string `hcl:"orcid,optional" help:"The ORCID of each author who has one, by name." json:"orcid,omitempty"`
	Affiliations map[string]string `hcl:"affiliations,optional" help:"The affiliation of each author, by name." json:"affiliations,omitempty"`
}

var doiForm = regexp.MustCompile(`^10\.[0-9]{4,9}(\.[0-9]+)*/[!-~]+$`)

// IsDOI reports whether s is a DOI as it stands, without an address before it.
func IsDOI(s string) bool { return doiForm.MatchString(s) }

// checkPaper reports what of a paper would be wrong in a deposit or a citation.
func checkPaper(p Paper) error {
	var ps step.Problems
	bad := func(path, format string, args ...any) {
		ps = append(ps, step.Problem{Path: path, Detail: fmt.Sprintf(format, args...)})
	}
	if p.DOI != "" && !IsDOI(p.DOI) {
		bad("doi", "A DOI is written 10.5281/zenodo.1234, without https://doi.org/.")
	}
	id, _ := spdx.Find(p.License)
	hint := "."
	if near := syntax.Nearest(p.License, spdx.IDs()); near != "" {
		hint = fmt.Sprintf(": did you mean %q?", near)
	}
	if p.License != "" && id == "" && !isAddress(p.License, "https") {
		bad("license", "A license is an SPDX id, such as CC-BY-4.0 or Apache-2.0, or the https:// address of its text; %q is neither%s", p.License, hint)
	}
	if p.URL != "" && !isAddress(p.URL, "https", "http", "ftp", "sftp") {
		bad("url", "%q is no address, which begins with https://; a DOI belongs in doi.", p.URL)
	}
	for i, name := range p.Authors {
		family, given, split := strings.Cut(name, ",")
		switch path := schema.Show([]any{"authors", i}); {
		case strings.TrimSpace(family) == "" || split && strings.TrimSpace(given) == "":
			bad(path, "An author is written \"Family, Given\" or by one name; %q lacks a part.", name)
		case slices.Index(p.Authors, name) < i:
			bad(path, "%q is an author already: two of one name are told apart by more of it.", name)
		}
	}
	for i, word := range p.Keywords {
		if strings.TrimSpace(word) == "" {
			bad(schema.Show([]any{"keywords", i}), "A keyword has a text.")
		}
	}
	byAuthor := func(attribute string, texts map[string]string, wrong func(text string) bool) {
		for _, name := range syntax.Keys(texts) {
			switch path := schema.Show([]any{attribute, schema.Key(name)}); {
			case !slices.Contains(p.Authors, name):
				bad(path, "%q is not one of the authors. %s", name, syntax.Suggest(name, p.Authors, "author"))
			case wrong(texts[name]):
				bad(path, "%q is not an ORCID, such as 0000-0002-1825-0097: four groups of four digits, the last of which is a checksum.", texts[name])
			}
		}
	}
	byAuthor("orcid", p.ORCID, func(id string) bool { return !isORCID(id) })
	byAuthor("affiliations", p.Affiliations, func(string) bool { return false })
	return ps.Err()
}

// isAddress reports whether s can stand as it is where a format wants an address.
func isAddress(s string, schemes ...string) bool {
	u, err := url.Parse(s)
	return err == nil && u.Host != "" && slices.Contains(schemes, u.Scheme) && !strings.ContainsAny(s, ` <>"{}|\^`+"`")
}

// isORCID reports whether s is an ORCID: 15 digits in groups of four, and their checksum by ISO 7064 MOD 11-2, X for ten.
func isORCID(s string) bool {
	digits := strings.ReplaceAll(s, "-", "")
	if len(s) != 19 || s[4] != '-' || s[9] != '-' || s[14] != '-' || len(digits) != 16 {
		return false
	}
	sum := 0
	for _, c := range digits[:15] {
		if c < '0' || c > '9' {
			return false
		}
		sum = (sum + int(c-'0')) * 2
	}
	return "0123456789X"[(12-sum%11)%11] == digits[15]
}
