package dedup

import (
	"encoding/json"
	jsonv2 "encoding/json/v2"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"

	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/corpora/unpack"
	"github.com/redsi/redsi/internal/system/values"
)

// WriteDocuments writes documents.jsonl.zst: one Document a line, in order. Equal groupings give equal bytes.
func (g *Grouping) WriteDocuments(w io.Writer) error {
	return g.writeEach(w, len(g.docs), func(i int) any { return g.Document(int32(i)) })
}

// WriteQueries writes queries.jsonl.zst: one Query a line, in record order.
func (g *Grouping) WriteQueries(w io.Writer) error {
	return g.writeEach(w, len(g.docOf), func(i int) any { return g.Query(i) })
}

// Audit is one line of the grouping audit: a record whose revision has no page.
type Audit struct {
	Query
	OldID uint64 `json:"oldid,omitempty"`
	Title string `json:"title"`
	Key   string `json:"key"` // the fallback under the page_id operator
}

// WriteAudit writes unresolved.jsonl.zst, one Audit a line, in record order.
func (g *Grouping) WriteAudit(w io.Writer) error {
	return g.writeEach(w, len(g.docOf), func(i int) any {
		r := g.Records.At(i)
		if r.PageID != 0 {
			return nil
		}
		q := g.Query(i)
		return Audit{Query: q, OldID: r.OldID, Title: r.Title, Key: g.KeyOf(q.Doc)}
	})
}

// writeEach writes at(0) to at(n-1), a line each, without nil values.
func (g *Grouping) writeEach(w io.Writer, n int, at func(i int) any) error {
	err := WriteLines(w, func(put func(any) error) error {
		for i := range n {
			if v := at(i); v != nil {
				if err := put(v); err != nil {
					return err
				}
			}
		}
		return nil
	})
	return errors.Join(err, g.Records.Err())
}

// WriteLines writes JSON lines, compressed. It uses one encoder thread: with more, the bytes would depend on the machine.
func WriteLines(w io.Writer, each func(put func(any) error) error) error {
	zw, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1),
		zstd.WithEncoderLevel(zstd.SpeedDefault), zstd.WithWindowSize(maxWindow))
	if err != nil {
		return err
	}
	enc := json.NewEncoder(zw)
	enc.SetEscapeHTML(false)
	if err := each(func(v any) error { return enc.Encode(v) }); err != nil {
		zw.Close()
		return err
	}
	return zw.Close()
}

// ReadDocuments yields WriteDocuments' lines and checks that documents are numbered from zero and have different
// representatives. It holds the representatives in memory, except records numbered as their document, as in imported
// collections.
func ReadDocuments(r io.Reader, yield func(*Document) error) error {
	represents := map[nq.Key]int32{} // document of each representative, except own ones
	var own []bool                   // by document: the representative has its number
	return ReadLines(r, func(line []byte) error {
		var d Document
		if err := decode(line, &d); err != nil {
			return err
		}
		if int(d.Doc) != len(own) {
			return fmt.Errorf("document %d where %d was expected", d.Doc, len(own))
		}
		if d.Train < 0 || d.Dev < 0 || d.Test < 0 {
			return fmt.Errorf("document %d has %d train, %d dev and %d test records", d.Doc, d.Train, d.Dev, d.Test)
		}
		record := nq.Key{Split: d.Split, ID: d.ExampleID}
		before, repeated := represents[record]
		if d.Split == "" && d.ExampleID >= 0 && d.ExampleID < int64(d.Doc) && own[d.ExampleID] {
			before, repeated = int32(d.ExampleID), true
		}
		if repeated {
			return fmt.Errorf("%s example %d represents document %d and document %d", d.Split, d.ExampleID, before, d.Doc)
		}
		own = append(own, d.Split == "" && d.ExampleID == int64(d.Doc))
		if !own[d.Doc] {
			represents[record] = d.Doc
		}
		return yield(&d)
	})
}

// ReadQueries yields WriteQueries' lines and checks that each target is below docs, if docs >= 0. A query with several
// relevant documents has successive lines, one for each.
func ReadQueries(r io.Reader, docs int, yield func(*Query) error) error {
	return ReadLines(r, func(line []byte) error {
		var q Query
		if err := decode(line, &q); err != nil {
			return err
		}
		if q.Doc < 0 || docs >= 0 && int(q.Doc) >= docs {
			return fmt.Errorf("%s example %d has target %d of %d documents", q.Split, q.ExampleID, q.Doc, docs)
		}
		return yield(&q)
	})
}

// decode reads a line with all fields of its writer and no others.
func decode(line []byte, v any) error {
	if err := jsonv2.Unmarshal(line, v, jsonv2.RejectUnknownMembers(true)); err != nil {
		return err
	}
	return values.Lacks(line, v)
}

const maxWindow = 8 << 20 // WriteLines' zstd window; a larger one in a file is refused

// ReadLines yields WriteLines' lines and names the line of the first error, such as an end within a line.
func ReadLines(r io.Reader, each func([]byte) error) error {
	zr, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		return err
	}
	defer zr.Close()
	return unpack.WholeLines(zr).Each(each)
}

// WriteRecords writes next's records up to io.EOF, and their headers with the text keys of TextKeys.
func WriteRecords(next func(*nq.Record) error, recOut, headOut io.Writer, tags bool) (err error) {
	records, err := nq.NewRecordWriter(recOut)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, records.Close()) }()
	headers, err := nq.NewHeaderWriter(headOut)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, headers.Close()) }()
	var r nq.Record
	for {
		if err := next(&r); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		h := nq.HeaderOf(&r)
		h.Text4KCased, h.Text4K = TextKeys(&r, tags)
		if err := errors.Join(records.Write(&r), headers.Write(&h)); err != nil {
			return err
		}
	}
}
