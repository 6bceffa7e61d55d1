package lsp

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/step"
)

// blockDocs are the types of blocks at the top of a pipeline file.
var blockDocs = []struct{ typ, form, help string }{
	{"step", `step "${1:KIND}" "${2:NAME}" {` + "\n  $0\n}", "A piece of work: its kind does it, and its key is made from its inputs."},
	{"source", `source "${1:NAME}" {` + "\n  path = \"$0\"\n}", "Files of this machine as they lie: a folder, a file or a pattern. Steps take them as source.NAME.files."},
	{"environment", `environment "${1:NAME}" {` + "\n  uv = \"$0\"\n}", "What programs are run in, as a lock file has it. Steps take it as environment.NAME; the key has its packages."},
	{"table", `table "${1:NAME}" {` + "\n  $0\n}", "A table of numbers that steps left, with the paper's beside them."},
	{"figure", `figure "${1:NAME}" {` + "\n  $0\n}", "A figure of numbers that steps left."},
	{"claim", `claim "${1:NAME}" {` + "\n  text = \"$2\"\n  expect {\n    $0\n  }\n}", "A sentence of the paper, and what holds for cells where it is true. It is not part of any key."},
	{"locals", "locals {\n  $0\n}", "Named values, that expressions refer to as local.NAME."},
	{"variable", `variable "${1:NAME}" {` + "\n  $0\n}", "A value that is given from outside, and that expressions refer to as var.NAME."},
	{"module", `module "${1:NAME}" {` + "\n  source = \"$0\"\n}", "Another pipeline, with values for its variables. Expressions refer to its outputs as module.NAME.OUTPUT."},
	{"output", `output "${1:NAME}" {` + "\n  value = $0\n}", "What a pipeline that has this one as a module refers to as module.NAME.OUTPUT."},
	{"checklist", "checklist {\n  $0\n}", "What conferences' checklists ask and no record knows: how results were chosen, what was tried, licences. It is not part of any key."},
	{"paper", "paper {\n  title   = \"$1\"\n  authors = [$0]\n}", "What the pipeline rebuilds: the report begins with it. It is not part of any key."},
	{"publish", `publish "${1:NAME}" {` + "\n  files = $2\n  to    = \"$0\"\n}", "Files of steps that a run writes into a folder beside the pipeline. It is not part of any key."},
	{"limits", "limits {\n  ${1:downloads} = ${0:2}\n}", "How many steps of a run may have a name of resources { limits = [NAME] } at a time. It is not part of any key."},
	{"results", "results {\n  from = [\"$1\"]$0\n}", "Where others' results are, and whose are trusted. It is not part of any key."},
}

