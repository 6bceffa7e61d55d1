package collection

import (
	"context"
	"errors"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/corpora/corpus"
	"github.com/redsi/redsi/internal/corpora/dedup"
	"github.com/redsi/redsi/internal/corpora/msmarco"
	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/corpora/tokenize"
	"github.com/redsi/redsi/internal/system/readers"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

// msmarcoReport is the JSON that table cells read.
type msmarcoReport struct {
	Lines     nq.Counts              `json:"lines"` // of the files of documents
	Documents msmarcoDocuments       `json:"documents"`
	Train     msmarco.QuestionCounts `json:"train"`
	Dev       msmarco.QuestionCounts `json:"dev"`
}

// msmarcoDocuments says what became of the documents that were read.
type msmarcoDocuments struct {
	Empty    int64 `json:"empty"`    // of all that were read, those whose body has no words
	Dropped  int64 `json:"dropped"`  // of them, those that a query names and that were left out
	Judged   int64 `json:"judged"`   // taken because a query names them
	Others   int64 `json:"others"`   // taken beside those
	Untitled int64 `json:"untitled"` // under normalized_title: each one of its own
	Merged   int64 `json:"merged"`   // one with an earlier document
	Union    int64 `json:"union"`    // |D|
}

// joinedMSMarco is what the parts of an msmarco step kept of their files.
type joinedMSMarco struct {
	x       *step.IO
	ctx     context.Context
	files   []artifacts.File
	wanted  map[int64]struct{} // documents that queries name
	others  *msmarco.Sample
	dropped bool // documents without words are
}

// each visits the documents that are taken, and empty ones that a query names, in order.
func (j *joinedMSMarco) each(policy msmarco.Policy, counts *nq.Counts, visit func(d *msmarco.Document, wanted bool) error) error {
	return j.kept(policy, counts, func(d *msmarco.Document) error {
		_, wanted := j.wanted[d.ID]
		if !wanted && !j.others.Has(d.ID) {
			return nil
		}
		return visit(d, wanted)
	})
}

// kept visits all documents of the parts.
func (j *joinedMSMarco) kept(policy msmarco.Policy, counts *nq.Counts, visit func(*msmarco.Document) error) error {
	n := int64(0)
	for _, f := range j.files {
		in, err := j.x.OpenFile(f)
		if err != nil {
			return err
		}
		err = policy.EachLine(readers.WithContext(j.ctx, in), f.Name, counts, func(line []byte) error {
			if n++; n%10_000 == 0 {
				j.x.Report(step.Progress{Done: n, Unit: "documents"})
			}
			d, err := msmarco.ParseDocument(line)
			if err != nil {
				return err
			}
			return visit(&d)
		})
		in.Close()
		if err != nil {
			return inout.DataError(err)
		}
	}
	return nil
}

// joinMSMarco reads what was kept to draw and number documents, then again to write them.
func joinMSMarco(ctx context.Context, x *step.IO, c msmarcoConfig) error {
	questions, err := c.part().questions(x)
	if err != nil {
		return err
	}
	j := &joinedMSMarco{x: x, ctx: ctx, wanted: questions.wanted(), others: c.part().others(), dropped: c.EmptyBody == "drop"}
	var report msmarcoReport
	if err := j.readParts(c, &report); err != nil {
		return err
	}
	if c.Limit > 0 {
		if err := j.draw(); err != nil {
			return err
		}
	}
	coll, err := j.number(c, &report)
	if err != nil {
		return err
	}
	if err := writeMSMarcoQueries(x, c, coll, questions); err != nil {
		return err
	}
	report.Train, report.Dev = questions.trainCounts, questions.devCounts
	if err := j.write(coll, msmarco.Form(c.Form)); err != nil {
		return err
	}
	counts := dedupCounts{Documents: dedup.CountsOf(coll.Queries), Coverage: dedup.CoverageOf(coll.Queries)}
	for train, dev := range coll.Queries {
		counts.Records.Train += int(train)
		counts.Records.Dev += int(dev)
	}
	counts.Records.Union = counts.Records.Train + counts.Records.Dev
	report.count(x)
	return errors.Join(inout.WriteJSON(x, "counts", counts), inout.WriteJSON(x, "report", report))
}

// readParts lists the parts' files under the names of those that they are of.
func (j *joinedMSMarco) readParts(c msmarcoConfig, report *msmarcoReport) error {
	for i, in := range c.Files {
		for _, f := range j.x.Files(in, msmarcoFileName(i)) {
			p := j.x.Parts()[len(j.files)]
			var part msmarcoFileReport
			if err := inout.ReadJSON(j.x, step.In(p.Outputs["report"]), &part); err != nil {
				return err
			}
			report.Lines.Add(part.Lines)
			report.Documents.Empty += part.Empty
			kept := p.Outputs["kept"]
			j.files = append(j.files, artifacts.File{Name: f.Name, Digest: kept.Digest, Size: kept.Size})
		}
	}
	return nil
}

// draw offers all files' documents that no query names.
func (j *joinedMSMarco) draw() error {
	seen := map[int64]struct{}{}
	return j.kept(msmarco.Policy{Empty: true}, &nq.Counts{}, func(d *msmarco.Document) error {
		_, wanted := j.wanted[d.ID]
		_, again := seen[d.ID]
		if !wanted && !again {
			seen[d.ID] = struct{}{}
			j.others.Offer(d.ID)
		}
		return nil
	})
}

// number makes the collection. Parts cannot see each other, so a document that is in
// two files is found here.
func (j *joinedMSMarco) number(c msmarcoConfig, report *msmarcoReport) (*msmarco.Collection, error) {
	var normalize func(string) string
	if c.Key == msmarco.NormalizedTitle {
		bert, err := inout.OpenTokenizer(j.x, c.Tokenizer, "tokenizer", tokenize.LoadBERT)
		if err != nil {
			return nil, err
		}
		normalize = bert.Normalize
	}
	coll := msmarco.NewCollection(normalize)
	policy := c.part().policy()
	policy.Empty = true
	var again nq.Counts
	n := &report.Documents
	err := j.each(policy, &again, func(d *msmarco.Document, wanted bool) error {
		if j.dropped && d.Empty() {
			n.Dropped++
			coll.Drop(d.ID)
			return nil
		}
		if err := coll.Add(d); err != nil {
			return err
		}
		if wanted {
			n.Judged++
		} else {
			n.Others++
		}
		return nil
	})
	n.Untitled, n.Merged, n.Union = int64(coll.Untitled()), int64(coll.Merged()), int64(coll.Len())
	report.Lines.Add(nq.Counts{Records: -again.SkippedTotal(), Skipped: again.Skipped, Named: again.Named})
	return coll, err
}

func writeMSMarcoQueries(x *step.IO, c msmarcoConfig, coll *msmarco.Collection, q *msmarcoQuestions) error {
	w, err := x.Create("queries")
	if err != nil {
		return err
	}
	all := c.OnMissing == "fail"
	err = dedup.WriteLines(w, func(put func(any) error) error {
		var unwritten error
		add := func(q *dedup.Query) error {
			unwritten = put(q)
			return unwritten
		}
		err := coll.Ask(nq.Train, &q.train, all, &q.trainCounts, add)
		if err == nil && len(c.DevQueries) > 0 {
			err = coll.Ask(nq.Dev, &q.dev, all, &q.devCounts, add)
		}
		if unwritten != nil {
			return unwritten
		}
		return step.Permanent(err)
	})
	return errors.Join(err, w.Close())
}

// write writes the documents that represent the collection's, and their texts.
func (j *joinedMSMarco) write(coll *msmarco.Collection, form msmarco.Form) error {
	w, err := j.x.Create("documents")
	if err != nil {
		return err
	}
	err = dedup.WriteLines(w, func(put func(any) error) error {
		return writeCorpus(j.x, func(texts *corpus.Writer) error {
			next := 0
			var unwritten error
			err := j.each(msmarco.Policy{Empty: true}, &nq.Counts{}, func(d *msmarco.Document, _ bool) error {
				doc, ok := coll.Represents(d, next)
				if !ok {
					return nil
				}
				next++
				unwritten = errors.Join(put(&doc), texts.Write(corpus.Document{Doc: doc.Doc, Title: doc.Title, Text: form.Text(d)}))
				return unwritten
			})
			if unwritten != nil {
				return unwritten
			}
			return err
		})
	})
	return errors.Join(err, w.Close())
}

// count shows with the result what was left out.
func (r *msmarcoReport) count(x *step.IO) {
	x.Count("documents_read", r.Lines.Records)
	for name, n := range map[string]int64{"documents_empty_and_dropped": r.Documents.Dropped, "documents_without_title": r.Documents.Untitled, "documents_merged": r.Documents.Merged} {
		if n > 0 {
			x.Count(name, n)
		}
	}
	bad := r.Lines.SkippedTotal()
	for split, q := range map[string]*msmarco.QuestionCounts{"train": &r.Train, "dev": &r.Dev} {
		x.Count(split+"_queries", q.Asked)
		bad += q.Queries.SkippedTotal() + q.Judgments.SkippedTotal()
		for name, n := range map[string]int64{"judgments_without_query": q.Unknown, "judgments_without_document": q.Missing,
			"judgments_of_empty_documents": q.Dropped, "queries_without_document": q.Documentless, "queries_without_judgment": q.Unjudged} {
			if n > 0 {
				x.Count(split+"_"+name, n)
			}
		}
	}
	x.Count("skipped_lines", bad)
}
