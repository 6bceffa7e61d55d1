package collection

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/corpora/columns"
	"github.com/redsi/redsi/internal/corpora/dedup"
	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/corpora/wikipedia"
	"github.com/redsi/redsi/internal/host/rates"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

type extractConfig struct {
	extracting
	Files step.Inputs `hcl:"files" accepts:"files" help:"NQ .jsonl.gz files, full or simplified, or Parquet files of google-research-datasets/natural_questions on the Hugging Face hub"`
}

// extracting is what an extract step and its parts have in common.
type extracting struct {
	Split      string   `hcl:"split" enum:"train,dev" help:"which split the files belong to"`
	Format     string   `hcl:"format,optional" enum:"auto,full,simplified" help:"format of the files; auto looks at each record"`
	OnBadInput string   `hcl:"on_bad_record,optional" enum:"fail,skip" help:"what to do with a record that cannot be read or used, with a second one of an example_id, and with a file without records: fail and name it, or leave it out, counted and named in the report; a damaged or cut file always fails"`
	Require    []string `hcl:"require,optional" enum:"title,oldid" help:"what the URL of a record must name as well, else it is a bad record: title, which the keys from URL titles need, and oldid, which resolution needs"`
	Text4K     string   `hcl:"text4k,added" enum:"text_tokens,all_tokens" help:"which of the simplified text's tokens the keys text4k and text4k_cased compare, joined by one blank and cut to 4,000 code points: tokens of text, or the tags too; the paper does not say"`
}

var Extract = step.Define(step.Kind[extractConfig]{
	Name:    "extract",
	Version: 3,
	Doc: `Read Natural Questions files into compact records.
Parquet files as the Hugging Face hub has the set (configs default and dev) give
the records of the original lines; those of revisions from before there were byte
offsets have format = "simplified" only. Keeps the fields that retrieval needs (paper, appendix "NQ Formats"). One part
per file, so adding or losing one recomputes only this part. Headers are the
light half, about 300 bytes a record, that grouping reads. What no later step can
use is a bad record here, where it can be skipped: no words in question or text, no
URL, a dev record without title, an example_id that was there before, in any of the
files. Cost: near the speed of gunzip on one core per file; memory is bounded by a
few records and 20 bytes for each example; of Parquet, by five times the HTML of
a group of rows, 0.7 GB where groups have 1,000.`,
	Example: `step "extract" "train" {
  files = step.download.nq_train.files
  split = "train"
}`,
	Outputs: []step.Output{
		{Name: "records", Type: "nq/records", Tree: true, Help: "records@1 streams, one per file, in the order of their names"},
		{Name: "headers", Type: "nq/headers", Tree: true, Help: "headers@1 streams beside them"},
		{Name: "report", Type: "report", Help: "counts, and what was left out and why, as JSON", Fields: step.FieldsOf[nq.Counts]()},
	},
	Defaults: extractConfig{extracting: extracting{Format: "auto", OnBadInput: "fail", Text4K: textTokens}},
	Work: func(c extractConfig) step.Work {
		bytes := func(times float64) step.Amount {
			return step.Amount{Times: times, Of: c.Files, Count: step.BytesCount}
		}
		return step.Work{
			Does:   []step.Doing{{Unit: step.GzipBytes, Amount: bytes(1)}},
			Counts: map[string]step.Amount{"records": bytes(1 / bytesOfRecord), step.BytesCount: bytes(extractedByte)},
		}
	},
	Parts: []step.Spec{extractFile.Spec},
	Split: func(_ context.Context, x *step.IO, c extractConfig) ([]step.Task, error) {
		names := map[string]bool{}
		return taskOfEach(x, c.Files, "file", c.named, func(f step.Input, name string) (step.Task, error) {
			if names[name] {
				return step.Task{}, fmt.Errorf("two of the files are called %s; shards are ordered by name, so names must differ", name)
			}
			names[name] = true
			return extractFile.Task(extractFileConfig{c.extracting, f, name})
		})
	},
	Known: func(x *step.IO, c extractConfig, parts []*artifacts.Result) map[string][]artifacts.File {
		streams := map[string][]artifacts.File{}
		for i, f := range c.each(x) {
			for _, output := range []string{"records", "headers"} {
				if parts[i] != nil {
					streams[output] = append(streams[output], streamOf(f.Name, output, parts[i]))
				}
			}
		}
		return streams
	},
	Run: mergeExtracted,
})

