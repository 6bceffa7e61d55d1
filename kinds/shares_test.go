package kinds_test

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/corpora/dedup"
	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/system/testkit"
)

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

	testkit.Is(t, len(all.Shares), len(want), "shares")
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
		testkit.That(t, ds.HasErrors() && strings.Contains(ds.Err().Error(), want), want, "is not in", ds.Err())
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
	testkit.None(t, err)
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
	testkit.Deep(t, rep.Examples, want)
}
