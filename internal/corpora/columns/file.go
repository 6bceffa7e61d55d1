package columns

import (
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// Mark begins and ends a Parquet file.
const Mark = "PAR1"

type File struct {
	Names  []string // of the columns, in the order of the file: their paths, without the levels of lists
	table  *parquet.File
	paths  []string
	leaves []parquet.LeafColumn
}

// Open reads the description of the columns at the end of the file.
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
		leaf, _ := table.Schema().Lookup(path...)
		f.leaves = append(f.leaves, leaf)
		f.paths = append(f.paths, strings.Join(path, "."))
		f.Names = append(f.Names, plainName(strings.Join(path, ".")))
	}
	return f, nil
}

// plainName returns the path of a column without the levels that a list adds.
func plainName(path string) string {
	for _, levels := range []string{".list.element", ".list.item", ".array"} {
		if plain, is := strings.CutSuffix(path, levels); is {
			return plain
		}
	}
	return path
}

// Index returns the place in Names of the first column with a name or path; -1 if there is none.
func (f *File) Index(name string) int {
	return slices.IndexFunc(f.paths, func(path string) bool { return name == path || name == plainName(path) })
}

// Type returns the type of a column's values by the library, and by the file, whose logical type the library may not know.
func (f *File) Type(at int) (parquet.Type, format.SchemaElement) {
	stored := slices.DeleteFunc(slices.Clone(f.table.Metadata().Schema), func(e format.SchemaElement) bool { return !e.Type.Valid })
	return f.leaves[at].Node.Type(), stored[at]
}

// NumRows is the number of rows that the file says it has.
func (f *File) NumRows() int64 { return f.table.NumRows() }

// Objects reads rows in the library's form: objects by name, lists, texts, numbers and truth values.
type Objects struct {
	rows *parquet.GenericReader[any]
	next int64
}

func (f *File) Objects() (o *Objects, err error) {
	defer Guard(&err)()
	return &Objects{rows: parquet.NewGenericReader[any](f.table)}, nil
}

// Row reads a row, counted from one, fastest in order.
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

// Close releases the rows read ahead.
func (o *Objects) Close() error { return o.rows.Close() }

// Guard turns the Parquet library's panics and false addresses on damaged files into errors: defer Guard(&err)().
func Guard(err *error) func() {
	before := debug.SetPanicOnFault(true)
	return func() {
		debug.SetPanicOnFault(before)
		if p := recover(); p != nil {
			*err = fmt.Errorf("the Parquet table is damaged: %v", p)
		}
	}
}
