package declare

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/redsi/redsi/internal/pipeline/questions"
	"github.com/redsi/redsi/internal/pipeline/schema"
	"github.com/redsi/redsi/internal/pipeline/syntax"
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
