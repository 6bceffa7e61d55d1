package export

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"github.com/klauspost/compress/gzip"

	"github.com/redsi/redsi/internal/nq"
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
	var dst io.Writer = w
	if strings.HasSuffix(name, ".gz") {
		t.gz = gzip.NewWriter(w)
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

// texts opens several files, all or none.
func (f *files) texts(names ...string) ([]*text, error) {
	var all []*text
	for _, name := range names {
		t, err := f.text(name)
		if err != nil {
			return nil, errors.Join(err, closeAll(all))
		}
		all = append(all, t)
	}
	return all, nil
}

func closeAll(all []*text) error {
	var err error
	for _, t := range all {
		err = errors.Join(err, t.close())
	}
	return err
}

// bySplit picks the file of a split from one per split.
func bySplit(all []*text, s nq.Split) *text {
	for i, split := range splits {
		if split == s {
			return all[i]
		}
	}
	return nil // Write has checked the split
}
