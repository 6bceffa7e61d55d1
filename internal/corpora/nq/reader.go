package nq

import (
	"bytes"
	"cmp"
	"io"
	"runtime"
	"sync"

	"github.com/redsi/redsi/internal/corpora/unpack"
)

// Options configure a Reader. The zero value reads either format, fails on the first bad record and uses all processors.
type Options struct {
	Format   Format
	Split    Split                // stored in every record
	Skip     bool                 // leave out, count and name bad records; a damaged or truncated file still fails
	Strict   bool                 // also refuse records that no later step can use: Unusable, Duplicate, EmptyFile
	Check    func(*Record) error  // refuses further records as Unusable; called by several goroutines
	Workers  int                  // decoding goroutines; 0: the number of processors less one, which decompresses
	MaxLine  int                  // bytes; 0: 256 MiB
	Progress func(storedIn int64) // called from Next once per one to two MiB of text
}

// Reader reads one NQ file's records in order: .jsonl, plain or compressed, or Parquet. One goroutine decompresses, others
// decode; memory is a few batches of one to two MiB, or of one longer line.
type Reader struct {
	Counts Counts // of what has been read so far; final after io.EOF

	name  string
	opt   Options
	src   *unpack.Reader
	taken *unpack.Counter // below src
	hub   *hubRows        // in place of both

	free  chan *batch
	queue chan *batch // in input order; decoded once batch.done is signalled
	work  chan *batch
	quit  chan struct{}
	once  sync.Once
	wg    sync.WaitGroup

	cur  *batch
	next int
	err  error // sticky
	last int64 // lines of the batches before cur

	lines map[int64]int64 // of the records so far, by id, if Strict
}

const (
	batchBytes   = 1 << 20
	batchRecords = 256
	keepBytes    = 8 << 20 // larger buffers are given back to the collector
)

// batch is a run of complete lines with their records.
type batch struct {
	buf   []byte
	open  bool   // the last line has no newline
	ends  []int  // of each line in buf, behind its newline if it has one
	items []item // one per line that is not blank
	n     int    // items in use
	bytes int64  // of columns, in place of buf
	err   error  // of the source, after these lines
	done  chan struct{}
}

// batches keeps finished Readers' buffers for the next file: fresh memory costs more than the work on it.
var batches = sync.Pool{New: func() any { return &batch{done: make(chan struct{}, 1)} }}

type item struct {
	rec      Record
	line     int64 // in the batch, from zero
	err      error // of decoding
	hasID    bool  // of a row: rec has its id, also if err is not nil
	fault    *RecordError
	fallback bool
}

// NewReader reads r, called name in errors; errors of opening come from Next. Close an unfinished Reader.
func NewReader(r io.Reader, name string, o Options) *Reader {
	rd := newReader(name, o)
	rd.taken = unpack.NewCounter(r)
	src, err := unpack.Open(rd.taken)
	if err != nil {
		rd.refuse(rd.streamError(err))
		return rd
	}
	rd.src = src
	var rest []byte
	rd.start(func(b *batch) { rest = b.fill(rd.src, rest, rd.opt.MaxLine) })
	return rd
}

// newReader returns a Reader without a source.
func newReader(name string, o Options) *Reader {
	if o.Workers <= 0 {
		o.Workers = max(1, min(8, runtime.GOMAXPROCS(0)-1))
	}
	if o.MaxLine <= 0 {
		o.MaxLine = 256 << 20
	}
	n := o.Workers + 3
	rd := &Reader{name: name, opt: o, quit: make(chan struct{}),
		free: make(chan *batch, n), queue: make(chan *batch, n), work: make(chan *batch, n)}
	for range n {
		rd.free <- batches.Get().(*batch)
	}
	if o.Strict {
		rd.lines = map[int64]int64{}
	}
	return rd
}

// start starts the goroutines that cut the source into batches, by fill, and decode them.
func (rd *Reader) start(fill func(*batch)) {
	rd.wg.Go(func() { rd.fill(fill) })
	for range rd.opt.Workers {
		rd.wg.Go(rd.decode)
	}
}

func (rd *Reader) fill(fill func(*batch)) {
	defer close(rd.work)
	defer close(rd.queue)
	for {
		var b *batch
		select {
		case b = <-rd.free:
		case <-rd.quit:
			return
		}
		fill(b)
		rd.queue <- b // capacity for every batch: never blocks
		rd.work <- b
		if b.err != nil {
			return
		}
	}
}

// fill reads at least one complete line behind rest and returns the incomplete line after it, valid until b's next fill.
func (b *batch) fill(src io.Reader, rest []byte, maxLine int) []byte {
	if cap(b.buf) > keepBytes && len(rest) < batchBytes {
		b.buf = nil
	}
	if cap(b.buf) < batchBytes+len(rest) {
		b.buf = make([]byte, 0, 2*batchBytes+2*len(rest))
	}
	b.buf = append(b.buf[:0], rest...)
	b.ends = b.ends[:0]
	b.err, b.open = nil, false
	end := 0 // after the last newline
	for b.err == nil && (end == 0 || end < batchBytes && len(b.buf) < 2*batchBytes) {
		if end == 0 && len(b.buf) > maxLine {
			b.err = Faultf(LineTooLong, "the line is longer than %d bytes", maxLine)
			break
		}
		if len(b.buf) == cap(b.buf) {
			b.buf = append(b.buf, 0)[:len(b.buf)]
		}
		// A batch ends with its last newline's read; the rest, copied to the next batch, is shorter than this read.
		n, err := src.Read(b.buf[len(b.buf):min(cap(b.buf), len(b.buf)+64<<10)])
		b.buf = b.buf[:len(b.buf)+n]
		for fresh := max(end, len(b.buf)-n); ; end = fresh { // LastIndexByte is not vectorised
			i := bytes.IndexByte(b.buf[fresh:], '\n')
			if i < 0 {
				break
			}
			fresh += i + 1
			b.ends = append(b.ends, fresh)
		}
		b.err = err
	}
	if b.err == io.EOF && end < len(b.buf) {
		end = len(b.buf) // a last line without newline counts
		b.ends = append(b.ends, end)
		b.open = true
	}
	rest = b.buf[end:]
	b.buf = b.buf[:end]
	return rest
}

