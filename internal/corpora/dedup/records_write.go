package dedup

import (
	"errors"
	"io"

	"github.com/redsi/redsi/internal/corpora/nq"
)

// WriteRecords writes next's records up to io.EOF, and their headers with the text keys of TextKeys.
func WriteRecords(next func(*nq.Record) error, recOut, headOut io.Writer, tags bool) (err error) {
	records, err := nq.NewRecordWriter(recOut)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, records.Close()) }()
	headers, err := nq.NewHeaderWriter(headOut)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, headers.Close()) }()
	var r nq.Record
	for {
		if err := next(&r); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		h := nq.HeaderOf(&r)
		h.Text4KCased, h.Text4K = TextKeys(&r, tags)
		if err := errors.Join(records.Write(&r), headers.Write(&h)); err != nil {
			return err
		}
	}
}