// Attributes outside kinds.
var (
	text1    = step.Type{Kind: step.String}
	number1  = step.Type{Kind: step.Float}
	anything = step.Type{Kind: "any"}

	publishAttrs = []step.Attr{
		{Name: "files", Type: step.Type{Kind: step.InputMany}, Help: "The output of a step, or a list of them."},
		{Name: "to", Type: text1, Help: "A folder below the pipeline's own, such as \"results/plots\"."},
	}
	environmentAttrs = []step.Attr{
		{Name: "uv", Type: text1, Optional: true, Help: "A uv.lock that stands beside its pyproject.toml."},
		{Name: "requirements", Type: text1, Optional: true, Help: "A requirements.txt whose packages all have versions and hashes."},
		{Name: "conda", Type: text1, Optional: true, Help: "A conda-lock.yml or a pixi.lock."},
		{Name: "image", Type: text1, Optional: true, Help: "An image by its digest, such as \"docker.io/library/python@sha256:…\", or a .sif file."},
		{Name: "nix", Type: text1, Optional: true, Help: "A flake.lock that stands beside its flake.nix."},
		{Name: "python", Type: text1, Optional: true, Help: "The Python of uv or requirements, such as \"3.11\". Default: the oldest that the lock is for."},
		{Name: "platform", Type: text1, Optional: true, Help: "What the lock is read for, such as \"linux-x86_64\". Default: this machine's."},
	}
	variableAttrs = []step.Attr{
		{Name: "type", Type: step.Type{Kind: "type"}, Optional: true, Help: "Its type, such as string, number, bool, list(string) or any. Without one, that of the default."},
		{Name: "default", Type: anything, Optional: true, Help: "Its value if none is given. A variable without a default must be given one."},
		{Name: "description", Type: text1, Optional: true, Help: "What it is, for people."},
		{Name: "sensitive", Type: step.Type{Kind: step.Bool}, Optional: true, Help: "Whether its value is a secret, kept out of configurations, keys and messages."},
		{Name: "validation", Optional: true, Block: true, Help: "A condition that its value must meet.", Type: step.Type{Kind: step.Object, Attrs: []step.Attr{
			{Name: "condition", Type: step.Type{Kind: step.Bool}, Help: "True if the value is allowed. It may refer to variables."},
			{Name: "error_message", Type: text1, Help: "The message if it does not hold."},
		}}},
	}
	moduleAttrs = []step.Attr{
		{Name: "source", Type: text1, Help: "Where the pipeline is: a folder or .hcl file by a path that starts with ./, ../ or /, or git::URL//FOLDER?ref=REF."},
	}
	outputAttrs = []step.Attr{
		{Name: "value", Type: anything, Help: "Its value: an artifact, a step, a map of them, or any other."},
		{Name: "description", Type: text1, Optional: true, Help: "What it is, for people."},
	}
	paperAttrs = []step.Attr{
		{Name: "title", Type: text1, Help: "The paper's title."},
		{Name: "authors", Type: step.Type{Kind: step.List, Elem: &text1}, Optional: true, Help: "Its authors."},
		{Name: "url", Type: text1, Optional: true, Help: "Where it can be read."},
		{Name: "abstract", Type: text1, Optional: true, Help: "What it is about, for deposits."},
		{Name: "license", Type: text1, Optional: true, Help: "Licence of the pipeline and of what is exported: an SPDX id, or the https:// address of its text."},
		{Name: "keywords", Type: step.Type{Kind: step.List, Elem: &text1}, Optional: true, Help: "Words under which a deposit is found."},
		{Name: "doi", Type: text1, Optional: true, Help: "The paper's DOI, such as 10.5281/zenodo.1234."},
		{Name: "version", Type: text1, Optional: true, Help: "Version of what is exported, for citations."},
		{Name: "orcid", Type: step.Type{Kind: step.Map, Elem: &text1}, Optional: true, Help: "The ORCID of each author who has one, by name."},
		{Name: "affiliations", Type: step.Type{Kind: step.Map, Elem: &text1}, Optional: true, Help: "The affiliation of each author, by name."},
	}
	textsType    = step.Type{Kind: step.List, Elem: &text1}
	resultsAttrs = []step.Attr{
		{Name: "from", Type: textsType, Optional: true, Help: "Other stores, which are only read: https://HOST/PATH, s3://BUCKET/PREFIX?anonymous=true, or a folder relative to this file."},
		{Name: "trust", Type: textsType, Optional: true, Help: "Public keys whose results are trusted, as redsi key show prints them."},
		{Name: "revoked", Type: textsType, Optional: true, Help: "Public keys whose signatures count for nothing, whenever they were made."},
		{Name: "untrusted", Type: text1, Optional: true, Default: "run", Enum: pipeline.Beliefs, Help: "What happens to others' results that no trusted key signed: the step runs here, it runs and is compared, or the result is used."},
		{Name: "shared", Type: text1, Optional: true, Default: "use", Enum: pipeline.Beliefs, Help: "The same for results in the project's own store."},
	}
	texts          = step.Type{Kind: step.Map, Elem: &text1}
	checklistAttrs = []step.Attr{
		{Name: "selection", Type: text1, Optional: true, Help: "How what is reported was chosen."},
		{Name: "search", Type: texts, Optional: true, Help: "What was tried for each hyperparameter: its name to the bounds."},
		{Name: "acl", Type: texts, Optional: true, Help: "Answers to ACL's list: A1 to E1."},
		{Name: "neurips", Type: texts, Optional: true, Help: "Answers to NeurIPS's list: \"1\" to \"16\"."},
		{Name: "acm", Type: texts, Optional: true, Help: "Answers to ACM's badges and artifact appendix."},
		{Name: "dataset", Type: asset, Optional: true, Block: true, Help: "A dataset that is used or made."},
		{Name: "model", Type: asset, Optional: true, Block: true, Help: "A model that is used or made."},
	}
	asset = step.Type{Kind: step.Map, Elem: &step.Type{Kind: step.Object, Attrs: []step.Attr{
		{Name: "license", Type: text1, Optional: true, Help: "Its licence or terms."},
		{Name: "url", Type: text1, Optional: true, Help: "Where to get it."},
		{Name: "languages", Type: step.Type{Kind: step.List, Elem: &text1}, Optional: true, Help: "The languages of its texts."},
		{Name: "about", Type: text1, Optional: true, Help: "Domains, splits, terms: what a reader should know."},
	}}}
	commonAttrs = []step.Attr{
		{Name: "for_each", Type: anything, Optional: true, Help: "A map, or a set or list of texts: the block stands for one step or module of each key, in which each.key and each.value are that element. product({ … }) makes all combinations of several lists; files(ARTIFACT, PATTERN) is the files that a step leaves, each of which is each.file"},
		{Name: "when", Type: step.Type{Kind: step.Bool}, Optional: true, Help: "The step is skipped where this is false. json(ARTIFACT, \"FILE:FIELD\") asks what another step found"},
		{Name: "allow_empty", Type: step.Type{Kind: step.Bool}, Optional: true, Help: "There may be no piece of a for_each over what a step leaves"},
		{Name: "keep", Type: step.Type{Kind: step.Bool}, Optional: true, Default: "true", Help: "false: the bytes of the step's outputs leave the store when all that read them are done, and come back by running it again. It is not part of the key"},
		{Name: "resources", Optional: true, Block: true, Help: "What the step needs to run. It is not part of the key", Type: step.Type{Kind: step.Object, Attrs: []step.Attr{
			{Name: "cpus", Type: number1, Optional: true, Help: "Processors that it keeps busy; programs are told, by OMP_NUM_THREADS and others. Default: 1"},
			{Name: "memory", Type: text1, Optional: true, Help: "Memory that it takes, such as \"12GB\": steps run side by side as long as they fit"},
			{Name: "gpus", Type: number1, Optional: true, Help: "Cards that its program is given, by CUDA_VISIBLE_DEVICES"},
			{Name: "time", Type: text1, Optional: true, Help: "The longest that it may take, such as \"2h\""},
			{Name: "queue", Type: text1, Optional: true, Enum: []string{string(step.CPU), string(step.GPU)}, Help: "Which workers run the step"},
			{Name: "limits", Type: textsType, Optional: true, Help: "Names of the limits block: only so many steps of a run have one at a time"},
		}}},
		{Name: "retry", Optional: true, Block: true, Help: "How a failed program is tried again. It is not part of the key", Type: step.Type{Kind: step.Object, Attrs: []step.Attr{
			{Name: "times", Type: number1, Help: "How often"},
			{Name: "memory", Type: number1, Optional: true, Help: "By how much resources.memory is multiplied at each further try"},
		}}},
	}
)