func (rd *Reader) decode() {
	var scan lineScanner
	for b := range rd.work {
		if rd.hub != nil {
			for i := range b.items[:b.n] {
				rd.examine(&b.items[i])
			}
			b.done <- struct{}{}
			continue
		}
		b.n = 0
		start := 0
		for i, end := range b.ends {
			line := bytes.TrimSuffix(b.buf[start:end], []byte{'\n'})
			if start = end; len(bytes.TrimSpace(line)) == 0 {
				continue
			}
			it := b.item(i)
			rd.decodeLine(&scan, line, it)
			if f := it.fault; f != nil && b.open && i == len(b.ends)-1 && (f.Reason == BadJSON || f.Reason == BadUTF8) {
				f.Reason, f.Detail = BadStream, "the file ends within this record: "+f.Detail
			}
		}
		b.done <- struct{}{}
	}
}

func (b *batch) item(line int) *item {
	if b.n == len(b.items) {
		b.items = append(b.items, item{})
	}
	it := &b.items[b.n]
	b.n++
	it.line, it.fault, it.fallback = int64(line), nil, false
	return it
}

func (rd *Reader) decodeLine(scan *lineScanner, line []byte, it *item) {
	var err error
	have, ok := scan.scan(line, &it.rec)
	if !ok {
		it.fallback = true
		have, err = decodeLibrary(line, &it.rec)
	}
	if err == nil {
		err = checkFields(have, rd.opt.Format)
	}
	it.err = err
	if rd.examine(it); it.fault != nil {
		it.fault.ExampleID, it.fault.HasID = ExampleID(line)
	}
}

// examine checks a record that was decoded without a fault.
func (rd *Reader) examine(it *item) {
	it.rec.Split = rd.opt.Split
	for _, check := range []func(*Record) error{checkOffsets, checkAligned, rd.usable} {
		if it.err == nil {
			it.err = check(&it.rec)
		}
	}
	if it.err == nil {
		return
	}
	f := it.err.(*Fault)
	it.fault = &RecordError{File: rd.name, Reason: f.Reason, Detail: f.Detail, ExampleID: it.rec.ExampleID, HasID: it.hasID}
}

// Next reads the next record into r, io.EOF after the last, exchanging r's buffers for its own: HTML and Tokens are valid
// until the next call with the same r (Clone keeps them); strings stay valid.
func (rd *Reader) Next(r *Record) error {
	for rd.err == nil {
		if rd.cur == nil {
			b, ok := <-rd.queue
			if !ok {
				rd.err = io.EOF
				break
			}
			<-b.done
			rd.cur, rd.next = b, 0
		}
		b := rd.cur
		for rd.next < b.n {
			it := &b.items[rd.next]
			rd.next++
			if it.fallback {
				rd.Counts.Fallbacks++
			}
			rd.unique(it)
			if it.fault != nil {
				it.fault.Line = rd.last + it.line + 1
				if rd.refuse(it.fault) {
					return rd.err
				}
				continue
			}
			*r, it.rec = it.rec, *r
			rd.Counts.Records++
			return nil
		}
		rd.endBatch(b)
	}
	return rd.err
}

// endBatch accounts for a batch whose records are all delivered and recycles it.
func (rd *Reader) endBatch(b *batch) {
	rd.cur = nil
	rd.last += int64(len(b.ends))
	rd.Counts.Blank += int64(len(b.ends) - b.n)
	rd.Counts.BytesOut += int64(len(b.buf)) + b.bytes
	if rd.hub == nil {
		rd.Counts.BytesIn = rd.taken.Taken()
	} else if rd.hub.rows > 0 {
		rd.Counts.BytesIn = rd.hub.size * rd.last / rd.hub.rows
	}
	if rd.opt.Progress != nil {
		rd.opt.Progress(rd.Counts.BytesIn)
	}
	for i := range b.items {
		if it := &b.items[i]; cap(it.rec.HTML) > keepBytes {
			it.rec = Record{}
		}
	}
	if len(b.items) > batchRecords {
		b.items = b.items[:batchRecords:batchRecords]
	}
	err := b.err
	rd.free <- b // capacity for every batch: never blocks
	if err == nil {
		return
	}
	switch {
	case err != io.EOF:
		rd.refuse(rd.streamError(err))
	case rd.opt.Strict && rd.Counts.Records == 0:
		rd.refuse(rd.nothing())
	}
	rd.err = cmp.Or(rd.err, io.EOF)
	rd.Close()
}

// Close ends the goroutines, but not the underlying reader; Next returns the error that ended reading, or io.EOF.
func (rd *Reader) Close() error {
	rd.once.Do(func() {
		close(rd.quit)
		rd.wg.Wait()
		if rd.src != nil {
			rd.src.Close()
		}
		if rd.hub != nil && rd.hub.Rows != nil {
			rd.hub.Close()
		}
		for len(rd.free) > 0 {
			if b := <-rd.free; cap(b.buf) <= keepBytes {
				batches.Put(b)
			}
		}
	})
	rd.err = cmp.Or(rd.err, io.EOF)
	return nil
}
