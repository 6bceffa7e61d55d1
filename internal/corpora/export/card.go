package export

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/corpora/nq320k"
	"github.com/redsi/redsi/internal/system/lists"
)

// Card is the content of a dataset card beyond the Summary of an export.
type Card struct {
	Name       string     // such as "NQ320K-PageID"
	Origin     Origin     // of the questions and texts
	Language   string     // of the questions and texts, such as "de"; "": the origin's
	Key        string     // label of the deduplication key
	KeyDoc     string     // the value that the key compares
	Serializer string     // name of the text's form; "" without text
	Settings   []Setting  // options with their values, in order
	Sources    []Setting  // input files and their digests
	Counts     []KeyCount // documents under every key, as tab:dedup-counts
	Unresolved int        // records whose revision has no PageID
	Command    string     // rebuilds the collection; "" to leave it out
}

// Origin is the source of a collection's questions and texts. It decides the card's words on licence and attribution.
type Origin string

const (
	NaturalQuestions Origin = "natural_questions"
	Generated        Origin = "generated" // by this program
	Other            Origin = "other"     // another corpus in the same format
)

const ccBySA3 = "https://creativecommons.org/licenses/by-sa/3.0/"

// words are the card's words about an origin.
var words = map[Origin]struct{ license, licenseURL, language, subject, licence string }{
	NaturalQuestions: {"cc-by-sa-3.0", ccBySA3, "en", "Questions of [Natural Questions](https://ai.google.com/research/NaturalQuestions), each with the Wikipedia document that answers it, for training and evaluating retrieval", licence},
	Generated: {"cc-by-sa-3.0", ccBySA3, "en", "Generated questions, each with the generated page that answers it, for trying out programs: **this is not Natural Questions**, and no number measured on it says anything about it",
		"\n## Licence and attribution\n\nQuestions are generated. Pages are, too, or made of articles of English Wikipedia, in which words were\n" +
			"exchanged: The Walking Dead (season 8), Readability, Color space, Capitol Hill, Ruthenium boride and Seat\n" +
			"of government, written by the contributors whom their histories list. That text is licensed CC BY-SA 3.0\n" +
			"(https://creativecommons.org/licenses/by-sa/3.0/), and so is this collection.\n"},
	Other: {"", "", "", "Questions, each with the document that answers it, for training and evaluating retrieval",
		"\n## Licence\n\nThat of the corpus that the records are from. It was changed by selection, grouping and\nconversion to text.\n"},
}

type Setting struct{ Name, Value string }

// KeyCount is one row of tab:dedup-counts.
type KeyCount struct {
	Key               string
	Train, Dev, Union int
}

