package collection

import (
	"bufio"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/redsi/redsi/internal/corpora/corpus"
	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/corpora/overlap"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

type overlapConfig struct {
	Queries           step.Input `hcl:"queries" accepts:"nq/queries" help:"queries of all splits"`
	Corpus            step.Input `hcl:"corpus,optional" accepts:"nq/corpus" help:"texts of the documents, which are compared with each other and with the queries; default: only queries are compared"`
	Threshold         float64    `hcl:"threshold,optional" min:"0.1" max:"1" help:"two queries are near if the Jaccard index of their shingles is at least this"`
	Shingle           int        `hcl:"shingle,optional" min:"1" max:"100" help:"words in a shingle of a query; a query of fewer words is one shingle"`
	DocumentThreshold float64    `hcl:"document_threshold,optional" min:"0.1" max:"1" help:"the same for two documents"`
	DocumentShingle   int        `hcl:"document_shingle,optional" min:"1" max:"100" help:"words in a shingle of a document"`
	Verbatim          int        `hcl:"verbatim,optional" min:"0" help:"words of the shortest query that is looked for in documents; 0: none is"`
	Examples          int        `hcl:"examples,optional" min:"0" help:"pairs of each kind that the report shows"`
	Seed              int        `hcl:"seed,optional" min:"0" help:"for the hash functions that propose near pairs"`
}

var Overlap = step.Define(step.Kind[overlapConfig]{
	Name:    "overlap",
	Version: 1,
	Doc: `Count and list what the splits of a collection share: leaks and duplicates.
Each query is compared with the queries of every earlier split (train, dev, test) and with those before it in its
own. Its nearest one there has the same text (exact), or the same once case, punctuation, white space and Unicode's
compatible forms are put aside (normalised: NFKC, case folded), or a Jaccard index of the sets of word shingles of
at least threshold (near). With corpus, documents are compared with earlier documents likewise, and queries of
enough words are looked for, word for word, in the normalised documents.
Near pairs are proposed by MinHash (128 functions, in bands so long that a pair at the threshold is missed once in
10,000 times) and then compared exactly, by hashes of 64 bits. Of more than 1,000 texts of one pattern a text is
compared with the first 1,000 by each of its rare words; what is left out is counted as pairs_left_out.
A million queries of nine words took 60 s and 1.2 GB on one core. The corpus is read twice; memory grows with its
documents, about 150 bytes each and the shingles of those that have a candidate, not with their texts.
A check of the step with field = "report:between.test_train.any" and max = 0 makes a leak a failure.`,
	Example: `step "overlap" "nq" {
  queries = step.dedup.nq["page_id"].queries
  corpus  = step.serialize.html_norm.corpus
}`,
	Outputs: []step.Output{
		{Name: "report", Type: "report", Help: "counts and examples, as JSON", Fields: step.FieldsOf[overlapReport]()},
		{Name: "query_pairs", Type: "overlap/queries", Help: "TSV: each query that has one as near, by split, and that one"},
		{Name: "document_pairs", Type: "overlap/documents", Help: "TSV: each document that is like an earlier one, and that one; without corpus only the header"},
		{Name: "verbatim", Type: "overlap/verbatim", Help: "TSV: each query that occurs in documents, and the first of these, a relevant one if there is one; without corpus only the header"},
	},
	Defaults: overlapConfig{Threshold: 0.8, Shingle: 1, DocumentThreshold: 0.8, DocumentShingle: 5, Verbatim: 5, Examples: 5, Seed: 42},
	Run:      runOverlap,
})

// overlapReport is what is counted. Members of between are named by the later split and the split in which its
// queries were looked for.
type overlapReport struct {
	Queries   splitCounts       `json:"queries"`
	Between   overlapBetween    `json:"between"`
	Left      int64             `json:"pairs_left_out"`
	Examples  []overlapExample  `json:"examples"`
	Documents *overlapDocuments `json:"documents"` // null without corpus
	Verbatim  *overlapVerbatim  `json:"verbatim"`  // null without corpus, or with verbatim = 0
}

type splitCounts struct {
	Train int `json:"train"`
	Dev   int `json:"dev"`
	Test  int `json:"test"`
}

type overlapBetween struct {
	DevTrain  overlapCounts `json:"dev_train"`
	TestTrain overlapCounts `json:"test_train"`
	TestDev   overlapCounts `json:"test_dev"`
	Train     overlapCounts `json:"train_train"`
	Dev       overlapCounts `json:"dev_dev"`
	Test      overlapCounts `json:"test_test"`
}

// overlapCounts counts the queries of the later split by the class of their nearest query.
type overlapCounts struct {
	classCounts
	Percent    float64 `json:"percent" unit:"percent"` // any, of the later split
	SameTarget int     `json:"same_target"`            // of any: a document is relevant for both
}

type overlapExample struct {
	Split      string  `json:"split"`
	Query      string  `json:"query"`
	OtherSplit string  `json:"other_split"`
	Other      string  `json:"other"`
	Class      string  `json:"class"`
	Similarity float64 `json:"similarity"`
	SameTarget bool    `json:"same_target"`
}

type overlapDocuments struct {
	Documents   int   `json:"documents"`
	classCounts       // of documents that are like an earlier one
	Left        int64 `json:"pairs_left_out"`
}

type classCounts struct {
	Exact      int `json:"exact"`
	Normalised int `json:"normalised"`
	Near       int `json:"near"`
	Any        int `json:"any"`
}

func (n *classCounts) add(class overlap.Class) {
	switch class {
	case overlap.Exact:
		n.Exact++
	case overlap.Normalised:
		n.Normalised++
	default:
		n.Near++
	}
	n.Any++
}

// overlapVerbatim counts queries of enough words.
type overlapVerbatim struct {
	Queries  int              `json:"queries"`  // that are looked for
	Short    int              `json:"short"`    // too short to be looked for
	Standing int              `json:"standing"` // that occur in a document
	Relevant int              `json:"relevant"` // that occur in a relevant document
	Splits   splitCounts      `json:"splits"`   // standing, by split
	Examples []verbatimSample `json:"examples"`
}

type verbatimSample struct {
	Split      string `json:"split"`
	Query      string `json:"query"`
	Doc        int32  `json:"doc"`
	SameTarget bool   `json:"same_target"`
	Documents  int    `json:"documents"`
}

func runOverlap(ctx context.Context, x *step.IO, c overlapConfig) error {
	queries := overlap.NewQueries()
	if err := inout.EachQuery(x, c.Queries, "queries", queries.Add); err != nil {
		return err
	}
	rep := overlapReport{Examples: []overlapExample{}}
	for _, q := range queries.List {
		*rep.Queries.of(q.Split)++
	}
	x.Report(step.Progress{Done: int64(len(queries.List)), Unit: "queries", Note: "compared with each other"})
	pairs := queries.Pairs(overlap.Near{Threshold: c.Threshold, Shingle: c.Shingle, Seed: c.Seed})
	rep.Left = queries.Left
	if err := writeTSV(x, "query_pairs", "split\tid\tname\tquery\tother_split\tother_id\tother_name\tother_query\tclass\tsimilarity\tsame_target", func(row func(...any)) {
		shown := map[[2]nq.Split]int{}
		for _, p := range pairs {
			q, o := queries.List[p.Query], queries.List[p.Other]
			rep.Between.of(q.Split, o.Split).add(p, *rep.Queries.of(q.Split))
			row(q.Split, q.ID, q.Name, q.Text, o.Split, o.ID, o.Name, o.Text, p.Class, p.Similarity, p.SameTarget)
			if k := [2]nq.Split{q.Split, o.Split}; shown[k] < c.Examples {
				shown[k]++
				rep.Examples = append(rep.Examples, overlapExample{string(q.Split), q.Text, string(o.Split), o.Text, p.Class.String(), p.Similarity, p.SameTarget})
			}
		}
	}); err != nil {
		return err
	}
	if err := overlapWithDocuments(ctx, x, c, queries, &rep); err != nil {
		return err
	}
	between := rep.Between
	return inout.WriteReport(x, rep, map[string]int{"dev_in_train": between.DevTrain.Any,
		"test_in_train": between.TestTrain.Any, "test_in_dev": between.TestDev.Any})
}

// overlapWithDocuments compares documents with each other, and looks for queries in them.
func overlapWithDocuments(ctx context.Context, x *step.IO, c overlapConfig, queries *overlap.Queries, rep *overlapReport) error {
	var pairs []overlap.DocumentPair
	var standing []overlap.Standing
	if c.Corpus.Set() {
		ds := overlap.NewDocuments(overlap.Near{Threshold: c.DocumentThreshold, Shingle: c.DocumentShingle, Seed: c.Seed}, queries, c.Verbatim)
		if err := inout.EachDocument(ctx, x, c.Corpus, func(d *corpus.Document) error {
			ds.Add(d.Doc, d.Text)
			x.Report(step.Progress{Done: int64(ds.Count), Unit: "documents"})
			return nil
		}); err != nil {
			return err
		}
		if wanted := ds.Wanted(); len(wanted) > 0 {
			if err := inout.EachDocument(ctx, x, c.Corpus, func(d *corpus.Document) error {
				if wanted[d.Doc] {
					ds.Load(d.Doc, d.Text)
				}
				return nil
			}); err != nil {
				return err
			}
		}
		pairs, standing = ds.Pairs(), ds.Standing()
		rep.Documents = &overlapDocuments{Documents: ds.Count, Left: ds.Left}
		if c.Verbatim > 0 {
			rep.Verbatim = &overlapVerbatim{Queries: ds.Sought(), Short: len(queries.List) - ds.Sought(), Standing: len(standing), Examples: []verbatimSample{}}
		}
	}
	if err := writeTSV(x, "document_pairs", "doc\tother_doc\tclass\tsimilarity", func(row func(...any)) {
		for _, p := range pairs {
			rep.Documents.add(p.Class)
			row(p.Doc, p.Other, p.Class, p.Similarity)
		}
	}); err != nil {
		return err
	}
	return writeTSV(x, "verbatim", "split\tid\tname\tquery\tdoc\tsame_target\tdocuments", func(row func(...any)) {
		for _, s := range standing {
			q, v := queries.List[s.Query], rep.Verbatim
			*v.Splits.of(q.Split)++
			if s.SameTarget {
				v.Relevant++
			}
			row(q.Split, q.ID, q.Name, q.Text, s.Doc, s.SameTarget, s.Documents)
			if len(v.Examples) < c.Examples {
				v.Examples = append(v.Examples, verbatimSample{string(q.Split), q.Text, s.Doc, s.SameTarget, s.Documents})
			}
		}
	})
}

var tsvField = strings.NewReplacer("\\", `\\`, "\t", `\t`, "\n", `\n`, "\r", `\r`)

// writeTSV writes a header and rows, with tabs, line ends and backslashes escaped.
func writeTSV(x *step.IO, output, header string, rows func(row func(...any))) error {
	return inout.WriteText(x, output, func(b *bufio.Writer) error {
		b.WriteString(header + "\n")
		rows(func(fields ...any) {
			for i, f := range fields {
				if i > 0 {
					b.WriteByte('\t')
				}
				if v, ok := f.(float64); ok {
					b.WriteString(strconv.FormatFloat(v, 'g', 6, 64))
				} else {
					tsvField.WriteString(b, fmt.Sprint(f))
				}
			}
			b.WriteByte('\n')
		})
		return nil // a Writer keeps its first error
	})
}

func (n *splitCounts) of(s nq.Split) *int {
	return map[nq.Split]*int{nq.Train: &n.Train, nq.Dev: &n.Dev, nq.Test: &n.Test}[s]
}

func (b *overlapBetween) of(later, earlier nq.Split) *overlapCounts {
	return map[[2]nq.Split]*overlapCounts{
		{nq.Dev, nq.Train}: &b.DevTrain, {nq.Test, nq.Train}: &b.TestTrain, {nq.Test, nq.Dev}: &b.TestDev,
		{nq.Train, nq.Train}: &b.Train, {nq.Dev, nq.Dev}: &b.Dev, {nq.Test, nq.Test}: &b.Test,
	}[[2]nq.Split{later, earlier}]
}

func (n *overlapCounts) add(p overlap.Pair, of int) {
	n.classCounts.add(p.Class)
	n.Percent = 100 * float64(n.Any) / float64(of)
	if p.SameTarget {
		n.SameTarget++
	}
}
