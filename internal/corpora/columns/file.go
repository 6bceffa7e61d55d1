package columns

import (
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strings"

	"github.com/parquet-go/parquet-go"
)

// Mark begins a Parquet file, and ends it.
const Mark = "PAR1"

// File is an open Parquet file.
type File struct {
	table *parquet.File
	names []string
}

// Open reads what the end of the file says of its columns.
func Open(in io.ReaderAt, size int64) (f *File, err error) {
	defer Guard(&err)()
	table, err := parquet.OpenFile(in, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true), parquet.ReadBufferSize(256<<10))
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return nil, fmt.Errorf("the Parquet table is cut: it has only %d bytes", size)
	case err != nil:
		return nil, fmt.Errorf("the Parquet table cannot be opened: %w", err)
	}
	f = &File{table: table}
	for _, path := range table.Schema().Columns() {
		f.names = append(f.names, plainName(path))
	}
	return f, nil
}

// plainName is the path of a column without the levels that a list adds.
func plainName(path []string) string {
	var parts []string
	for i := 0; i < len(path); i++ {
		if i+1 < len(path) && path[i] == "list" && (path[i+1] == "element" || path[i+1] == "item") {
			i++
			continue
		}
		parts = append(parts, path[i])
	}
	return strings.TrimSuffix(strings.Join(parts, "."), ".array")
}

// Names are those of the columns, in the order of the file: their paths, without the levels of lists.
func (f *File) Names() []string { return f.names }

// NumRows is the number of rows that the file says it has.
func (f *File) NumRows() int64 { return f.table.NumRows() }

// Objects reads rows as the library has them: objects by name, lists, texts, numbers and truth values.
type Objects struct {
	rows *parquet.GenericReader[any]
	next int64
}

// Objects begins before the first row.
func (f *File) Objects() (o *Objects, err error) {
	defer Guard(&err)()
	return &Objects{rows: parquet.NewGenericReader[any](f.table)}, nil
}

// Row reads a row, counted from one; those in a row are read fastest.
func (o *Objects) Row(n int64) (row map[string]any, err error) {
	defer Guard(&err)()
	if n != o.next+1 {
		if err := o.rows.SeekToRow(n - 1); err != nil {
			return nil, err
		}
	}
	one := make([]any, 1)
	if k, err := o.rows.Read(one); k == 0 {
		return nil, fmt.Errorf("the table ends early: %w", err)
	}
	o.next = n
	row, _ = one[0].(map[string]any)
	return row, nil
}

// Close releases what is read ahead.
func (o *Objects) Close() error { return o.rows.Close() }

// Guard makes what the Parquet library does with a damaged file, a panic or a false address, an
// error; to be deferred as defer Guard(&err)().
func Guard(err *error) func() {
	before := debug.SetPanicOnFault(true)
	return func() {
		debug.SetPanicOnFault(before)
		if p := recover(); p != nil {
			*err = fmt.Errorf("the Parquet table is damaged: %v", p)
		}
	}
}
