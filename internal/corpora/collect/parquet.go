package collect

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/redsi/redsi/internal/corpora/columns"
)

// parquetRows reads those columns of a Parquet table that a schema wants, some rows at a time.
type parquetRows struct {
	file   *os.File
	table  *parquet.File
	names  []string                  // of all columns
	leaves []int                     // column of the table, by column of the schema; -1: none
	texts  []textOf                  // by column of the schema
	lists  []bool                    // whether the column is of lists, by column of the schema
	group  int                       // row groups begun
	rows   parquet.RowReadSeekCloser // of the present one
	left   int64                     // rows that it has yet
	buf    [64]parquet.Row
	held   []parquet.Row // of buf
	row    int64
	rec    record
}

func openParquet(path string, role Role, s schema) (p *parquetRows, err error) {
	defer columns.Guard(&err)()
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
	rows := &parquetRows{file: f, table: table, leaves: make([]int, len(s)), texts: make([]textOf, len(s)), lists: make([]bool, len(s)), rec: record{values: make([]value, len(s))}}
	paths := table.Schema().Columns()
	elements := slices.DeleteFunc(slices.Clone(table.Metadata().Schema), func(e format.SchemaElement) bool { return !e.Type.Valid }) // of leaves
	for _, path := range paths {
		rows.names = append(rows.names, strings.Join(path, "."))
	}
	for i, c := range s {
		at := leafOf(paths, c.aliases)
		if rows.leaves[i] = at; at < 0 {
			if part := slices.IndexFunc(paths, func(path []string) bool { return len(path) > 1 && slices.Contains(c.aliases, path[0]) }); part >= 0 {
				return nil, fmt.Errorf("column %q has parts, want one text or number; say which part is the %s, such as %q, by %s", paths[part][0], c.name, rows.names[part], attributeOf[role])
			}
			continue
		}
		leaf, _ := table.Schema().Lookup(paths[at]...)
		rows.lists[i] = leaf.MaxRepetitionLevel > 0
		if rows.texts[i], err = textsOf(leaf.Node.Type(), elements[at]); err != nil {
			return nil, fmt.Errorf("column %q %w", rows.names[at], err)
		}
	}
	return rows, nil
}

// leafOf finds the column of the first known name: its path, or that of a list with that name.
func leafOf(paths [][]string, aliases []string) int {
	for _, name := range aliases {
		for i, path := range paths {
			if joined := strings.Join(path, "."); joined == name || joined == name+".list.element" || joined == name+".list.item" || joined == name+".array" {
				return i
			}
		}
	}
	return -1
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
	defer columns.Guard(&err)()
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
			if cell.IsNull() {
				v.null = !p.lists[i]
				continue
			}
			text, is, no := p.texts[i](cell)
			if bad := (*fault)(nil); errors.As(no, &bad) && err == nil {
				err = faultf(bad.reason, "column %q: %s", p.names[leaf], bad.detail)
			}
			if is {
				v.texts, v.list = append(v.texts, text), p.lists[i]
			} else {
				v.null = true
			}
		}
		if ended {
			return nil, fmt.Errorf("the table ends before its row %d", p.row)
		}
		p.rec.values[i] = v
	}
	return &p.rec, err
}
