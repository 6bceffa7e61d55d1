package kinds_test

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/corpora/dedup"
	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/system/testkit"
)

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
	testkit.None(l.t, err)
	return docs, queries
}

// TestRecordOrder: the order of records numbers documents and chooses which snapshot
// stands for them, and moves no count and no query to another page.
func TestRecordOrder(t *testing.T) {
	t.Parallel()
	l := newLocal(t)
	out := l.outputs(write(t, t.TempDir(), "p.hcl", fmt.Sprintf(generatedRecords, 12, 40, 20)+orderPipeline), nil, "step.dedup.of")
	byDefault := out[`step.dedup.of["default"].documents`]
	testkit.Is(t, byDefault.Digest, out[`step.dedup.of["dev_first"].documents`].Digest, "dev_first is not the default")
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
	testkit.That(t, dev == train && dev.Documents.Union != 0, "counts", dev, "and", train)
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
	testkit.That(t, a.Size != 0 && a.Digest == b.Digest, "documents depend on the order of texts", a.Digest, b.Digest)
	for _, c := range []struct{ target, want string }{
		{`step.dedup.longest["train"]`, "dev example "},
		{`step.dedup.longest["train"]`, "the corpus has no text for this record"},
		{`step.dedup.longest["twice"]`, " has two: serialize the records of each extract step once"},
		{`step.dedup.longest["documents"]`, "document 0 names no record: serialize without documents"},
		{"step.text_examples.swapped", ": give headers and records of the same extract steps, in one order"},
		{"step.dedup.swapped", `is of train: give the headers of an extract step with split = "dev"`},
	} {
		testkit.ErrSays(t, testkit.Err(l.try(l.plan(file, nil, c.target))), c.want)
	}
}
