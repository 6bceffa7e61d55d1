package collect

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go"

	"github.com/redsi/redsi/internal/corpora/nq"
)

// parquetRows reads those columns of a Parquet table that a schema wants, some rows at a time.
type parquetRows struct {
	file   *os.File
	table  *parquet.File
	names  []string                  // of all columns
	leaves []int                     // column of the table, by column of the schema; -1: none
	group  int                       // row groups begun
	rows   parquet.RowReadSeekCloser // of the present one
	left   int64                     // rows that it has yet
	buf    [64]parquet.Row
	held   []parquet.Row // of buf
	row    int64
	rec    record
}

func openParquet(path string, s schema) (p *parquetRows, err error) {
	defer guarded(&err)()
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() {
		if p == nil {
			f.Close()
		}
	}()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	table, err := parquet.OpenFile(f, info.Size(), parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return nil, err
	}
	rows := &parquetRows{file: f, table: table, leaves: make([]int, len(s)), rec: record{values: make([]value, len(s))}}
	paths := table.Schema().Columns()
	for _, path := range paths {
		rows.names = append(rows.names, strings.Join(path, "."))
	}
	for i, c := range s {
		rows.leaves[i] = leafOf(paths, c.known)
	}
	return rows, nil
}

// leafOf finds the column of the first known name: its path, or that of a list with that name.
func leafOf(paths [][]string, known []string) int {
	for _, name := range known {
		for i, path := range paths {
			if joined := strings.Join(path, "."); joined == name || joined == name+".list.element" || joined == name+".list.item" || joined == name+".array" {
				return i
			}
		}
	}
	return -1
}

// guarded makes what the library does with a damaged file, a panic or a false address, an
// error; to be deferred as defer guarded(&err)().
func guarded(err *error) func() {
	before := debug.SetPanicOnFault(true)
	return func() {
		debug.SetPanicOnFault(before)
		if p := recover(); p != nil {
			*err = fmt.Errorf("the Parquet table is damaged: %v", p)
		}
	}
}

func (p *parquetRows) at() int64 { return p.row }

func (p *parquetRows) close() {
	if p.rows != nil {
		p.rows.Close()
	}
	p.file.Close()
}

// fill reads the next rows; io.EOF after the last.
func (p *parquetRows) fill() error {
	for len(p.held) == 0 {
		if p.rows == nil {
			groups := p.table.RowGroups()
			if p.group == len(groups) {
				return io.EOF
			}
			p.rows, p.left = parquet.NewColumnChunkRowReader(p.chunks(groups[p.group].ColumnChunks())), groups[p.group].NumRows()
			p.group++
		}
		n, err := p.rows.ReadRows(p.buf[:])
		p.held = p.buf[:n]
		p.left -= int64(n)
		switch {
		case errors.Is(err, io.EOF) && p.left > 0:
			return fmt.Errorf("the table ends before its row %d", p.row+int64(n)+1)
		case errors.Is(err, io.EOF):
			err = p.rows.Close()
			p.rows = nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// chunks are those that are read, each once: of a table that has none of the columns the first,
// to count its rows.
func (p *parquetRows) chunks(all []parquet.ColumnChunk) (chunks []parquet.ColumnChunk) {
	for i, c := range all {
		if slices.Contains(p.leaves, i) {
			chunks = append(chunks, c)
		}
	}
	if chunks == nil {
		return all[:1]
	}
	return chunks
}

func (p *parquetRows) next() (r *record, err error) {
	defer guarded(&err)()
	if err := p.fill(); err != nil {
		return nil, err
	}
	row := p.held[0]
	p.held = p.held[1:]
	p.row++
	p.rec.names = p.names
	for i, leaf := range p.leaves {
		v, ended := value{}, leaf >= 0
		for _, cell := range row {
			if cell.Column() != leaf {
				continue
			}
			ended = false
			v.list = v.list || cell.RepetitionLevel() > 0
			if !cell.IsNull() {
				text, bad := cellText(cell)
				err = errors.Join(err, bad)
				v.texts = append(v.texts, text)
			}
		}
		if ended {
			return nil, fmt.Errorf("the table ends before its row %d", p.row)
		}
		p.rec.values[i] = v
	}
	return &p.rec, err
}

func cellText(v parquet.Value) (string, error) {
	switch v.Kind() {
	case parquet.ByteArray, parquet.FixedLenByteArray:
		s := string(v.ByteArray())
		if !utf8.ValidString(s) {
			return "", faultf(nq.BadUTF8, "a text is not UTF-8")
		}
		return s, nil
	case parquet.Int32:
		return strconv.FormatInt(int64(v.Int32()), 10), nil
	case parquet.Int64:
		return strconv.FormatInt(v.Int64(), 10), nil
	case parquet.Float:
		return strconv.FormatFloat(float64(v.Float()), 'g', -1, 32), nil
	case parquet.Double:
		return strconv.FormatFloat(v.Double(), 'g', -1, 64), nil
	}
	return "", faultf(nq.BadType, "a value is %s, want a text or a number", v.Kind())
}
