package nq

import (
	"errors"
	"fmt"

	"github.com/redsi/redsi/internal/corpora/unpack"
)

func (rd *Reader) usable(r *Record) error {
	if rd.opt.Strict {
		if err := checkUsable(r); err != nil {
			return err
		}
	}
	if rd.opt.Check != nil {
		if err := rd.opt.Check(r); err != nil {
			return Faultf(Unusable, "%v", err)
		}
	}
	return nil
}

// unique notes the line of a record, and refuses a second record of its id.
func (rd *Reader) unique(it *item) {
	if rd.lines == nil || it.fault != nil {
		return
	}
	line, id := rd.last+it.line+1, it.rec.ExampleID
	if at, ok := rd.lines[id]; ok {
		it.fault = &RecordError{File: rd.name, ExampleID: id, HasID: true, Reason: Duplicate, Detail: fmt.Sprintf("the example is on line %d already", at)}
		return
	}
	rd.lines[id] = line
}

// nothing says why a file has no records. A file without a line of JSON is refused as foreign, even with Skip.
func (rd *Reader) nothing() *RecordError {
	e := &RecordError{File: rd.name, Line: rd.last + 1, Reason: EmptyFile, Detail: "the file has no records"}
	skipped := rd.Counts.SkippedTotal()
	if bad := rd.Counts.Skipped[BadJSON] + rd.Counts.Skipped[BadUTF8]; skipped > 0 && bad == skipped {
		e.Line, e.Reason = 1, BadStream
		e.Detail = fmt.Sprintf("none of its %d lines is JSON: this is no file of records", skipped)
	}
	return e
}

// refuse leaves out a record if Options.Skip says so, and reports whether reading ends with e.
func (rd *Reader) refuse(e *RecordError) bool {
	if rd.opt.Skip && e.Reason != ReadFailed && e.Reason != LineTooLong && e.Reason != BadStream {
		rd.Counts.Skip(e.Reason, *e)
		return false
	}
	rd.err = e
	rd.Close()
	return true
}

// streamError describes an error that ends the file.
func (rd *Reader) streamError(err error) *RecordError {
	if rd.hub != nil {
		return rd.hubError(err)
	}
	e := &RecordError{File: rd.name, Line: rd.last + 1, Reason: BadStream}
	if f, ok := err.(*Fault); ok {
		e.Reason, e.Detail = f.Reason, f.Detail
		return e
	}
	at := rd.taken.Taken()
	if err := rd.taken.Err; err != nil {
		e.Reason, e.Err = ReadFailed, err
		e.Detail = fmt.Sprintf("reading failed after %d stored bytes: %v", at, e.Err)
		return e
	}
	e.Err = err
	if errors.As(err, new(*unpack.ForeignError)) {
		e.Detail = err.Error()
		return e
	}
	e.Detail = fmt.Sprintf("the input is damaged or ends early, within its first %d stored bytes, after %d records: %v", at, rd.Counts.Records, err)
	return e
}