// extractFileConfig is one file of an extract. Its name is in errors and in the report, and so in the key.
type extractFileConfig struct {
	extracting
	File step.Input `hcl:"file" help:"NQ file"`
	Name string     `hcl:"name" help:"file name, for errors"`
}

const textTokens, allTokens = "text_tokens", "all_tokens"

var extractFile = step.DefinePart(step.Kind[extractFileConfig]{
	Name:     "extract_file",
	Version:  3,
	Doc:      "One file of an extract.",
	Defaults: extractFileConfig{extracting: extracting{Text4K: textTokens}},
	Outputs: []step.Output{
		{Name: "records", Type: "nq/records", Help: "records@1"},
		{Name: "headers", Type: "nq/headers", Help: "headers@1"},
		{Name: "report", Type: "report", Help: "nq.Counts as JSON"},
	},
	Run: runExtractFile,
})

var nqFormats = map[string]nq.Format{"auto": nq.Auto, "full": nq.Full, "simplified": nq.Simplified}

func runExtractFile(_ context.Context, x *step.IO, c extractFileConfig) (err error) {
	o := nq.Options{Split: nq.Split(c.Split), Format: nqFormats[c.Format], Strict: true, Check: func(r *nq.Record) error { // beyond what every step needs
		for _, name := range c.Require {
			if err := required[name](r.URL); err != nil {
				return err
			}
		}
		return nil
	},
		Skip: c.OnBadInput == "skip", Progress: func(n int64) {
			x.Report(step.Progress{Done: n, Total: c.File.Artifact.Size, Unit: "bytes", Note: c.Name})
		}}
	rd, done, err := openRecords(x, c, o)
	if err != nil {
		return err
	}
	defer done()
	recOut, err := x.Create("records")
	if err != nil {
		return err
	}
	headOut, err := x.Create("headers")
	if err != nil {
		return err
	}
	next := func(r *nq.Record) error { return inout.DataError(rd.Next(r)) }
	if err := dedup.WriteRecords(next, recOut, headOut, c.Text4K == allTokens); err != nil {
		return err
	}
	if err := errors.Join(recOut.Close(), headOut.Close()); err != nil {
		return err
	}
	return writeCounts(x, rd.Counts)
}

// openRecords opens a file of JSON lines or Parquet; the function closes it.
func openRecords(x *step.IO, c extractFileConfig, o nq.Options) (*nq.Reader, func(), error) {
	in, err := x.Open(c.File)
	if err != nil {
		return nil, nil, err
	}
	head := bufio.NewReaderSize(in, 64<<10)
	if mark, _ := head.Peek(len(columns.Mark)); string(mark) != columns.Mark { // the reader says what is wrong
		rd := nq.NewReader(head, c.Name, o)
		return rd, func() { rd.Close(); in.Close() }, nil
	}
	in.Close()
	f, err := openLocal(x, c.File.Artifact.Digest)
	if err != nil {
		return nil, nil, err
	}
	rd := nq.NewHubReader(f, c.File.Artifact.Size, c.Name, o)
	return rd, func() { rd.Close(); f.Close() }, nil
}

// openLocal opens a file for reading at any place, such as Parquet.
func openLocal(x *step.IO, d artifacts.Digest) (*os.File, error) {
	path, err := x.Path(d)
	if err != nil {
		return nil, err
	}
	return os.Open(path)
}

// eachLine visits the lines of a file of JSON lines or Parquet; of Parquet only the wanted lines, if wanted is not nil.
func eachLine(x *step.IO, f artifacts.File, wanted func(id string) bool, visit func(n int, line []byte) (more bool, err error)) error {
	in, err := openLocal(x, f.Digest)
	if err != nil {
		return err
	}
	defer in.Close()
	mark := make([]byte, len(columns.Mark))
	if _, err := in.ReadAt(mark, 0); err != nil || string(mark) != columns.Mark {
		return inout.EachLine(x, f, visit)
	}
	if err := nq.HubLines(in, f.Size, wanted, visit); err != nil {
		return inout.DataError(fmt.Errorf("%s: %w", f.Name, err))
	}
	return nil
}