// attrsOf lists what may be in the innermost of some blocks of a document.
func (s *server) attrsOf(d *document, blocks []header) []step.Attr {
	if len(blocks) == 0 {
		return nil
	}
	attrs := map[string][]step.Attr{"variable": variableAttrs, "output": outputAttrs, "paper": paperAttrs, "results": resultsAttrs,
		"publish": publishAttrs, "environment": environmentAttrs, "checklist": checklistAttrs}[blocks[0].typ]
	if blocks[0].typ == "module" {
		attrs = s.moduleAttrsOf(d, blocks[0])
	} else if spec := s.Load.Registry.Lookup(blocks[0].kind()); spec != nil {
		attrs = slices.Concat(spec.Attrs, commonAttrs)
	}
	for _, b := range blocks[1:] {
		a := find(attrs, b.typ)
		if a == nil || !a.Block {
			return nil
		}
		attrs = element(a.Type).Attrs
	}
	return attrs
}

func find(attrs []step.Attr, name string) *step.Attr {
	for i := range attrs {
		if attrs[i].Name == name {
			return &attrs[i]
		}
	}
	return nil
}

// element is a list's or map's type of elements, or the type itself.
func element(t step.Type) step.Type {
	for t.Elem != nil {
		t = *t.Elem
	}
	return t
}

// attrAt follows a path into a value: what is expected there; nil if that is not known.
func attrAt(attrs []step.Attr, path []string) *step.Attr {
	if len(path) == 0 {
		return nil
	}
	a := find(attrs, path[0])
	if a == nil {
		return nil
	}
	at := *a
	for _, p := range path[1:] {
		switch t := at.Type; {
		case p == "[]" && t.Kind == step.List || p != "[]" && t.Kind == step.Map:
			at.Type = *t.Elem
		case p == "[]" && t.Kind == step.InputMany:
		case p == "{}" && t.Kind == step.Object:
		case t.Kind == step.Object:
			inner := find(t.Attrs, p)
			if inner == nil {
				return nil
			}
			at = *inner
		default:
			return nil
		}
	}
	return &at
}

// accepts reports whether an attribute takes an artifact of a type.
func accepts(a *step.Attr, typ string) bool {
	return a == nil || a.Accepts == "" || slices.Contains(strings.Split(a.Accepts, ","), typ)
}

// takesArtifact reports whether a value that is one artifact may be there.
func takesArtifact(a *step.Attr) bool {
	return a != nil && (a.Type.Kind == step.InputOne || a.Type.Kind == step.InputMany)
}

// describeAttr writes what an attribute is as Markdown.
func describeAttr(a *step.Attr) string {
	need := "required"
	if a.Optional {
		need = "optional"
	}
	form := a.Type.String()
	if a.Block {
		form = "block"
	}
	text := fmt.Sprintf("`%s` (%s, %s)\n\n%s", a.Name, form, need, sentence(a.Help))
	if len(a.Enum) > 0 {
		text += "\n\nOne of `\"" + strings.Join(a.Enum, "\"`, `\"") + "\"`."
	}
	if a.Accepts != "" {
		text += "\n\nTakes artifacts of type `" + strings.ReplaceAll(a.Accepts, ",", "` or `") + "`."
	}
	if a.Default != nil {
		if b, err := json.Marshal(a.Default); err == nil && len(b) < 500 {
			text += fmt.Sprintf("\n\nDefault: `%s`.", b)
		}
	}
	if a.NoKey {
		text += "\n\nNot part of the key."
	}
	return text
}

func sentence(s string) string {
	if s = strings.TrimSpace(s); s == "" || strings.HasSuffix(s, ".") {
		return s
	}
	return s + "."
}
