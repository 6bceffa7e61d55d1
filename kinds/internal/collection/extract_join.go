package collection

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

// extracted is one file of an extract: what its part left.
type extracted struct {
	name             string // of the NQ file
	records, headers artifacts.File
	counts           nq.Counts
	repeated         []repeated
}

// repeated is an entry whose example an earlier file has.
type repeated struct {
	at int64 // entry of the streams, from zero
	id int64
	in string // the earlier file
}

// mergeExtracted lists the files' streams. Parts cannot see each other, so an example
// that is in two files is found here: the later file is written again without it.
func mergeExtracted(_ context.Context, x *step.IO, c extractConfig) error {
	files, err := extractedFiles(x, c)
	if err != nil {
		return err
	}
	if err := findRepeated(x, files); err != nil {
		return err
	}
	var total nq.Counts
	for i := range files {
		f := &files[i]
		if err := f.link(x, c.OnBadInput); err != nil {
			return err
		}
		total.Add(f.counts)
	}
	return writeCounts(x, total)
}

func extractedFiles(x *step.IO, c extractConfig) ([]extracted, error) {
	var files []extracted
	for i, f := range c.each(x) {
		p := &x.Parts()[i]
		e := extracted{name: f.Name, records: streamOf(f.Name, "records", p), headers: streamOf(f.Name, "headers", p)}
		if err := inout.ReadJSON(x, step.In(p.Outputs["report"]), &e.counts); err != nil {
			return nil, err
		}
		files = append(files, e)
	}
	return files, nil
}

// each are the files that are extracted, a part each.
func (c extractConfig) each(x *step.IO) (files []artifacts.File) {
	for n, in := range c.Files {
		files = append(files, x.Files(in, fmt.Sprintf("%s-%02d.jsonl.gz", c.Split, n))...)
	}
	return files
}

// streamOf is what a part left of a file, as the step's outputs name it.
func streamOf(name, output string, p *artifacts.Result) artifacts.File {
	a := p.Outputs[output]
	return artifacts.File{Name: strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(name, ".gz"), ".jsonl"), ".parquet") + "." + output, Digest: a.Digest, Size: a.Size}
}

// knownExtracted lists the streams of the files that have been read.
func knownExtracted(x *step.IO, c extractConfig, parts []*artifacts.Result) map[string][]artifacts.File {
	known := map[string][]artifacts.File{}
	for i, f := range c.each(x) {
		for _, output := range []string{"records", "headers"} {
			if parts[i] != nil {
				known[output] = append(known[output], streamOf(f.Name, output, parts[i]))
			}
		}
	}
	return known
}

// findRepeated reads the headers of several files.
func findRepeated(x *step.IO, files []extracted) error {
	if len(files) < 2 {
		return nil
	}
	first := map[int64]int{} // file of each example
	for i := range files {
		f, at := &files[i], int64(-1)
		err := headersOf(x, f.headers, func(h *nq.Header) error {
			at++
			if j, ok := first[h.ExampleID]; ok {
				f.repeated = append(f.repeated, repeated{at, h.ExampleID, files[j].name})
			} else {
				first[h.ExampleID] = i
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// link makes the file's streams part of the outputs, without repeated examples.
func (f *extracted) link(x *step.IO, policy string) error {
	if len(f.repeated) == 0 {
		return errors.Join(x.LinkFile("records", f.records), x.LinkFile("headers", f.headers))
	}
	for _, r := range f.repeated {
		e := nq.RecordError{File: f.name, Line: r.at + 1, ExampleID: r.id, HasID: true, Reason: nq.Duplicate,
			Detail: "the example is in " + r.in + " already; the number is of the record, not of its line"}
		if policy != "skip" {
			return step.Permanent(&e)
		}
		f.counts.Skip(e.Reason, e)
		f.counts.Records--
	}
	if err := rewriteStream(x, "records", f.records, f.repeated, nq.NewRecordReader, nq.NewRecordWriter, func(r *nq.Record) int64 { return r.ExampleID }); err != nil {
		return err
	}
	return rewriteStream(x, "headers", f.headers, f.repeated, nq.NewHeaderReader, nq.NewHeaderWriter, func(h *nq.Header) int64 { return h.ExampleID })
}

// eachEntry visits the entries of a stream, each of which is only valid during the call.
func eachEntry[T any](x *step.IO, from artifacts.File, newReader func(io.Reader) *nq.EntryReader[T], visit func(*T) error) error {
	in, err := x.OpenFile(from)
	if err != nil {
		return err
	}
	defer in.Close()
	rd := newReader(in)
	defer rd.Close()
	var v T
	for {
		if err := rd.Next(&v); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return inout.DataError(fmt.Errorf("%s: %w", from.Name, err))
		}
		if err := visit(&v); err != nil {
			return err
		}
	}
}

// rewriteStream copies a stream into an output without some of its entries, which must
// be of the examples that they are said to be of.
func rewriteStream[T any](x *step.IO, output string, from artifacts.File, without []repeated,
	newReader func(io.Reader) *nq.EntryReader[T], newWriter func(io.Writer) (*nq.EntryWriter[T], error), id func(*T) int64) error {
	out, err := x.CreateFile(output, from.Name)
	if err != nil {
		return err
	}
	w, err := newWriter(out)
	if err != nil {
		return err
	}
	at := int64(-1)
	err = eachEntry(x, from, newReader, func(v *T) error {
		if at++; len(without) == 0 || without[0].at != at {
			return w.Write(v)
		}
		if got := id(v); got != without[0].id {
			return step.Permanent(fmt.Errorf("%s: entry %d of the %s is example %d, its header is of example %d", from.Name, at+1, output, got, without[0].id))
		}
		without = without[1:]
		return nil
	})
	if err != nil {
		return errors.Join(err, w.Close())
	}
	return errors.Join(w.Close(), out.Close())
}