// WriteCard writes README.md: hosts' metadata, counts, files, provenance and licence. Equal arguments give equal bytes.
func WriteCard(w io.Writer, c Card, s Summary) error {
	var b bytes.Buffer
	c.header(&b, s)
	fmt.Fprintf(&b, "# %s\n\n", c.Name)
	fmt.Fprintf(&b, "%s: %s documents, %s queries.\n", words[c.Origin].subject, thousands(s.Documents), s.queries())
	for _, split := range []nq.Split{nq.Train, nq.Dev} {
		if have := s.splits(); len(have) > 0 && !slices.Contains(have, split) {
			fmt.Fprintf(&b, "It has no %s split.\n", split)
		}
	}
	fmt.Fprintf(&b, "\nTwo snapshots are the same document if they have the same **%s** key: %s.\n", inline(c.Key), inline(c.KeyDoc))
	text, none := "Text is that", ""
	if c.Serializer != "" {
		text = fmt.Sprintf("Text is the **%s** form", inline(c.Serializer))
	}
	if s.Texts < s.Documents {
		none = fmt.Sprintf("; %s documents have none", thousands(s.Documents-s.Texts))
	}
	if s.Texts == 0 {
		b.WriteString("\nThe documents are exported without text.\n")
	} else {
		fmt.Fprintf(&b, "\n%s of each document's representative snapshot%s.\n", text, none)
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
	if len(s.Identifiers) > 0 {
		fmt.Fprintf(&b, "\nEvery document has an identifier of each type: %s.\n", strings.Join(s.Identifiers, ", "))
	}
	c.files(&b, s)
	loading(&b, s)
	provenance(&b, "How it was made", c.Settings, c.Command, c.Sources)
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

` + "```bibtex" + bibtex + "```\n"

const bibtex = `
@article{kwiatkowski2019nq,
  title   = {Natural Questions: A Benchmark for Question Answering Research},
  author  = {Kwiatkowski, Tom and others},
  journal = {Transactions of the Association for Computational Linguistics},
  volume  = {7},
  pages   = {453--466},
  year    = {2019}
}
`

// header is the YAML block of a dataset card; strings are JSON, which YAML reads.
func (c Card) header(b *bytes.Buffer, s Summary) {
	name, _ := json.Marshal(c.Name)
	b.WriteString("---\n")
	if l := words[c.Origin].license; l != "" {
		fmt.Fprintf(b, "license: %s\n", l)
	}
	if l := c.language(); l != "" {
		fmt.Fprintf(b, "language:\n- %s\n", l)
	}
	fmt.Fprintf(b, "pretty_name: %s\ntask_categories:\n- text-retrieval\nsize_categories:\n- %s\n", name, sizeCategory(s.Documents))
	writeConfigs(b, s.configs())
	b.WriteString("---\n\n")
}

func (c Card) language() string { return cmp.Or(c.Language, words[c.Origin].language) }

// config is a named configuration of files for programs that load data sets.
type config struct {
	name  string
	parts []part
}

// part is a split with its file; split is "" for the config's only part.
type part struct{ split, path string }

// configs lists the existing files: documents, queries by split, identifiers by type and the released layout's variant.
// Python's datasets has one reader per repository: all are Parquet or, in an export without it, JSON lines.
func (s Summary) configs() []config {
	documents, queries, identifiers := "parquet/documents.parquet", named("parquet/queries-", ".parquet"), [2]string{"parquet/identifiers-", ".parquet"}
	released := s.released()
	if has(s, documents) {
		released = nil
	} else {
		documents, queries, identifiers = "jsonl/documents.jsonl.gz", named("jsonl/queries.", ".jsonl.gz"), [2]string{"identifiers/", ".jsonl.gz"}
	}
	byName := []config{{"documents", []part{{"", documents}}}, {name: "queries"}, {name: "identifiers"}, {s.Variant.Config(), released}}
	for _, split := range s.splits() {
		byName[1].parts = append(byName[1].parts, part{string(split), queries(split)})
	}
	for _, name := range s.Identifiers {
		byName[2].parts = append(byName[2].parts, part{name, identifiers[0] + name + identifiers[1]})
	}
	return slices.DeleteFunc(byName, func(c config) bool {
		return len(c.parts) == 0 || slices.ContainsFunc(c.parts, func(p part) bool { return !has(s, p.path) })
	})
}

// released returns the splits of the released layout, if it was written.
func (s Summary) released() []part {
	if s.Variant == (nq320k.Variant{}) {
		return nil
	}
	folder := s.Variant.Folder() + "/"
	return []part{{"documents", folder + nq320k.Documents}, {"train_queries", folder + nq320k.TrainQueries}, {"validation_queries", folder + nq320k.ValidationQueries}}
}

func writeConfigs(b *bytes.Buffer, configs []config) {
	for i, c := range configs {
		if i == 0 {
			b.WriteString("configs:\n")
		}
		fmt.Fprintf(b, "- config_name: %s\n  data_files:", c.name)
		if c.parts[0].split == "" {
			fmt.Fprintf(b, " %s\n", c.parts[0].path)
			continue
		}
		b.WriteByte('\n')
		for _, p := range c.parts {
			fmt.Fprintf(b, "  - split: %s\n    path: %s\n", p.split, p.path)
		}
	}
}

func (s Summary) splits() []nq.Split {
	n := map[nq.Split]int{nq.Train: s.Train, nq.Dev: s.Dev, nq.Test: s.Test}
	return lists.Filter(nq.Splits, func(split nq.Split) bool { return n[split] > 0 })
}

// queries says how many queries each split has; few collections have a test split.
func (s Summary) queries() string {
	if s.Test == 0 {
		return fmt.Sprintf("%s train and %s dev", thousands(s.Train), thousands(s.Dev))
	}
	return fmt.Sprintf("%s train, %s dev and %s test", thousands(s.Train), thousands(s.Dev), thousands(s.Test))
}

func has(s Summary, name string) bool {
	return slices.ContainsFunc(s.Files, func(f File) bool { return f.Name == name })
}

// what describes a file by its name, a file of the released layout by the last part; train stands for every split.
var what = map[string]string{
	"jsonl/documents.jsonl.gz":      "documents, one JSON object a line: id, title, text, key, url, oldid, page_id, example_id (the record whose snapshot represents it), train, dev and, if there are any, test (its queries)",
	"jsonl/queries.train.jsonl.gz":  "queries, one JSON object a line: id (example_id), split, text, doc_id",
	"parquet/documents.parquet":     "documents, the same columns",
	"parquet/queries-train.parquet": "queries, the same columns",
	"trec/topics.train.trec":        "topics in TREC format",
	"trec/topics.train.tsv":         "topics as id, tab, question",
	"trec/qrels.train.txt":          "relevance judgements for trec_eval: query, 0, document, 1",
	"beir/corpus.jsonl":             "documents in the BEIR layout",
	"beir/queries.jsonl":            "queries of both splits in the BEIR layout",
	"beir/qrels/train.tsv":          "relevance judgements in the BEIR layout",
	CroissantFile:                   "these files and their records in the vocabulary Croissant",
	nq320k.Documents:                "documents in the layout in which NQ320K was published: docid, kind, text, title (of the URL), source_ids (examples, dev first)",
	nq320k.TrainQueries:             "queries in that layout: docid, kind, text, title (empty), source_ids (the example)",
	nq320k.ValidationQueries:        "the same for dev",
	nq320k.MetadataFile:             "that layout's description of the three files",
}

func describe(s Summary, file string) string {
	for _, split := range []string{"dev", "test"} {
		if as := strings.Replace(file, split, "train", 1); as != file && what[as] != "" {
			return "the same for " + split
		}
	}
	switch text, ok := what[file]; {
	case ok && file == "beir/queries.jsonl" && s.Test > 0:
		return strings.Replace(text, "both splits", "all splits", 1)
	case ok && s.Graded:
		text = strings.Replace(text, "query, 0, document, 1", "query, 0, document, grade", 1)
		return strings.Replace(text, "text, doc_id", "text, doc_id, grade (how relevant; 1 if not said)", 1)
	case ok:
		return text
	case strings.HasPrefix(file, "data/"):
		return what[path.Base(file)]
	case strings.HasPrefix(file, "identifiers/"):
		return "identifiers, one JSON object a line: doc_id, identifier, tokens (of the decoder)"
	case strings.HasPrefix(file, "parquet/identifiers-"):
		return "identifiers, the same columns"
	}
	return ""
}

func (c Card) files(b *bytes.Buffer, s Summary) {
	if len(s.Files) == 0 {
		return
	}
	b.WriteString("\n## Files\n\n| File | Bytes | SHA-256 | Content |\n|---|---:|---|---|\n")
	for _, f := range s.Files {
		fmt.Fprintf(b, "| `%s` | %s | `%s` | %s |\n", f.Name, thousands(int(f.Bytes)), f.SHA256, describe(s, f.Name))
	}
	if s.Renamed > 0 {
		fmt.Fprintf(b, "\nIn %s names, white space and control characters are `_`, as is a `#` that begins the name of a query.\n", thousands(s.Renamed))
	}
	if s.Respaced > 0 {
		fmt.Fprintf(b, "\nIn the topics, line breaks, tabs and runs of blanks are one blank, which changed %s questions; the other formats keep them.\n", thousands(s.Respaced))
	}
	if s.Escaped > 0 {
		fmt.Fprintf(b, "\nIn the topics in TREC format `&`, `<` and `>` are the entities `&amp;`, `&lt;` and `&gt;`, in %s questions.\n", thousands(s.Escaped))
	}
}