// required are the checks of what a URL may be asked to name.
var required = map[string]func(url string) error{
	"title": func(url string) error {
		if _, ok := wikipedia.URLTitle(url); !ok {
			return fmt.Errorf("document_url names no title: %.200q", url)
		}
		return nil
	},
	"oldid": func(url string) error {
		_, err := wikipedia.OldID(url)
		return err
	},
}

// writeCounts counts what a reader did, by reason, and writes its report.
func writeCounts(x *step.IO, counts nq.Counts) error {
	inout.Count(x, map[string]int{"records": int(counts.Records), "fallbacks": int(counts.Fallbacks),
		"skipped": int(counts.SkippedTotal())})
	for reason, n := range counts.Skipped {
		x.Count("skipped_"+strings.ReplaceAll(string(reason), "-", "_"), n)
	}
	return inout.WriteJSON(x, "report", counts)
}

// Sizes of Natural Questions: 42 GB have 307,373 records ("Natural Questions" in the paper). Extract left 0.18 to
// 0.21 of a byte, in few real and generated records of real size.
const (
	bytesOfRecord = 42e9 / rates.TrainQueries
	extractedByte = 0.25
)

// taskOfEach makes a part of each file, which is its input of type typ. The file of the i-th input that is no tree is
// called name(i).
func taskOfEach(x *step.IO, ins step.Inputs, typ string, name func(i int) string, task func(f step.Input, name string) (step.Task, error)) ([]step.Task, error) {
	var tasks []step.Task
	for _, f := range inout.Files(x, ins, name) {
		t, err := task(step.In(artifacts.Artifact{Type: typ, Digest: f.Digest, Size: f.Size}), f.Name)
		if err != nil {
			return nil, step.Permanent(err)
		}
		tasks = append(tasks, t)
	}
	return tasks, nil
}

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

// mergeExtracted lists the files' streams. Parts cannot see each other, so an example that is in two files is found
// here: the later file is rewritten without it.
func mergeExtracted(_ context.Context, x *step.IO, c extractConfig) error {
	var files []extracted
	for i, f := range c.each(x) {
		p := &x.Parts()[i]
		e := extracted{name: f.Name, records: streamOf(f.Name, "records", p), headers: streamOf(f.Name, "headers", p)}
		if err := inout.ReadJSON(x, step.In(p.Outputs["report"]), &e.counts); err != nil {
			return err
		}
		files = append(files, e)
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

// named returns the name of an input without a name of its own.
func (c extractConfig) named(n int) string { return fmt.Sprintf("%s-%02d.jsonl.gz", c.Split, n) }

// each returns the files that are extracted, a part each.
func (c extractConfig) each(x *step.IO) []artifacts.File { return inout.Files(x, c.Files, c.named) }

// streamOf returns an output of a file's part as a file of the step's output.
func streamOf(name, output string, p *artifacts.Result) artifacts.File {
	a := p.Outputs[output]
	return artifacts.File{Name: strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(name, ".gz"), ".jsonl"), ".parquet") + "." + output, Digest: a.Digest, Size: a.Size}
}

// findRepeated finds the examples that an earlier file has, by the headers.
func findRepeated(x *step.IO, files []extracted) error {
	if len(files) < 2 {
		return nil
	}
	first := map[int64]int{} // file of each example
	for i := range files {
		f, at := &files[i], int64(-1)
		err := eachEntry(x, f.headers, nq.NewHeaderReader, func(h *nq.Header) error {
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
	err := rewriteStream(x, "records", f.records, f.repeated, nq.NewRecordReader, nq.NewRecordWriter, func(r *nq.Record) int64 { return r.ExampleID })
	if err != nil {
		return err
	}
	return rewriteStream(x, "headers", f.headers, f.repeated, nq.NewHeaderReader, nq.NewHeaderWriter, func(h *nq.Header) int64 { return h.ExampleID })
}

// eachEntry visits the entries of a stream. An entry is valid during the call.
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

// rewriteStream copies a stream into an output without some of its entries, which must have the ids in without.
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
