package export

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/corpora/nq320k"
	"github.com/redsi/redsi/internal/system/lists"
)

// redsi writes NQ320K's published layout: all four files, whatever splits exist, with documents named by number.
type redsi struct {
	texts []*text // documents, train and validation queries
	rows  [3]int
	line  []byte
}

func openRedsi(f *files, v nq320k.Variant) (writer, error) {
	if v == (nq320k.Variant{}) {
		return nil, fmt.Errorf("format %s needs a style and a key of the released layout", Redsi)
	}
	w := &redsi{}
	for _, name := range []string{nq320k.Documents, nq320k.TrainQueries, nq320k.ValidationQueries} {
		t, err := f.text(v.Folder() + "/" + name)
		if err != nil {
			return nil, err
		}
		w.texts = append(w.texts, t)
	}
	f.closers = append(f.closers, func() error { // when the numbers of rows are complete
		m, err := f.open(v.Folder() + "/" + nq320k.MetadataFile)
		if err != nil {
			return err
		}
		return errors.Join(nq320k.WriteMetadata(m, v, w.rows), m.Close())
	})
	return w, nil
}

func (w *redsi) document(d *Document) error {
	if d.ID != strconv.Itoa(w.rows[0]) {
		return fmt.Errorf("document %q is number %d: format %s names documents by number", d.ID, w.rows[0], Redsi)
	}
	sources := lists.Map(d.Examples, func(id int64) string { return strconv.FormatInt(id, 10) })
	return w.row(0, nq320k.Row{DocID: d.ID, Kind: nq320k.DocumentRow, Text: d.Text, Title: d.URLTitle, SourceIDs: sources})
}

func (w *redsi) query(q *Query, sameQuestion bool) error {
	if sameQuestion {
		return fmt.Errorf("query %q has several documents, which format %s cannot represent", q.ID, Redsi)
	}
	if q.Split == nq.Test {
		return fmt.Errorf("query %q is in the test split, which the layout of NQ320K does not have", q.ID)
	}
	file := 1 + slices.Index(nq.Splits, q.Split) // the files are documents, train and dev
	return w.row(file, nq320k.Row{DocID: q.DocID, Kind: nq320k.QueryRow, Text: q.Text, SourceIDs: []string{q.ID}})
}

func (w *redsi) row(file int, r nq320k.Row) error {
	w.rows[file]++
	w.line = r.Append(w.line[:0])
	_, err := w.texts[file].Write(w.line)
	return err
}
