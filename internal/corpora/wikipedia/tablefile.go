package wikipedia

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/redsi/redsi/internal/corpora/unpack"
	"github.com/redsi/redsi/internal/system/values"
)

// WriteTable writes t as JSON lines, sorted by oldid: equal tables give equal bytes.
func WriteTable(w io.Writer, t *Table) error {
	bw := bufio.NewWriter(w)
	enc := json.NewEncoder(bw)
	enc.SetEscapeHTML(false)
	for i := range t.entries {
		if err := enc.Encode(&t.entries[i]); err != nil {
			return err
		}
	}
	return bw.Flush()
}

// ReadTable reads a table of revisions: WriteTable's, or a user's JSON lines or CSV with a header that names oldid, page_id
// (or pageid, as in the paper's released table) and perhaps title, ns, redirect (true or false) and target, in any order.
// gzip, bzip2 and zstd are recognised; errors have name and line. An empty file is a table without entries.
func ReadTable(r io.Reader, name string) (*Table, error) {
	src, err := unpack.Open(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	defer src.Close()
	br := bufio.NewReaderSize(src, 1<<20)
	if bom, _ := br.Peek(3); bytes.Equal(bom, []byte("\xef\xbb\xbf")) {
		br.Discard(3)
	}
	first, err := br.Peek(1)
	if errors.Is(err, io.EOF) {
		return &Table{}, nil
	} else if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	read := readCSV
	if first[0] == '{' {
		read = readJSONL
	}
	rows := rows{first: map[uint64]row{}}
	if err := read(br, &rows); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	t, err := NewTable(rows.entries)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return t, nil
}

// rows holds the entries of a file, and the first line of each revision.
type rows struct {
	entries []Entry
	first   map[uint64]row
}

type row struct {
	line int
	page uint64
}

// add takes the entry of a line, and refuses a second page for a revision.
func (r *rows) add(line int, e Entry) error {
	first, ok := r.first[e.OldID]
	if !ok {
		r.first[e.OldID] = row{line, e.PageID}
	} else if first.page != e.PageID {
		return fmt.Errorf("revision %d belongs to page %d, in line %d to page %d: leave one of them out", e.OldID, e.PageID, first.line, first.page)
	}
	r.entries = append(r.entries, e)
	return nil
}

// readJSONL needs oldid and page_id in every line; ns may be absent.
func readJSONL(r *bufio.Reader, to *rows) error {
	lines := unpack.NewLines(r)
	return lines.Each(func(line []byte) error {
		if !utf8.Valid(line) {
			return errors.New("the line is not UTF-8: write the table in that encoding")
		}
		if len(bytes.TrimSpace(line)) == 0 {
			return nil
		}
		var e struct {
			Entry
			OldID  json.Number `json:"oldid"`
			PageID json.Number `json:"page_id"`
			Page   json.Number `json:"pageid"`
			NS     *int32      `json:"ns"`
		}
		if err := json.Unmarshal(line, &e); err != nil {
			return err
		}
		oldid, errOldID := parseID(string(e.OldID))
		page, errPage := parseID(string(cmp.Or(e.PageID, e.Page)))
		if errOldID != nil || errPage != nil || e.PageID != "" && e.Page != "" {
			return fmt.Errorf("oldid and page_id must be there, once, as integers above 0: %.100s", line)
		}
		e.Entry.OldID, e.Entry.PageID, e.Entry.NS = oldid, page, NSUnknown
		if e.NS != nil {
			e.Entry.NS = *e.NS
		}
		return to.add(lines.Number(), e.Entry)
	})
}

func readCSV(r *bufio.Reader, to *rows) error {
	cr := csv.NewReader(r)
	cr.ReuseRecord = true
	head, err := cr.Read()
	if err != nil {
		return fmt.Errorf("line 1: %w", err)
	}
	head = slices.Clone(head)
	column := func(names ...string) int {
		return slices.IndexFunc(head, func(h string) bool { return slices.Contains(names, strings.ToLower(strings.TrimSpace(h))) })
	}
	oldID, pageID, title, ns := column("oldid"), column("page_id", "pageid"), column("title"), column("ns")
	redirect, target := column("redirect"), column("target")
	if oldID < 0 || pageID < 0 {
		return fmt.Errorf("the first line must name the columns oldid and page_id, it has %q", strings.Join(head, ","))
	}
	for {
		row, err := cr.Read()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err // with its line
		}
		line, _ := cr.FieldPos(0)
		if i := slices.IndexFunc(row, func(s string) bool { return !utf8.ValidString(s) }); i >= 0 {
			return fmt.Errorf("line %d: %q is not UTF-8: write the table in that encoding", line, row[i])
		}
		field := func(column int) string {
			if column < 0 {
				return ""
			}
			return row[column]
		}
		e := Entry{Title: field(title), Target: field(target), NS: NSUnknown}
		if e.OldID, err = parseID(row[oldID]); err != nil {
			return fmt.Errorf("line %d: oldid: %w", line, err)
		}
		if e.PageID, err = parseID(row[pageID]); err != nil {
			return fmt.Errorf("line %d: page_id: %w", line, err)
		}
		if said := field(redirect); said != "" {
			if e.Redirect, err = strconv.ParseBool(strings.TrimSpace(said)); err != nil {
				return fmt.Errorf("line %d: redirect: %w", line, err)
			}
		}
		if said := field(ns); said != "" {
			v, err := strconv.ParseInt(strings.TrimSpace(said), 10, 32)
			if err != nil {
				return fmt.Errorf("line %d: ns: %w", line, err)
			}
			e.NS = int32(v)
		}
		if err := to.add(line, e); err != nil {
			return fmt.Errorf("line %d: %w", line, err)
		}
	}
}

func parseID(s string) (uint64, error) {
	id, err := values.ID(s)
	if err == nil && id == 0 {
		err = errors.New("0 is not an id")
	}
	return id, err
}
