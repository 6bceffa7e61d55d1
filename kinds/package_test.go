package kinds_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/corpora/dedup"
	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/corpora/nq320k"
	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/system/errtest"
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
	folder, err := filepath.Abs(filepath.Join("..", "assets", "tokenizers"))
	errtest.None(t, err)
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
		if !strings.Contains(card, want) {
			t.Errorf("the card lacks %q:\n%s", want, card)
		}
	}
	for target, want := range map[string]string{
		"step.package.several": "several folders have a metadata.json: name one as folder (data/htmlnorm/pageid, data/htmlnorm/url)",
		"step.package.missing": "data/htmlnorm/url/documents.jsonl.gz is missing; a package has documents.jsonl.gz, ",
		"step.package.none":    "no folder of the files has a metadata.json",
	} {
		errtest.Says(t, errtest.Of(l.try(l.plan(file, vars, target))), want)
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

const orderPipeline = `
step "dedup" "of" {
  for_each     = { default = null, dev_first = "dev_first", train_first = "train_first" }
  train        = local.train.headers
  dev          = local.dev.headers
  pages        = step.pages.nq.table
  key          = "page_id"
  record_order = each.value
}
step "dedup" "swapped" {
  train = local.dev.headers
  dev   = local.train.headers
  key   = "url"
}
step "text_examples" "swapped" {
  headers = local.dev.headers
  records = local.train.records
  forms   = ["simplified"]
}
step "serialize" "all" {
  for_each = {
    dev_first   = [local.dev.records, local.train.records]
    train_first = [local.train.records, local.dev.records]
    train       = [local.train.records]
    twice       = [local.dev.records, local.train.records, local.dev.records]
  }
  records = each.value
  form    = "simplified"
}
step "serialize" "documents" {
  records   = local.records
  documents = step.dedup.of["default"].documents
  form      = "simplified"
}
step "dedup" "longest" {
  for_each = {
    dev_first   = step.serialize.all["dev_first"].corpus
    train_first = step.serialize.all["train_first"].corpus
    train       = step.serialize.all["train"].corpus
    twice       = step.serialize.all["twice"].corpus
    documents   = step.serialize.documents.corpus
  }
  train          = local.train.headers
  dev            = local.dev.headers
  pages          = step.pages.nq.table
  texts          = each.value
  key            = "page_id"
  representative = "longest_text"
}
`

// grouped are the documents and queries of a dedup step.
func (l *local) grouped(out map[string]artifacts.Artifact, address string) (docs []dedup.Document, queries []dedup.Query) {
	l.t.Helper()
	err := errors.Join(
		dedup.ReadDocuments(bytes.NewReader(l.bytes(out[address+".documents"])), func(d *dedup.Document) error { docs = append(docs, *d); return nil }),
		dedup.ReadQueries(bytes.NewReader(l.bytes(out[address+".queries"])), len(docs), func(q *dedup.Query) error { queries = append(queries, *q); return nil }))
	errtest.None(l.t, err)
	return docs, queries
}

// TestRecordOrder: the order of records numbers documents and chooses which snapshot
// stands for them, and moves no count and no query to another page.
func TestRecordOrder(t *testing.T) {
	t.Parallel()
	l := newLocal(t)
	out := l.outputs(write(t, t.TempDir(), "p.hcl", fmt.Sprintf(generatedRecords, 12, 40, 20)+orderPipeline), nil, "step.dedup.of")
	byDefault := out[`step.dedup.of["default"].documents`]
	if byDefault.Digest != out[`step.dedup.of["dev_first"].documents`].Digest {
		t.Error("dev_first is not the default")
	}
	page := map[int64]string{} // key of each record's document
	for _, c := range []struct {
		order       string
		first, last nq.Split
	}{{"dev_first", nq.Dev, nq.Train}, {"train_first", nq.Train, nq.Dev}} {
		docs, queries := l.grouped(out, `step.dedup.of["`+c.order+`"]`)
		if q, d := queries[0], docs[0]; q.Split != c.first || q.Doc != 0 || d.Split != c.first || d.ExampleID != q.ExampleID {
			t.Errorf("%s: document 0 is %+v, the first query %+v", c.order, d, q)
		}
		if last := queries[len(queries)-1].Split; last != c.last || len(queries) != 60 {
			t.Errorf("%s: %d queries, the last is of %s", c.order, len(queries), last)
		}
		next := int32(0)
		for _, q := range queries {
			d := docs[q.Doc]
			if q.Doc == next {
				next++
				if d.ExampleID != q.ExampleID || d.Split != q.Split {
					t.Errorf("%s: document %d is of %s example %d, its first query is %+v", c.order, d.Doc, d.Split, d.ExampleID, q)
				}
			} else if q.Doc > next {
				t.Errorf("%s: document %d comes before document %d", c.order, q.Doc, next)
			}
			if was := page[q.ExampleID]; was != "" && was != d.Key {
				t.Errorf("example %d is of page %s and %s", q.ExampleID, was, d.Key)
			}
			page[q.ExampleID] = d.Key
		}
	}
	var dev, train groupCounts
	l.json(out[`step.dedup.of["dev_first"].counts`], &dev)
	l.json(out[`step.dedup.of["train_first"].counts`], &train)
	if dev != train || dev.Documents.Union == 0 {
		t.Errorf("counts %+v and %+v", dev, train)
	}
}

// TestRecordTexts: texts are those of their records in whatever order they come, and
// missing, foreign and repeated ones are refused; so are headers of the other split, and
// records that are not those of their headers.
func TestRecordTexts(t *testing.T) {
	t.Parallel()
	l := newLocal(t)
	file := write(t, t.TempDir(), "p.hcl", fmt.Sprintf(generatedRecords, 12, 40, 20)+orderPipeline)
	out := l.outputs(file, nil, `step.dedup.longest["dev_first"]`, `step.dedup.longest["train_first"]`)
	a, b := out[`step.dedup.longest["dev_first"].documents`], out[`step.dedup.longest["train_first"].documents`]
	if a.Size == 0 || a.Digest != b.Digest {
		t.Errorf("documents depend on the order of texts: %s, %s", a.Digest, b.Digest)
	}
	for _, c := range []struct{ target, want string }{
		{`step.dedup.longest["train"]`, "dev example "},
		{`step.dedup.longest["train"]`, "the corpus has no text for this record"},
		{`step.dedup.longest["twice"]`, " has two: serialize the records of each extract step once"},
		{`step.dedup.longest["documents"]`, "document 0 names no record: serialize without documents"},
		{"step.text_examples.swapped", ": give headers and records of the same extract steps, in one order"},
		{"step.dedup.swapped", `is of train: give the headers of an extract step with split = "dev"`},
	} {
		errtest.Says(t, errtest.Of(l.try(l.plan(file, nil, c.target))), c.want)
	}
}

// overlapQueries have a leak of each class, and a tab.
var overlapQueries = []dedup.Query{
	{ExampleID: 0, Split: nq.Train, Question: "who wrote the first book of it", Doc: 0, Name: "q-a"},
	{ExampleID: 0, Split: nq.Train, Question: "who wrote the first book of it", Doc: 1, Name: "q-a"},
	{ExampleID: 1, Split: nq.Train, Question: "where is\tthe river", Doc: 2},
	{ExampleID: 2, Split: nq.Dev, Question: "Who wrote the first book of it?", Doc: 1},
	{ExampleID: 3, Split: nq.Dev, Question: "how far is it to the other side", Doc: 3},
	{ExampleID: 4, Split: nq.Test, Question: "who wrote the first book of it", Doc: 3},
	{ExampleID: 5, Split: nq.Test, Question: "how far is it to the other sides", Doc: 3},
	{ExampleID: 6, Split: nq.Test, Question: "where is the river", Doc: 2},
	{ExampleID: 7, Split: nq.Test, Question: "quite another", Doc: 0},
}

var overlapTexts = []string{
	"Somebody asked who wrote the first book of it and nobody knew the answer to that.",
	"A long text of some words that says nothing of what is asked at all, and then it ends.",
	"a long text of some words -- that says nothing of what is asked at all; and then it ends!",
	"A long text of some words that says nothing of what is asked at all, and then it ends well.",
	"A long text of some words that says nothing of what is asked at all, and then it ends.",
	"How far is it (to the other side)? Nobody knows.",
}

func TestOverlap(t *testing.T) {
	l := newLocal(t)
	queries := l.lines(overlapQueries)
	corpus := l.corpusOf(overlapTexts)
	r := l.made("overlap", map[string]any{"queries": queries, "corpus": corpus, "document_shingle": int64(1)})
	l.declared("overlap", "overlap", l.Registry.Lookup("overlap").Outputs, r)
	for output, want := range map[string]string{
		"query_pairs": "split\tid\tname\tquery\tother_split\tother_id\tother_name\tother_query\tclass\tsimilarity\tsame_target\n" +
			"dev\t2\t\tWho wrote the first book of it?\ttrain\t0\tq-a\twho wrote the first book of it\tnormalised\t1\ttrue\n" +
			"test\t4\t\twho wrote the first book of it\ttrain\t0\tq-a\twho wrote the first book of it\texact\t1\tfalse\n" +
			"test\t4\t\twho wrote the first book of it\tdev\t2\t\tWho wrote the first book of it?\tnormalised\t1\tfalse\n" +
			"test\t6\t\twhere is the river\ttrain\t1\t\twhere is\\tthe river\tnormalised\t1\ttrue\n",
		"document_pairs": "doc\tother_doc\tclass\tsimilarity\n2\t1\tnormalised\t1\n3\t1\tnear\t0.947368\n4\t1\texact\t1\n",
		"verbatim": "split\tid\tname\tquery\tdoc\tsame_target\tdocuments\n" +
			"train\t0\tq-a\twho wrote the first book of it\t0\ttrue\t1\n" +
			"dev\t2\t\tWho wrote the first book of it?\t0\tfalse\t1\n" +
			"dev\t3\t\thow far is it to the other side\t5\tfalse\t1\n" +
			"test\t4\t\twho wrote the first book of it\t0\tfalse\t1\n",
	} {
		if diff := cmp.Diff(want, string(l.bytes(r.Outputs[output]))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", output, diff)
		}
	}
	l.says(r.Outputs["report"], map[string]any{
		"queries.train": 2.0, "between.test_train.exact": 1.0, "between.test_train.normalised": 1.0, "between.test_train.near": 0.0, "between.test_train.any": 2.0,
		"between.test_train.percent": 50.0, "between.test_train.same_target": 1.0,
		"documents.documents": 6.0, "documents.exact": 1.0, "documents.normalised": 1.0, "documents.near": 1.0, "documents.any": 3.0,
		"verbatim.queries": 5.0, "verbatim.short": 3.0, "verbatim.standing": 4.0, "verbatim.relevant": 1.0, "verbatim.splits.dev": 2.0,
	})
	l.counted(r, map[string]int64{"test_in_train": 2, "dev_in_train": 1, "test_in_dev": 1})

	r = l.made("overlap", map[string]any{"queries": queries, "threshold": 0.7})
	if s := string(l.bytes(r.Outputs["query_pairs"])); !strings.Contains(s, "to the other side\tnear\t0.777778\ttrue\n") {
		t.Error(s)
	}
	l.says(r.Outputs["report"], map[string]any{"documents": nil, "verbatim": nil, "between.test_dev.near": 1.0})
	if s := string(l.bytes(r.Outputs["document_pairs"])); s != "doc\tother_doc\tclass\tsimilarity\n" {
		t.Error(s)
	}
	bad := l.lines([]dedup.Query{{ExampleID: 7, Split: "validation", Question: "q"}})
	errtest.Says(t, errtest.Of(l.do("overlap", map[string]any{"queries": bad})), `queries: line 1: example 7 is of split "validation"`)
}

const sharesPipeline = `
variable "t5" {}
variable "bert" {}
variable "fraction" { default = 1 }
variable "paper" { default = {} }
step "download" "t5" { urls = [var.t5] }
step "download" "bert" { urls = [var.bert] }
step "dedup" "nq" {
  for_each  = toset(["text4k", "url", "title", "page_id"])
  train     = local.train.headers
  dev       = local.dev.headers
  pages     = step.pages.nq.table
  tokenizer = step.download.bert.files
  key       = each.key
}
step "dedup_diagnostics" "nq" {
  train     = local.train.headers
  dev       = local.dev.headers
  pages     = step.pages.nq.table
  tokenizer = step.download.bert.files
}
step "substitutions" "nq" {
  records      = local.dev.records
  t5_tokenizer = step.download.t5.files
}
step "revision_variation" "nq" { records = local.records }
step "serialize" "nq" {
  for_each     = toset(["ncinorm", "htmlnorm"])
  records      = local.records
  documents    = step.dedup.nq["title"].documents
  form         = each.key
  t5_tokenizer = step.download.t5.files
}
step "first_tokens" "nq" {
  a            = step.serialize.nq["ncinorm"].corpus
  b            = step.serialize.nq["htmlnorm"].corpus
  t5_tokenizer = step.download.t5.files
}
step "shares" "nq" {
  train        = local.train.headers
  dev          = local.dev.headers
  records      = local.dev.records
  pages        = step.pages.nq.table
  tokenizer    = step.download.bert.files
  a            = step.serialize.nq["ncinorm"].corpus
  b            = step.serialize.nq["htmlnorm"].corpus
  t5_tokenizer = step.download.t5.files
  variation    = step.revision_variation.nq.report
  fractions    = { train = var.fraction, dev = 1 }
  paper        = var.paper
  samples      = 1000
}
`

// reportedShares is what the tests look at.
type reportedShares struct {
	Shares map[string]struct {
		Value     float64
		Low, High *float64
		Clusters  int
		How       string
		Paper     *float64
		Verdict   string
	}
	Records map[string]int
}

// TestShares: of all records every share is what the kinds that only count report; of some
// of them it has limits where it can vary, and says how it can be compared.
func TestShares(t *testing.T) {
	t.Parallel()
	l := newLocal(t)
	text := fmt.Sprintf(generatedRecords, 55, 110, 50) + sharesPipeline
	file, vars := write(t, t.TempDir(), "shares.hcl", text), tokenizers(t)
	out := l.outputs(file, vars)
	var all reportedShares
	l.json(out["step.shares.nq.report"], &all)

	want := map[string]float64{}
	for _, key := range []string{"text4k", "url", "title", "page_id"} {
		var c struct {
			Records, Documents dedup.Counts
			Resolved           dedup.Resolution `json:"resolution"`
		}
		l.json(out[fmt.Sprintf("step.dedup.nq[%q].counts", key)], &c)
		want["documents_train_"+key] = 100 * float64(c.Documents.Train) / float64(c.Records.Train)
		want["documents_dev_"+key] = 100 * float64(c.Documents.Dev) / float64(c.Records.Dev)
		if key == "title" {
			want["documents"] = 100 * float64(c.Documents.Union) / float64(c.Records.Union)
			want["unresolved"] = 100 * float64(c.Resolved.UnresolvedRecords) / float64(c.Records.Union)
		}
	}
	var d dedup.Diagnostics
	l.json(out["step.dedup_diagnostics.nq.report"], &d)
	want["affected_train"], want["affected_dev"] = d.Affected[nq.Train].Percent, d.Affected[nq.Dev].Percent
	want["coverage_title"], want["coverage_page_id"] = d.Coverage.Percent, d.ReferenceCoverage.Percent
	var s nq.SubstitutionReport
	l.json(out["step.substitutions.nq.report"], &s)
	want["substituted"] = 100 * s.Share
	var p dedup.PrefixReport
	l.json(out["step.first_tokens.nq.report"], &p)
	want["differ"], want["unknown_a"], want["unknown_b"] = p.DifferPercent, p.UnknownAPercent, p.UnknownBPercent
	var v struct{ Texts, Revisions int }
	l.json(out["step.revision_variation.nq.report"], &v)
	want["texts"] = 100 * float64(v.Texts) / float64(v.Revisions)

	if len(all.Shares) != len(want) {
		t.Errorf("%d shares, want %d", len(all.Shares), len(want))
	}
	for name, w := range want {
		got := all.Shares[name]
		if math.Abs(got.Value-w) > 1e-9 || got.Low != nil || got.High != nil || got.How != "whole" || got.Verdict != "" {
			t.Errorf("%s of all records: %+v, want %v", name, got, w)
		}
	}
	if all.Shares["affected_train"].Value == 0 || all.Shares["unresolved"].Value == 0 || all.Shares["substituted"].Value == 0 || all.Shares["unknown_a"].Value == 0 {
		t.Error("the generated corpus has none of what is counted")
	}

	vars["fraction"] = "0.25"
	vars["paper"] = fmt.Sprintf(`{ substituted = "%.2f", unresolved = "0.0495", affected_train = "0.01", affected_dev = "99.9", coverage_title = "75.3", differ = "92.6", unknown_a = "%.1f", documents = "99/100", documents_train_title = "1/100", documents_dev_url = "90.5", texts = "104" }`,
		all.Shares["substituted"].Value, all.Shares["unknown_a"].Value)
	var some reportedShares
	l.json(l.outputs(file, vars, "step.shares.nq")["step.shares.nq.report"], &some)
	for name, w := range map[string]struct{ how, verdict string }{
		"substituted":           {"whole", "inside"},
		"unresolved":            {"", "cannot be told"}, // too few of so few records
		"affected_train":        {"9 clusters have it", "cannot be told"},
		"affected_dev":          {"grows with the records", "consistent"},
		"differ":                {"2 clusters lack it", "cannot be told"}, // nearly all have it
		"unknown_a":             {"documents by their records", "inside"},
		"documents_train_title": {"falls with the records", "consistent"},
		"documents":             {"falls with the records", "outside"},
		"documents_dev_url":     {"whole", "outside"},
		"texts":                 {"grows and falls with the records", "cannot be told"},
		"documents_train_url":   {"falls with the records", ""},
	} {
		got := some.Shares[name]
		if w.how != "" && got.How != w.how || got.Verdict != w.verdict {
			t.Errorf("%s of some records: %+v, want %+v", name, got, w)
		}
		if low := got.How == "whole" || strings.HasPrefix(got.How, "falls") || strings.HasPrefix(got.How, "grows and"); (got.Low == nil) != low {
			t.Errorf("%s: low %v", name, got.Low)
		}
	}
	grown := some.Shares["affected_train"]
	if *grown.Low >= grown.Value || grown.High != nil || *some.Shares["affected_dev"].Low != some.Shares["affected_dev"].Value {
		t.Errorf("%+v", grown)
	}

	bad := strings.NewReplacer("dev = 1 }", "dev = 2 }", "paper        = var.paper", `paper = { nothing = "1", differ = "1e3" }`).Replace(text)
	_, ds := pipeline.Load(map[string][]byte{"bad.hcl": []byte(bad)}, pipeline.Options{Registry: l.Registry, Vars: vars})
	for _, want := range []string{"dev: want a number above 0 and at most 1, got 2", `paper["nothing"]: is no share; the shares are [substituted`, `"1e3" is neither a number`} {
		if !ds.HasErrors() || !strings.Contains(ds.Err().Error(), want) {
			t.Errorf("%q is not in %v", want, ds.Err())
		}
	}
}

// page builds one full-format record token by token, as NQ has it.
type page struct {
	html   strings.Builder
	tokens []map[string]any
}

// raw appends HTML that has no token.
func (p *page) raw(html string) *page {
	p.html.WriteString(html)
	return p
}

func (p *page) token(html, stored string, tag bool) {
	start := p.html.Len()
	p.html.WriteString(html)
	p.tokens = append(p.tokens, map[string]any{"token": stored, "html_token": tag, "start_byte": start, "end_byte": p.html.Len()})
}

// tag appends a tag that is a token; NQ drops attributes.
func (p *page) tag(html string) *page {
	name, _, _ := strings.Cut(strings.TrimSuffix(html, ">"), " ")
	p.token(html, name+">", true)
	return p
}

// words appends tokens: "a|b" are two without a blank between them, "a=b" is a
// token that NQ stores as b.
func (p *page) words(text string) *page {
	for i, word := range strings.Fields(text) {
		if i > 0 {
			p.raw(" ")
		}
		for _, t := range strings.Split(word, "|") {
			html, stored, ok := strings.Cut(t, "=")
			if !ok {
				stored = html
			}
			p.token(html, stored, false)
		}
	}
	return p
}

func (p *page) record(t *testing.T, id int, title string) string {
	t.Helper()
	b, err := json.Marshal(map[string]any{"example_id": id, "question_text": "who", "question_tokens": []string{"who"},
		"document_url": fmt.Sprintf("https://en.wikipedia.org//w/index.php?title=%s&amp;oldid=%d", strings.ReplaceAll(title, " ", "_"), id), "document_title": title,
		"document_html": p.html.String(), "document_tokens": p.tokens, "annotations": []any{}, "long_answer_candidates": []any{}})
	errtest.None(t, err)
	return string(b) + "\n"
}

func newPage(title string) *page {
	p := new(page)
	p.raw("<HTML><HEAD><TITLE>").words(title + " - Wikipedia").raw("</TITLE></HEAD><BODY>")
	p.tag(`<H1 id="firstHeading">`).words(title).tag("</H1>")
	p.raw(`<DIV id="jump-to-nav" class="mw-jump">`).words("Jump to|: navigation|, search").raw("</DIV>\n")
	return p
}

const paperTextPipeline = `
variable "files" { type = list(string) }
variable "t5" {}
variable "bert" {}
step "download" "nq" { urls = var.files }
step "download" "t5" { urls = [var.t5] }
step "download" "bert" { urls = [var.bert] }
step "extract" "train" {
  files = step.download.nq.files
  split = "train"
}
step "dedup" "title" {
  train     = step.extract.train.headers
  key       = "title"
  tokenizer = step.download.bert.files
}
step "serialize" "nq" {
  for_each       = toset(["ncinorm", "htmlnorm"])
  records        = step.extract.train.records
  documents      = step.dedup.title.documents
  form           = each.key
  t5_tokenizer   = step.download.t5.files
  bert_tokenizer = step.download.bert.files
}
step "first_tokens" "forms" {
  a            = step.serialize.nq["ncinorm"].corpus
  b            = step.serialize.nq["htmlnorm"].corpus
  t5_tokenizer = step.download.t5.files
  examples     = ["Selena Gomez", "Matt Lanter"]
}
`

// TestPaperFirstTokens: the four lines of tab:ipa-tokenization-example, from NQ
// records through the kinds with both real tokenizers.
func TestPaperFirstTokens(t *testing.T) {
	t.Parallel()
	selena := newPage("Selena Gomez")
	selena.raw(`<TABLE class="infobox vcard"><TR><TH>`).words("Born").raw("</TH><TD>").words("July 22|, 1992").raw("</TD></TR></TABLE>\n")
	selena.tag("<P>").raw("<B>").words("Selena Marie Gomez").raw("</B> ")
	selena.words("(|/|sᵻˈliːnə ˈɡoʊmɛz|/|; born July 22|, 1992|)").raw(`<SUP class="reference">[1]</SUP> `) // NQ has no tokens for citations
	selena.words("is an American singer and actress|. She began her career starring in the children|'s television series").tag("</P>")
	matt := newPage("Matt Lanter")
	matt.tag("<P>").raw("<B>").words("Matthew MacKendree \"=``|Matt|\"='' Lanter").raw("</B> ")
	matt.words("(|born April 1|, 1983|) is an American actor|.").tag("</P>")

	dir := t.TempDir()
	vars := tokenizers(t)
	vars["files"] = list(write(t, dir, "nq.jsonl.gz", selena.record(t, 1, "Selena Gomez")+matt.record(t, 2, "Matt Lanter")))
	l := newLocal(t)
	out := l.outputs(write(t, dir, "forms.hcl", paperTextPipeline), vars)
	var rep struct {
		Examples []struct{ Title, A, B string }
	}
	l.json(out["step.first_tokens.forms.report"], &rep)
	want := []struct{ Title, A, B string }{
		{"Selena Gomez", "selena gomez selena marie gomez ( / s<unk>li<unk>n<unk> <unk>o<unk>m",
			"selena gomez selena marie gomez is an american singer and actress. she began her career starring in the children"},
		{"Matt Lanter", "matt lanter matthew mackendree <unk> matt '' lanter ( born april 1,",
			`matt lanter matthew mackendree "matt" lanter (born april 1, 1983) is an american`},
	}
	if d := cmp.Diff(want, rep.Examples); d != "" {
		t.Error(d)
	}
}
