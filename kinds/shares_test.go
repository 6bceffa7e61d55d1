package kinds_test

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/corpora/dedup"
	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/system/errtest"
)

const sharesPipeline = `
variable "t5" {}
variable "bert" {}
variable "fraction" { default = 1 }
variable "paper" { default = {} }
step "download" "t5" { urls = [var.t5] }
step "download" "bert" { urls = [var.bert] }
step "synth" "nq" {
  pages           = 55
  train_questions = 110
  dev_questions   = 50
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
	root, err := filepath.Abs("..")
	errtest.None(t, err)
	l := newLocal(t)
	file := write(t, t.TempDir(), "shares.hcl", sharesPipeline)
	vars := map[string]string{
		"t5":   filepath.Join(root, "assets", "tokenizers", "t5-tokenizer.json.gz"),
		"bert": filepath.Join(root, "assets", "tokenizers", "bert-base-uncased-tokenizer.json.gz"),
	}
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

	bad := strings.NewReplacer("dev = 1 }", "dev = 2 }", "paper        = var.paper", `paper = { nothing = "1", differ = "1e3" }`).Replace(sharesPipeline)
	_, ds := pipeline.Load(map[string][]byte{"bad.hcl": []byte(bad)}, pipeline.Options{Registry: l.Registry, Vars: vars})
	for _, want := range []string{"dev: want a number above 0 and at most 1, got 2", `paper["nothing"]: is no share; the shares are [substituted`, `"1e3" is neither a number`} {
		if !ds.HasErrors() || !strings.Contains(ds.Err().Error(), want) {
			t.Errorf("%q is not in %v", want, ds.Err())
		}
	}
}
