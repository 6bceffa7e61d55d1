package kinds_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/corpora/nq320k"
	"github.com/redsi/redsi/internal/system/testkit"
	"github.com/redsi/redsi/step"
)

// generatedRecords begin pipelines: %d are the pages, and the questions of train and dev.
const generatedRecords = `
step "synth" "nq" {
  pages           = %d
  train_questions = %d
  dev_questions   = %d
}
step "extract" "nq" {
  for_each = { train = step.synth.nq.train, dev = step.synth.nq.dev }
  files    = each.value
  split    = each.key
  require  = ["title"]
}
locals {
  train   = step.extract.nq["train"]
  dev     = step.extract.nq["dev"]
  records = [local.train.records, local.dev.records]
}
step "pages" "nq" {
  headers = [local.train.headers, local.dev.headers]
  dump    = step.synth.nq.stub
}
`

// tokenizers are the variables of pipelines that download the real ones.
func tokenizers(t *testing.T) map[string]string {
	t.Helper()
	folder := testkit.Value(filepath.Abs(filepath.Join("..", "assets", "tokenizers")))(t)
	return map[string]string{"t5": filepath.Join(folder, "t5-tokenizer.json.gz"), "bert": filepath.Join(folder, "bert-base-uncased-tokenizer.json.gz")}
}

// published exports generated collections in the released layout, reads them as others
// would, and compares them with what was exported.
const published = `
locals {
  variants = {
    html  = { key = "page_id", form = "htmlnorm" }
    text  = { key = "text4k", form = "simplified" }
    title = { key = "title", form = "ncinorm" }
    url   = { key = "url", form = "htmlnorm" }
  }
}
variable "t5" {}
variable "bert" {}
step "download" "bert" { urls = [var.bert] }
step "dedup" "nq" {
  for_each  = local.variants
  train     = local.train.headers
  dev       = local.dev.headers
  pages     = step.pages.nq.table
  tokenizer = step.download.bert.files
  key       = each.value.key
}
step "serialize" "nq" {
  for_each       = local.variants
  records        = local.records
  documents      = step.dedup.nq[each.key].documents
  form           = each.value.form
  bert_tokenizer = step.download.bert.files
  options        = { pronunciation = "keep" }
}
step "atomic_ids" "nq" {
  for_each  = local.variants
  documents = step.dedup.nq[each.key].documents
}
step "export" "nq" {
  for_each    = local.variants
  documents   = step.dedup.nq[each.key].documents
  queries     = step.dedup.nq[each.key].queries
  corpus      = step.serialize.nq[each.key].corpus
  report      = step.serialize.nq[each.key].report
  identifiers = { atomic = step.atomic_ids.nq[each.key].ids }
  formats     = ["parquet", "redsi"]
  name        = each.key
  key         = each.value.key
  form        = each.value.form
  settings    = { reading = "paper" }
  command     = "make it"
  origin      = "generated"
}
step "package" "nq" {
  for_each = local.variants
  files    = step.export.nq[each.key].files
}
step "compare_package" "nq" {
  for_each          = local.variants
  documents         = step.dedup.nq[each.key].documents
  queries           = step.dedup.nq[each.key].queries
  corpus            = step.serialize.nq[each.key].corpus
  package_documents = step.package.nq[each.key].documents
  package_queries   = step.package.nq[each.key].queries
  package_corpus    = step.package.nq[each.key].corpus
}
step "compare_package" "other" {
  documents         = step.dedup.nq["html"].documents
  queries           = step.dedup.nq["html"].queries
  corpus            = step.serialize.nq["html"].corpus
  package_documents = step.package.nq["url"].documents
  package_queries   = step.package.nq["url"].queries
  package_corpus    = step.package.nq["url"].corpus
}
step "package" "several" {
  files = [step.export.nq["html"].files, step.export.nq["url"].files]
}
step "package" "named" {
  files  = [step.export.nq["html"].files, step.export.nq["url"].files]
  folder = "data/htmlnorm/url"
}
step "package" "missing" {
  files  = step.export.nq["html"].files
  folder = "data/htmlnorm/url"
}
step "package" "none" {
  files = step.download.bert.files
}
`

func TestPackageRoundTrip(t *testing.T) {
	t.Parallel()
	l := newLocal(t)
	vars := tokenizers(t)
	file := write(t, t.TempDir(), "p.hcl", fmt.Sprintf(generatedRecords, 8, 24, 8)+published)
	out := l.outputs(file, vars, "step.compare_package", "step.package.nq", "step.package.named")
	for _, v := range []string{"html", "text", "title", "url"} {
		var c nq320k.Comparison
		l.json(out[`step.compare_package.nq["`+v+`"].report`], &c)
		if !c.AllSame || c.Documents.Ours < 5 || c.Documents.Ours != c.Documents.SameRecords || c.Queries.Both != 32 || c.Texts.Same != c.Documents.Ours {
			t.Errorf("%s: %+v", v, c)
		}
		var have nq320k.Contents
		if l.json(out[`step.package.nq["`+v+`"].report`], &have); have.Documents != c.Documents.Ours || have.Train != 24 || have.Dev != 8 || have.OtherSources != 0 {
			t.Errorf("%s: %+v", v, have)
		}
	}
	var other nq320k.Comparison
	if l.json(out["step.compare_package.other.report"], &other); other.AllSame || other.Documents.RegroupedPackage == 0 || other.Queries.Both != 32 {
		t.Errorf("another key: %+v", other)
	}
	if a, b := out["step.package.named.corpus"], out[`step.package.nq["url"].corpus`]; a.Digest != b.Digest {
		t.Errorf("a named folder gives %s, the only one %s", a.Digest, b.Digest)
	}
	card := string(l.content(out[`step.export.nq["html"].files`])["README.md"])
	for _, want := range []string{
		"config_name: identifiers\n", "- split: atomic\n", "- key: `page_id`\n", "- reading: `paper`\n", "- form: `htmlnorm`\n", "- form option pronunciation: `\"keep\"`\n",
		"    make it\n", "- corpus: `" + out[`step.serialize.nq["html"].corpus`].Digest.String() + "`\n", "- identifiers, atomic: `" + out[`step.atomic_ids.nq["html"].ids`].Digest.String() + "`\n",
	} {
		testkit.Says(t, card, want)
	}
	for target, want := range map[string]string{
		"step.package.several": "several folders have a metadata.json: name one as folder (data/htmlnorm/pageid, data/htmlnorm/url)",
		"step.package.missing": "data/htmlnorm/url/documents.jsonl.gz is missing; a package has documents.jsonl.gz, ",
		"step.package.none":    "no folder of the files has a metadata.json",
	} {
		testkit.ErrSays(t, testkit.Err(l.try(l.plan(file, vars, target))), want)
	}
}

// TestExportRefuses: what an export cannot write is refused before anything runs.
func TestExportRefuses(t *testing.T) {
	d := step.In(artifacts.Artifact{Digest: artifacts.Sum(nil)})
	config := map[string]any{"documents": d, "queries": d, "corpus": d, "name": "n", "key": "url", "form": "htmlnorm", "formats": []any{"redsi"}}
	mistakes(t, "export", config, map[string]map[string]any{
		"":                               {},
		`form "simplenorm" has no style`: {"form": "simplenorm"},
		`key "h1" has no name`:           {"key": "h1"},
		"names documents by number":      {"ids": "key"},
		`identifiers "a/b"`:              {"identifiers": map[string]any{"a/b": d}},
	})
	delete(config, "corpus")
	mistakes(t, "export", config, map[string]map[string]any{"is needed by format redsi": nil})
}
