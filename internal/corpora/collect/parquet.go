package collect

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/redsi/redsi/internal/corpora/columns"
	"github.com/redsi/redsi/internal/corpora/nq"
)

// parquetRows reads the columns of a Parquet table that a schema wants, in the order of the schema.
type parquetRows struct {
	*columns.Rows
	file  *os.File
	texts []textOf // by column of the schema
	rec   record
}

func openParquet(path string, role Role, s schema) (p *parquetRows, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			f.Close()
		}
	}()
	defer columns.Guard(&err)()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	table, err := columns.Open(f, info.Size())
	if err != nil {
		return nil, err
	}
	names := table.Names
	p = &parquetRows{file: f, texts: make([]textOf, len(s)), rec: record{names: names, values: make([]value, len(s))}}
	wanted := make([]columns.Wanted, len(s))
	for i, c := range s {
		at := slices.IndexFunc(c.aliases, func(name string) bool { return table.Index(name) >= 0 })
		if wanted[i].At = at; at < 0 {
			for _, name := range names {
				if object, _, parts := strings.Cut(name, "."); parts && slices.Contains(c.aliases, object) {
					return nil, fmt.Errorf("column %q has parts, want one text or number; say which part is the %s, such as %q, by %s", object, c.name, name, attributeOf[role])
				}
			}
			continue
		}
		at = table.Index(c.aliases[at])
		stored, element := table.Type(at)
		if p.texts[i], err = textsOf(stored, element); err != nil {
			return nil, fmt.Errorf("column %q %w", names[at], err)
		}
		wanted[i] = columns.Wanted{At: at, Kind: stored.Kind()}
	}
	if !slices.ContainsFunc(wanted, func(w columns.Wanted) bool { return w.At >= 0 }) { // any column counts the rows
		stored, _ := table.Type(0)
		wanted = append(wanted, columns.Wanted{Kind: stored.Kind()})
	}
	p.Rows, err = table.Read(wanted)
	return p, err
}

func (p *parquetRows) at() int64 { return p.Row }

func (p *parquetRows) close() {
	p.Close()
	p.file.Close()
}

func (p *parquetRows) next() (r *record, err error) {
	defer columns.Guard(&err)()
	if err := p.Next(); err != nil {
		return nil, err
	}
	for i := range p.rec.values {
		v, c := &p.rec.values[i], p.Columns[i]
		if *v = (value{}); c == nil {
			continue
		}
		v.null = c.Len() == 0 && !c.Lists
		for cell := range c.Values() {
			text, is, no := p.texts[i](cell)
			if bad := (*nq.Fault)(nil); errors.As(no, &bad) && err == nil {
				err = nq.Faultf(bad.Reason, "column %q: %s", c.Name, bad.Detail)
			}
			if is {
				v.texts, v.list = append(v.texts, text), c.Lists
			} else {
				v.null = true
			}
		}
	}
	return &p.rec, err
}
