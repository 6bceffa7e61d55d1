package kinds_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/redsi/redsi/internal/system/errtest"
)

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
	root, err := filepath.Abs("..")
	errtest.None(t, err)
	l := newLocal(t)
	out := l.outputs(write(t, dir, "forms.hcl", paperTextPipeline), map[string]string{
		"files": list(write(t, dir, "nq.jsonl.gz", selena.record(t, 1, "Selena Gomez")+matt.record(t, 2, "Matt Lanter"))),
		"t5":    filepath.Join(root, "assets", "tokenizers", "t5-tokenizer.json.gz"),
		"bert":  filepath.Join(root, "assets", "tokenizers", "bert-base-uncased-tokenizer.json.gz"),
	})
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