// loading shows how to load the collection with Python's datasets.
func loading(b *bytes.Buffer, s Summary) {
	var lines []string
	configs := s.configs()
	for _, c := range configs {
		lines = append(lines, fmt.Sprintf("%s = load_dataset(%q, %q)", strings.ReplaceAll(c.name, "-", "_"), ".", c.name))
	}
	if r := s.released(); r != nil && !slices.ContainsFunc(configs, func(c config) bool { return c.name == s.Variant.Config() }) {
		files := lists.Map(r, func(p part) string { return fmt.Sprintf("%q: %q", p.split, p.path) })
		lines = append(lines, fmt.Sprintf("released_layout = load_dataset(\"json\", data_files={%s})", strings.Join(files, ", ")))
	}
	if len(lines) > 0 {
		fmt.Fprintf(b, "\n## Loading\n\n```python\nfrom datasets import load_dataset  # \".\" is this folder or the name of its repository\n\n%s\n```\n", strings.Join(lines, "\n"))
	}
}

// provenance writes the last parts of a card: settings under a title, the command, and the sources.
func provenance(b *bytes.Buffer, title string, options []Setting, command string, sources []Setting) {
	settings(b, title, options)
	if command != "" {
		fmt.Fprintf(b, "\nRebuild it with\n\n    %s\n", inline(command))
	}
	settings(b, "Sources", sources)
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

// inline keeps a value on one line.
func inline(s string) string { return strings.NewReplacer("\n", " ", "\r", " ").Replace(s) }

// cell keeps a value in its table cell.
func cell(s string) string { return strings.ReplaceAll(inline(s), "|", "\\|") }

// thousands prints 109229 as "109,229".
func thousands(n int) string { return humanize.Comma(int64(n)) }

// sizeCategory is the host's size class of n.
func sizeCategory(n int) string {
	limit := 1_000
	for _, name := range []string{"n<1K", "1K<n<10K", "10K<n<100K", "100K<n<1M", "1M<n<10M"} {
		if n < limit {
			return name
		}
		limit *= 10
	}
	return "n>10M"
}
