package export

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/redsi/redsi/internal/nq"
)

// Card is what a dataset card says beyond the Summary of an export.
type Card struct {
	Name       string     // such as "NQ320K-PageID"
	Origin     Origin     // whose questions and texts they are
	Key        string     // label of the deduplication key
	KeyDoc     string     // what it compares
	Serializer string     // name of the text's form; "" without text
	Settings   []Setting  // how it was made, in order: options with their values
	Sources    []Setting  // input files and their digests
	Counts     []KeyCount // documents under every key, as tab:dedup-counts
	Unresolved int        // records whose revision has no PageID
	Command    string     // what rebuilds it; "" to leave it out
}

// Origin says where a collection's questions and texts are from: it decides the
// card's words on licence and attribution.
type Origin string

// The origins; the zero value is NaturalQuestions.
const (
	NaturalQuestions Origin = "natural_questions"
	Generated        Origin = "generated" // by this program: nobody's text
	Other            Origin = "other"     // another corpus in the same format
)

// words are what the card says of an origin.
var words = map[Origin]struct{ license, subject, licence string }{
	"":               {"cc-by-sa-3.0", naturalQuestions, licence},
	NaturalQuestions: {"cc-by-sa-3.0", naturalQuestions, licence},
	Generated: {"apache-2.0", "Generated questions, each with the generated page that answers it, for trying out programs: **this is not Natural Questions**, and no number measured on it says anything about it",
		"\n## Licence\n\nQuestions and pages are generated; no text of Natural Questions or Wikipedia is in them.\n"},
	Other: {"", "Questions, each with the document that answers it, for training and evaluating retrieval",
		"\n## Licence\n\nThat of the corpus that the records are from. It was changed by selection, grouping and\nconversion to text.\n"},
}

const naturalQuestions = "Questions of [Natural Questions](https://ai.google.com/research/NaturalQuestions), each with the Wikipedia document that answers it, for training and evaluating retrieval"

// Setting is one name with its value.
type Setting struct{ Name, Value string }

// KeyCount is one row of tab:dedup-counts.
type KeyCount struct {
	Key               string
	Train, Dev, Union int
}

// WriteCard writes README.md: metadata that dataset hosts read, counts, files,
// making and licence. Equal arguments give equal bytes.
func WriteCard(w io.Writer, c Card, s Summary) error {
	if _, ok := words[c.Origin]; !ok {
		return fmt.Errorf("a dataset card knows no origin %q", c.Origin)
	}
	var b bytes.Buffer
	c.header(&b, s)
	fmt.Fprintf(&b, "# %s\n\n", c.Name)
	fmt.Fprintf(&b, "%s: %s documents, %s train and %s dev queries.\n", words[c.Origin].subject,
		thousands(s.Documents), thousands(s.Train), thousands(s.Dev))
	for _, split := range splits {
		if have := s.splits(); len(have) > 0 && !slices.Contains(have, split) {
			fmt.Fprintf(&b, "It has no %s split.\n", split)
		}
	}
	fmt.Fprintf(&b, "\nTwo snapshots are the same document if they have the same **%s** key: %s.\n", inline(c.Key), inline(c.KeyDoc))
	switch {
	case s.Texts == 0:
		b.WriteString("\nThe documents are exported without text.\n")
	case s.Texts < s.Documents:
		fmt.Fprintf(&b, "\nText is the **%s** form of each document's representative snapshot; %s documents have none.\n", inline(c.Serializer), thousands(s.Documents-s.Texts))
	default:
		fmt.Fprintf(&b, "\nText is the **%s** form of each document's representative snapshot.\n", inline(c.Serializer))
	}
	if c.Unresolved > 0 {
		fmt.Fprintf(&b, "\n%s records have a revision without a known page; they are grouped by a fallback key and have no `page_id`.\n", thousands(c.Unresolved))
	}
	if len(c.Counts) > 0 {
		b.WriteString("\n## Documents under each deduplication key\n\n| Key | Train | Dev | Union |\n|---|---:|---:|---:|\n")
		for _, k := range c.Counts {
			fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", cell(k.Key), thousands(k.Train), thousands(k.Dev), thousands(k.Union))
		}
		b.WriteString("\nTrain and Dev count within the split, Union over both.\n")
	}
	c.files(&b, s)
	settings(&b, "How it was made", c.Settings)
	if c.Command != "" {
		fmt.Fprintf(&b, "\nRebuild it with\n\n    %s\n", inline(c.Command))
	}
	settings(&b, "Sources", c.Sources)
	b.WriteString(words[c.Origin].licence)
	_, err := w.Write(b.Bytes())
	return err
}

const licence = `
## Licence and attribution

Questions and annotations are from Natural Questions (Kwiatkowski et al., 2019), the
texts from English Wikipedia, written by its contributors, who are listed in the
history of each page (the url of a document names the revision). Both are licensed
CC BY-SA 3.0 (https://creativecommons.org/licenses/by-sa/3.0/), and so is this
collection. It was changed by selection, grouping and conversion to text.

` + "```bibtex" + `
@article{kwiatkowski2019nq,
  title   = {Natural Questions: A Benchmark for Question Answering Research},
  author  = {Kwiatkowski, Tom and others},
  journal = {Transactions of the Association for Computational Linguistics},
  volume  = {7},
  pages   = {453--466},
  year    = {2019}
}
` + "```\n"

