package export

import (
	"errors"

	"github.com/parquet-go/parquet-go"

	"github.com/redsi/redsi/internal/corpora/nq"
)

// documentRow and queryRow are the Parquet schemas, also by name; an optional zero value is null.
type documentRow Document

type queryRow struct {
	ID    string `parquet:"id"`
	Split string `parquet:"split,dict"`
	Text  string `parquet:"text"`
	DocID string `parquet:"doc_id"`
}

// gradedRow is a query of a collection with grades.
type gradedRow struct {
	queryRow
	Grade int32 `parquet:"grade"`
}

// queryTable adds a row to the table of a split, as queryRow or as gradedRow.
type queryTable func(row queryRow, grade int32, size int) error

func openQueries(f *files, name string, graded bool) (queryTable, error) {
	if graded {
		t, err := openTable[gradedRow](f, name)
		return func(row queryRow, grade int32, size int) error { return t.add(gradedRow{row, grade}, size) }, err
	}
	t, err := openTable[queryRow](f, name)
	return func(row queryRow, _ int32, size int) error { return t.add(row, size) }, err
}

// rowGroupBytes bounds the text of a row group in memory.
const rowGroupBytes = 64 << 20

// table is one Parquet file, compressed with zstd.
type table[T any] struct {
	w     *parquet.GenericWriter[T]
	held  int // bytes in the open row group
	limit int
	row   [1]T
}

func openTable[T any](f *files, name string) (*table[T], error) {
	w, err := f.open(name)
	if err != nil {
		return nil, err
	}
	t := &table[T]{w: parquet.NewGenericWriter[T](w, parquet.Compression(&parquet.Zstd)), limit: rowGroupBytes}
	f.closers = append(f.closers, func() error { return errors.Join(t.w.Close(), w.Close()) })
	return t, nil
}

func (t *table[T]) add(row T, size int) error {
	t.row[0] = row
	if _, err := t.w.Write(t.row[:]); err != nil {
		return err
	}
	if t.held += size; t.held < t.limit {
		return nil
	}
	t.held = 0
	return t.w.Flush()
}

// parquetFiles writes documents, and queries by split.
type parquetFiles struct {
	files     *files
	documents *table[documentRow]
	queries   map[nq.Split]queryTable // created with the first query of a split
}

func openParquet(f *files) (writer, error) {
	documents, err := openTable[documentRow](f, "parquet/documents.parquet")
	return &parquetFiles{f, documents, map[nq.Split]queryTable{}}, err
}

func (w *parquetFiles) document(d *Document) error {
	return w.documents.add(documentRow(*d), len(d.Text)+len(d.Title)+len(d.Key)+len(d.URL)+64)
}

func (w *parquetFiles) query(q *Query, _ bool) error {
	t, ok := w.queries[q.Split]
	if !ok {
		var err error
		if t, err = openQueries(w.files, "parquet/queries-"+string(q.Split)+".parquet", q.Graded); err != nil {
			return err
		}
		w.queries[q.Split] = t
	}
	row, size := queryRow{ID: q.ID, Split: string(q.Split), Text: q.Text, DocID: q.DocID}, len(q.Text)+len(q.ID)+len(q.DocID)
	return t(row, max(q.Grade, 1), size)
}
