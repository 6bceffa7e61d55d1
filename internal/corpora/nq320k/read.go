package nq320k

import (
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/redsi/redsi/internal/corpora/dedup"
	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/corpora/unpack"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/values"
)

type Open func(name string) (io.ReadCloser, error)

// Visitor takes the content of a folder. Arguments are valid during the call.
type Visitor struct {
	Query    func(*dedup.Query) error                   // train, then dev; all before the first document
	Document func(d *dedup.Document, text string) error // by number
}

type Contents struct {
	TextStyle    string `json:"text_style"`
	DedupMethod  string `json:"dedup_method"`
	Documents    int    `json:"documents"`
	Train        int    `json:"train"` // queries
	Dev          int    `json:"dev"`
	WithoutText  int    `json:"without_text"`  // documents
	OtherSources int    `json:"other_sources"` // documents whose source_ids are not the examples of their queries
}

// Read reads a folder. Errors name the file and the line. Memory: about 100 bytes a query.
func Read(open Open, visit Visitor) (Contents, error) {
	m, err := readMetadata(open)
	if err != nil {
		return Contents{}, err
	}
	r := reader{open: open, visit: visit, due: m.Splits["documents"].NumRows, of: map[int]*members{}}
	if m.TextStyle != nil {
		r.TextStyle = *m.TextStyle
	}
	if m.DedupMethod != nil {
		r.DedupMethod = *m.DedupMethod
	}
	var rows [3]int
	if rows[1], err = r.queries(TrainQueries, nq.Train); err != nil {
		return Contents{}, err
	}
	if rows[2], err = r.queries(ValidationQueries, nq.Dev); err != nil {
		return Contents{}, err
	}
	if rows[0], err = r.documents(); err != nil {
		return Contents{}, err
	}
	for i, s := range splits {
		if n := m.Splits[s.name].NumRows; rows[i] != n {
			return Contents{}, fmt.Errorf("%s has %d rows, %s says %d; the file was cut or edited", s.file, rows[i], MetadataFile, n)
		}
	}
	r.Documents, r.Train, r.Dev = rows[0], rows[1], rows[2]
	return r.Contents, nil
}

func readMetadata(open Open) (Metadata, error) {
	var m Metadata
	in, err := open(MetadataFile)
	if err != nil {
		return m, err
	}
	defer in.Close()
	b, err := io.ReadAll(io.LimitReader(in, 1<<20))
	if err != nil {
		return m, err
	}
	if err := values.Written(b, &m); err != nil {
		return m, fmt.Errorf("%s: %w", MetadataFile, err)
	}
	if m.Format != format || m.FormatVersion != formatVersion {
		return m, fmt.Errorf("%s: format %q version %d; this program reads %q version %d", MetadataFile, m.Format, m.FormatVersion, format, formatVersion)
	}
	for _, s := range splits {
		have, ok := m.Splits[s.name]
		if !ok {
			return m, fmt.Errorf("%s: has no split %s", MetadataFile, s.name)
		}
		if have.DataFile != s.file {
			return m, fmt.Errorf("%s: split %s has the data file %q, want %q", MetadataFile, s.name, have.DataFile, s.file)
		}
	}
	return m, nil
}

// members are the records of a document.
type members struct {
	train, dev int32
	first      int64 // the first, dev before train, which the text is of
	examples   []int64
}

type reader struct {
	Contents
	open  Open
	visit Visitor
	due   int              // number of documents by the metadata
	of    map[int]*members // by document
}

// queries reads the file of a split and returns its number of rows.
func (r *reader) queries(name string, split nq.Split) (int, error) {
	seen := map[int64]bool{}
	return r.rows(name, QueryRow, func(row *Row) error {
		doc, err := number(row.DocID)
		if err != nil {
			return err
		}
		if doc >= r.due {
			return fmt.Errorf("docid %q is not a document: %s says that there are %d", row.DocID, MetadataFile, r.due)
		}
		if len(row.SourceIDs) != 1 {
			return fmt.Errorf("a query has one source id, this one %d", len(row.SourceIDs))
		}
		id, err := example(row.SourceIDs[0])
		if err != nil {
			return err
		}
		if seen[id] {
			return fmt.Errorf("source id %d occurs twice", id)
		}
		seen[id] = true
		m := r.of[doc]
		if m == nil {
			m = &members{}
			r.of[doc] = m
		}
		m.examples = append(m.examples, id)
		if split == nq.Dev && m.dev == 0 || m.train+m.dev == 0 {
			m.first = id
		}
		if split == nq.Train {
			m.train++
		} else {
			m.dev++
		}
		return r.visit.Query(&dedup.Query{ExampleID: id, Split: split, Question: row.Text, Doc: int32(doc)})
	})
}

func (r *reader) documents() (int, error) {
	next := 0
	return r.rows(Documents, DocumentRow, func(row *Row) error {
		doc, err := number(row.DocID)
		switch {
		case err != nil:
			return err
		case doc < next:
			return fmt.Errorf("docid %q occurs twice", row.DocID)
		case doc > next:
			return fmt.Errorf("docid %q where %d is expected: documents are numbered in order", row.DocID, next)
		case doc >= r.due:
			return fmt.Errorf("docid %q: %s says that there are %d documents", row.DocID, MetadataFile, r.due)
		}
		next++
		m := r.of[doc]
		if m == nil {
			return fmt.Errorf("no query asks for document %d", doc)
		}
		d := dedup.Document{Doc: int32(doc), Title: row.Title, Train: m.train, Dev: m.dev, ExampleID: m.first, Split: nq.Train}
		if m.dev > 0 {
			d.Split = nq.Dev
		}
		if !m.are(row.SourceIDs) {
			r.OtherSources++
		}
		if row.Text == "" {
			r.WithoutText++
		}
		return r.visit.Document(&d, row.Text)
	})
}

// are reports whether the source ids of a document are the examples of its queries.
func (m *members) are(sources []string) bool {
	own := lists.Map(m.examples, func(id int64) string { return strconv.FormatInt(id, 10) })
	slices.Sort(own)
	return slices.Equal(slices.Compact(own), slices.Sorted(slices.Values(sources)))
}

func number(docid string) (int, error) {
	n, err := strconv.ParseUint(docid, 10, 31)
	if err != nil || strconv.FormatUint(n, 10) != docid {
		return 0, fmt.Errorf("docid %.40q is not a number from zero", docid)
	}
	return int(n), nil
}

func example(source string) (int64, error) {
	id, err := strconv.ParseInt(source, 10, 64)
	if err != nil || strconv.FormatInt(id, 10) != source {
		return 0, fmt.Errorf("source id %.40q is not an example id", source)
	}
	return id, nil
}

// rows visits the lines of a data file, all of one kind, and counts them.
func (r *reader) rows(name, kind string, visit func(*Row) error) (int, error) {
	in, err := r.open(name)
	if err != nil {
		return 0, err
	}
	defer in.Close()
	z, err := unpack.Open(in)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", name, err)
	}
	defer z.Close()
	lines := unpack.NewLines(z)
	err = lines.Each(func(line []byte) error {
		var row Row
		if err := values.Written(line, &row); err != nil {
			return err
		}
		if row.Kind != kind {
			return fmt.Errorf("kind %.40q, want %q", row.Kind, kind)
		}
		return visit(&row)
	})
	if err != nil {
		return 0, fmt.Errorf("%s: %w", name, err)
	}
	return lines.Number(), nil
}
