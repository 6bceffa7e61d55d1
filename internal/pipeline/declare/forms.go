package declare

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/redsi/redsi/internal/pipeline/questions"
	"github.com/redsi/redsi/internal/pipeline/schema"
	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/internal/system/spdx"
	"github.com/redsi/redsi/step"
)

type Asset struct {
	Type      string     `hcl:"-"` // "dataset" or "model"
	Name      string     `hcl:"name,label" help:"What it is called."`
	License   string     `hcl:"license,optional" help:"Its licence or terms."`
	URL       string     `hcl:"url,optional" help:"Where to get it."`
	Languages []string   `hcl:"languages,optional" help:"The languages of its texts."`
	About     string     `hcl:"about,optional" help:"Domains, splits, terms: what a reader should know."`
	Pos       syntax.Pos `hcl:"-"`
}

type ChecklistForm struct {
	Selection *string           `hcl:"selection,optional" help:"How what is reported was chosen."`
	Search    map[string]string `hcl:"search,optional" help:"What was tried for each hyperparameter: its name to the bounds."`
	ACL       map[string]string `hcl:"acl,optional" help:"Answers to ACL's list: A1 to E1."`
	NeurIPS   map[string]string `hcl:"neurips,optional" help:"Answers to NeurIPS's list: \"1\" to \"16\"."`
	Datasets  []Asset           `hcl:"dataset,block" help:"A dataset that is used or made."`
	Models    []Asset           `hcl:"model,block" help:"A model that is used or made."`
}

// Answers are what people answer to the questions of each list, by their numbers.
func (x ChecklistForm) Answers() map[string]map[string]string {
	return map[string]map[string]string{"acl": x.ACL, "neurips": x.NeurIPS}
}

func (x ChecklistForm) Assets() map[string][]Asset {
	return map[string][]Asset{"dataset": x.Datasets, "model": x.Models}
}

func checkChecklist(x ChecklistForm) error {
	var ps step.Problems
	for name, given := range x.Answers() {
		list, _ := questions.Of(name)
		for number := range given {
			if !list.Has(number) {
				ps = append(ps, step.Problem{Path: schema.Show([]any{name, schema.Key(number)}), Detail: fmt.Sprintf("The list has no question %q. %s", number, syntax.Suggest(number, list.Numbers(), "question"))})
			}
		}
	}
	for typ, assets := range x.Assets() {
		for i, a := range assets {
			if slices.ContainsFunc(assets[:i], func(b Asset) bool { return a.Name == b.Name }) {
				ps = append(ps, step.Problem{Path: schema.Show([]any{typ, i, "name"}), Detail: "another one before it has this name"})
			}
		}
	}
	return ps.Err()
}

type ResultsForm struct {
	From      []string `hcl:"from,optional" help:"Other stores, which are only read: https://HOST/PATH, s3://BUCKET/PREFIX?anonymous=true, or a folder relative to this file."`
	Trust     []string `hcl:"trust,optional" help:"Public keys whose results are trusted, as redsi key show prints them: NAME:BASE64."`
	Revoked   []string `hcl:"revoked,optional" help:"Public keys whose signatures count for nothing, whenever they were made."`
	Untrusted string   `hcl:"untrusted,optional" enum:"run,verify,use" help:"What happens to others' results that no trusted key signed: the step runs here, it runs and is compared, or the result is used. Default: \"run\""`
	Shared    string   `hcl:"shared,optional" enum:"run,verify,use" help:"The same for results in the project's own store. Default: \"use\""`
}

type PublishForm struct {
	Files step.Inputs `hcl:"files" help:"The output of a step, or a list of them."`
	To    string      `hcl:"to" help:"A folder below the pipeline's own, such as \"results/plots\"."`
}

func checkPublish(p PublishForm) error {
	if !publishFolder.MatchString(p.To) {
		return step.Problem{Path: "to", Detail: `it is a folder below the pipeline's own, such as "results/plots"; no part of it begins with a dot`}
	}
	return nil
}