// header is the YAML block of a dataset card; strings are JSON, which YAML reads.
func (c Card) header(b *bytes.Buffer, s Summary) {
	name, _ := json.Marshal(c.Name)
	b.WriteString("---\n")
	if l := words[c.Origin].license; l != "" {
		fmt.Fprintf(b, "license: %s\n", l)
	}
	fmt.Fprintf(b, "language:\n- en\npretty_name: %s\ntask_categories:\n- text-retrieval\nsize_categories:\n- %s\n", name, sizeCategory(s.Documents))
	if has(s, "parquet/documents.parquet") {
		b.WriteString("configs:\n- config_name: documents\n  data_files: parquet/documents.parquet\n")
		for i, split := range s.splits() {
			if i == 0 {
				b.WriteString("- config_name: queries\n  data_files:\n")
			}
			fmt.Fprintf(b, "  - split: %s\n    path: parquet/queries-%s.parquet\n", split, split)
		}
	}
	b.WriteString("---\n\n")
}

// splits are those that have queries.
func (s Summary) splits() []nq.Split {
	var have []nq.Split
	for _, split := range splits {
		if map[nq.Split]int{nq.Train: s.Train, nq.Dev: s.Dev}[split] > 0 {
			have = append(have, split)
		}
	}
	return have
}

func has(s Summary, name string) bool {
	return slices.ContainsFunc(s.Files, func(f File) bool { return f.Name == name })
}

// what says what a file is, by its name.
var what = map[string]string{
	"jsonl/documents.jsonl.gz":      "documents, one JSON object a line: id, title, text, key, url, oldid, page_id, example_id (the record whose snapshot represents it), train and dev (its queries)",
	"jsonl/queries.train.jsonl.gz":  "queries, one JSON object a line: id (example_id), split, text, doc_id",
	"jsonl/queries.dev.jsonl.gz":    "the same for dev",
	"parquet/documents.parquet":     "documents, the same columns",
	"parquet/queries-train.parquet": "queries, the same columns",
	"parquet/queries-dev.parquet":   "the same for dev",
	"trec/topics.train.trec":        "topics in TREC format",
	"trec/topics.dev.trec":          "the same for dev",
	"trec/topics.train.tsv":         "topics as id, tab, question",
	"trec/topics.dev.tsv":           "the same for dev",
	"trec/qrels.train.txt":          "relevance judgements for trec_eval: query, 0, document, 1",
	"trec/qrels.dev.txt":            "the same for dev",
	"beir/corpus.jsonl":             "documents in the BEIR layout",
	"beir/queries.jsonl":            "queries of both splits in the BEIR layout",
	"beir/qrels/train.tsv":          "relevance judgements in the BEIR layout",
	"beir/qrels/dev.tsv":            "the same for dev",
}

func (c Card) files(b *bytes.Buffer, s Summary) {
	if len(s.Files) == 0 {
		return
	}
	b.WriteString("\n## Files\n\n| File | Bytes | SHA-256 | Content |\n|---|---:|---|---|\n")
	for _, f := range s.Files {
		fmt.Fprintf(b, "| `%s` | %s | `%s` | %s |\n", f.Name, thousands(int(f.Bytes)), f.SHA256, what[f.Name])
	}
	if s.Respaced > 0 {
		fmt.Fprintf(b, "\nIn the topics, line breaks, tabs and runs of blanks are one blank, which changed %s questions; the other formats keep them.\n", thousands(s.Respaced))
	}
	if s.Escaped > 0 {
		fmt.Fprintf(b, "\nIn the topics in TREC format `&`, `<` and `>` are the entities `&amp;`, `&lt;` and `&gt;`, in %s questions.\n", thousands(s.Escaped))
	}
}

func settings(b *bytes.Buffer, title string, list []Setting) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintf(b, "\n## %s\n\n", title)
	for _, s := range list {
		fmt.Fprintf(b, "- %s: `%s`\n", inline(s.Name), strings.ReplaceAll(inline(s.Value), "`", "'"))
	}
}

// inline keeps a value on its line.
func inline(s string) string { return strings.NewReplacer("\n", " ", "\r", " ").Replace(s) }

// cell keeps a value in its table cell.
func cell(s string) string { return strings.ReplaceAll(inline(s), "|", "\\|") }

// thousands prints 109229 as "109,229".
func thousands(n int) string { return humanize.Comma(int64(n)) }

// sizeCategory is the host's size class of n.
func sizeCategory(n int) string {
	limits := []struct {
		below int
		name  string
	}{
		{1_000, "n<1K"}, {10_000, "1K<n<10K"}, {100_000, "10K<n<100K"},
		{1_000_000, "100K<n<1M"}, {10_000_000, "1M<n<10M"},
	}
	for _, l := range limits {
		if n < l.below {
			return l.name
		}
	}
	return "n>10M"
}
