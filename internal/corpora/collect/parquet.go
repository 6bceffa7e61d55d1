package collect

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go"

	"github.com/redsi/redsi/internal/corpora/nq"
)

// parquetRows reads those columns of a Parquet table that a schema wants, a page of each at a
// time.
type parquetRows struct {
	file   *os.File
	table  *parquet.File
	names  []string // of all columns
	leaves []int    // column of the table, by column of the schema; -1: none
	group  int      // row groups begun
	left   int64    // rows of the present one
	open   []*leaf
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
	rows.open = make([]*leaf, len(s))
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
	p.closeGroup()
	p.file.Close()
}

func (p *parquetRows) closeGroup() {
	for i, l := range p.open {
		if l != nil {
			l.close()
			p.open[i] = nil
		}
	}
}

func (p *parquetRows) next() (r *record, err error) {
	defer guarded(&err)()
	for p.left == 0 {
		p.closeGroup()
		groups := p.table.RowGroups()
		if p.group == len(groups) {
			return nil, io.EOF
		}
		g := groups[p.group]
		p.group++
		p.left = g.NumRows()
		for i, at := range p.leaves {
			if at >= 0 {
				p.open[i] = &leaf{pages: g.ColumnChunks()[at].Pages()}
			}
		}
	}
	p.left--
	p.row++
	p.rec.names = p.names
	var bad error
	for i, l := range p.open {
		p.rec.values[i] = value{}
		if l == nil {
			continue
		}
		v, err := l.next()
		if errors.As(err, new(*fault)) {
			bad = errors.Join(bad, err) // the other columns go on to the next row all the same
			continue
		} else if errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("the table ends before its row %d", p.row)
		} else if err != nil {
			return nil, err
		}
		p.rec.values[i] = v
	}
	if bad != nil {
		return nil, bad
	}
	return &p.rec, nil
}

// leaf is one column of a row group.
type leaf struct {
	pages  parquet.Pages
	page   parquet.Page
	values parquet.ValueReader
	buf    [256]parquet.Value
	held   []parquet.Value // of buf
}

func (l *leaf) close() {
	if l.page != nil {
		parquet.Release(l.page)
	}
	l.pages.Close()
}

// peek is the next value; io.EOF after the last.
func (l *leaf) peek() (parquet.Value, error) {
	for len(l.held) == 0 {
		if l.values == nil {
			if l.page != nil {
				parquet.Release(l.page)
				l.page = nil
			}
			page, err := l.pages.ReadPage()
			if err != nil {
				return parquet.Value{}, err
			}
			l.page, l.values = page, page.Values()
		}
		n, err := l.values.ReadValues(l.buf[:])
		l.held = l.buf[:n]
		if errors.Is(err, io.EOF) {
			l.values = nil
		} else if err != nil {
			return parquet.Value{}, err
		}
	}
	return l.held[0], nil
}

// next is what the next row has in the column.
func (l *leaf) next() (v value, err error) {
	first, err := l.peek()
	if err != nil {
		return v, err
	}
	for at := first; ; {
		l.held = l.held[1:]
		if !at.IsNull() {
			text, bad := cellText(at)
			err = errors.Join(err, bad)
			v.texts = append(v.texts, text)
		}
		var end error
		if at, end = l.peek(); errors.Is(end, io.EOF) {
			break
		} else if end != nil {
			return v, end
		}
		if at.RepetitionLevel() == 0 {
			break
		}
		v.list = true
	}
	return v, err
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