type EnvironmentForm struct {
	UV           string   `hcl:"uv,optional" help:"A uv.lock that stands beside its pyproject.toml, or a script's beside it, such as \"fit.py.lock\"."`
	Pylock       string   `hcl:"pylock,optional" help:"A pylock.toml, as uv export, pip lock, pdm and poetry write it."`
	Requirements string   `hcl:"requirements,optional" help:"A requirements.txt whose packages all have versions and hashes."`
	Conda        string   `hcl:"conda,optional" help:"A conda-lock.yml or a pixi.lock."`
	Image        string   `hcl:"image,optional" help:"An image by its digest, such as \"docker.io/library/python@sha256:…\", or a .sif file."`
	Nix          string   `hcl:"nix,optional" help:"A flake.lock that stands beside its flake.nix."`
	Python       string   `hcl:"python,optional" help:"The Python of uv, pylock or requirements, such as \"3.11\". Default: the oldest that the lock is for."`
	Extras       []string `hcl:"extras,optional" help:"Of uv and pylock: optional dependencies of the project that are installed too."`
	Groups       []string `hcl:"groups,optional" help:"Of uv and pylock: dependency groups that are installed too, such as \"dev\"."`
	Platform     string   `hcl:"platform,optional" help:"What the lock is read for, such as \"linux-x86_64\". Default: this machine's."`
}

// CheckForm is what a check block of a step may have; a bound is a number or a name, hence a text.
type CheckForm struct {
	Counts   string   `hcl:"counts,optional" help:"What the step counted, such as \"records\""`
	Field    string   `hcl:"field,optional" help:"Or a number in an output, as OUTPUT:PATH"`
	Equals   *string  `hcl:"equals,optional" help:"What it must be: a number, or the name of another one"`
	Min      *string  `hcl:"min,optional" help:"The least that it may be"`
	Max      *string  `hcl:"max,optional" help:"The most that it may be"`
	Of       []string `hcl:"of,optional" help:"Attributes of the step: those names are of what these take"`
	Severity string   `hcl:"severity,optional" enum:"error,warning" help:"A warning stops nothing. Default: \"error\""`
}

// ResourcesForm is what a resources block may have; sizes and times have units, hence texts.
type ResourcesForm struct {
	CPUs   int      `hcl:"cpus,optional" min:"1" max:"1048576" help:"Processors that it keeps busy; programs are told, by OMP_NUM_THREADS and others. Default: 1"`
	Memory *string  `hcl:"memory,optional" help:"Memory that it takes, such as \"12GB\": steps run side by side as long as they fit"`
	GPUs   int      `hcl:"gpus,optional" min:"0" max:"1024" help:"Cards that its program is given, by CUDA_VISIBLE_DEVICES"`
	Time   *string  `hcl:"time,optional" help:"The longest that it may take, such as \"2h\""`
	Queue  string   `hcl:"queue,optional" enum:"cpu,gpu" help:"Which workers run the step"`
	Limits []string `hcl:"limits,optional" help:"Names of the limits block: only so many steps of a run have one at a time"`
}

type RetryForm struct {
	Times  int     `hcl:"times" min:"1" max:"20" help:"How often a failed program is tried again"`
	Memory float64 `hcl:"memory,optional" min:"1" max:"16" help:"By how much resources.memory is multiplied at each further try"`
	Time   float64 `hcl:"time,optional" min:"1" max:"16" help:"By how much resources.time is multiplied at each further try"`
}

// Beliefs are what Untrusted and Shared may be.
var Beliefs = []string{"run", "verify", "use"}

// publishFolder matches a folder below the pipeline's that is not hidden.
var publishFolder = regexp.MustCompile(`^[^./\\:][^/\\:]*(/[^./\\:][^/\\:]*)*/?$`)

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
