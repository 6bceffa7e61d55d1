package export

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"

	"github.com/redsi/redsi/internal/corpora/nq"
)

// text is one buffered text file, plain or gzip without a time stamp.
type text struct {
	*bufio.Writer
	json *json.Encoder
	gz   *gzip.Writer
	file io.Closer
}

func (f *files) text(name string) (*text, error) {
	w, err := f.open(name)
	if err != nil {
		return nil, err
	}
	t := &text{file: w}
	f.closers = append(f.closers, t.close)
	var dst io.Writer = w
	if strings.HasSuffix(name, ".gz") {
		t.gz = gzip.NewWriter(w)
		t.gz.ModTime = time.Unix(0, 0) // no time
		dst = t.gz
	}
	t.Writer = bufio.NewWriterSize(dst, 64<<10)
	t.json = json.NewEncoder(t.Writer)
	t.json.SetEscapeHTML(false)
	return t, nil
}

// close finishes the file even if an earlier write failed.
func (t *text) close() error {
	err := t.Flush()
	if t.gz != nil {
		err = errors.Join(err, t.gz.Close())
	}
	return errors.Join(err, t.file.Close())
}

// bySplit holds the files of one kind by split, each created with the split's first query, so that no file is empty.
type bySplit struct {
	files *files
	name  func(nq.Split) string
	head  string // first line of each
	open  map[nq.Split]*text
}

func (f *files) bySplit(head string, name func(nq.Split) string) *bySplit {
	return &bySplit{files: f, name: name, head: head, open: map[nq.Split]*text{}}
}

func (b *bySplit) of(s nq.Split) (*text, error) {
	if t, ok := b.open[s]; ok {
		return t, nil
	}
	t, err := b.files.text(b.name(s))
	if err != nil {
		return nil, err
	}
	b.open[s] = t
	_, err = t.WriteString(b.head)
	return t, err
}

func (b *bySplit) line(s nq.Split, line string) error {
	t, err := b.of(s)
	if err == nil {
		_, err = t.WriteString(line)
	}
	return err
}

// named puts a split's name between two halves of a file name.
func named(before, after string) func(nq.Split) string {
	return func(s nq.Split) string { return before + string(s) + after }
}
