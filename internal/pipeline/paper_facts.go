package pipeline

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// typeInWords says what an attribute of a paper takes.
func typeInWords(t cty.Type) string {
	switch {
	case t.IsListType():
		return "a list of strings"
	case t.IsMapType():
		return "an object of strings by author"
	}
	return "a string"
}

var (
	doiForm     = regexp.MustCompile(`^10\.[0-9]{4,9}/[!-~]+$`)
	licenseForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9.+-]*$`)
)

// IsDOI reports whether s is a DOI as it stands, without an address before it.
func IsDOI(s string) bool { return doiForm.MatchString(s) }

// checkPaper reports what of a paper would be wrong in a deposit or a citation.
func (l *loader) checkPaper(b *hclsyntax.Block) {
	bad := func(attribute, summary, format string, args ...any) {
		if a := b.Body.Attributes[attribute]; a != nil {
			l.diags.error(a.Expr.Range(), summary, fmt.Sprintf(format, args...))
		}
	}
	p := l.paper
	if p.DOI != "" && !IsDOI(p.DOI) {
		bad("doi", "Not a DOI", "A DOI is written 10.5281/zenodo.1234, without https://doi.org/.")
	}
	if u, err := url.Parse(p.License); p.License != "" && !licenseForm.MatchString(p.License) && (err != nil || u.Scheme != "https" || u.Host == "") {
		bad("license", "Not a licence", "A license is an SPDX id, such as CC-BY-4.0 or Apache-2.0, or the https:// address of its text.")
	}
	for _, name := range sortedKeys(p.ORCID) {
		switch id := p.ORCID[name]; {
		case !slices.Contains(p.Authors, name):
			bad("orcid", "Unknown author", "%q is not one of the authors. %s", name, suggest(name, p.Authors, "author"))
		case !isORCID(id):
			bad("orcid", "Not an ORCID", "%q is not an ORCID, such as 0000-0002-1825-0097: four groups of four digits, the last of which is a checksum.", id)
		}
	}
	for _, name := range sortedKeys(p.Affiliations) {
		if !slices.Contains(p.Authors, name) {
			bad("affiliations", "Unknown author", "%q is not one of the authors. %s", name, suggest(name, p.Authors, "author"))
		}
	}
}

// isORCID reports whether s is an ORCID: 16 digits in groups of four, of which the last,
// or X for ten, is the checksum of ISO 7064 MOD 11-2 over the others.
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
