package nq

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sort"
)

// RecordFile gives access to ranges of a records@1 stream that is stored whole.
type RecordFile struct {
	r      io.ReaderAt
	starts []int64 // offset of each block's frame, and of the end frame
	before []int64 // records before each block, and all records
}

// OpenRecords reads the seek table and the end block of the size bytes in r.
func OpenRecords(r io.ReaderAt, size int64) (*RecordFile, error) {
	frames, err := readSeekTable(r, size)
	if err != nil {
		return nil, err
	}
	if len(frames) < 3 {
		return nil, fmt.Errorf("not a %s stream: it has no blocks", magicRecords)
	}
	first := newBlockReader(io.NewSectionReader(r, 0, frames[1]), magicRecords)
	defer first.close()
	if first.err != nil {
		return nil, first.err
	}
	k := len(frames) - 2 // the end frame
	var end blockReader
	if end.open(io.NewSectionReader(r, frames[k], frames[k+1]-frames[k])); end.err != nil {
		return nil, end.err
	}
	defer end.close()
	kind, err := end.read()
	if err != nil || kind != kindEnd {
		return nil, errors.Join(errors.New("damaged stream: bad end block"), err)
	}
	blocks, err := parseEnd(end.buf.Bytes())
	if err != nil {
		return nil, err
	}
	if len(blocks) != k-1 {
		return nil, fmt.Errorf("damaged stream: %d frames for %d blocks", len(frames)-1, len(blocks))
	}
	f := &RecordFile{r: r, starts: frames[1 : k+1], before: make([]int64, len(blocks)+1)}
	for i, n := range blocks {
		f.before[i+1] = f.before[i] + int64(n)
	}
	return f, nil
}

// Len is the number of records.
func (f *RecordFile) Len() int64 { return f.before[len(f.before)-1] }

// Range reads the records from (inclusive) to (exclusive), counted from zero.
func (f *RecordFile) Range(from, to int64) (*RecordReader, error) {
	if from < 0 || to < from || to > f.Len() {
		return nil, fmt.Errorf("records %d to %d of %d", from, to, f.Len())
	}
	i := sort.Search(len(f.before)-1, func(i int) bool { return f.before[i+1] > from })
	off, end := f.starts[i], f.starts[len(f.starts)-1]
	br := &blockReader{part: true}
	br.open(io.NewSectionReader(f.r, off, end-off))
	return &RecordReader{br: br, codec: &recordCodec{}, skip: from - f.before[i], left: to - from}, nil
}

// readSeekTable returns the offset of each frame, and the end of the last one.
func readSeekTable(r io.ReaderAt, size int64) ([]int64, error) {
	damaged := fmt.Errorf("%w or damaged: it has no seek table", ErrTruncated)
	const footer = 9
	var foot [footer]byte
	if size < footer {
		return nil, damaged
	}
	if _, err := r.ReadAt(foot[:], size-footer); err != nil {
		return nil, err
	}
	le := binary.LittleEndian
	n := int64(le.Uint32(foot[:]))
	if le.Uint32(foot[5:]) != seekFooter || foot[4] != 0 || 8*n+footer+8 > size {
		return nil, damaged
	}
	table := make([]byte, 8*n)
	if _, err := r.ReadAt(table, size-footer-8*n); err != nil {
		return nil, err
	}
	offsets := make([]int64, n+1)
	for i := range n {
		offsets[i+1] = offsets[i] + int64(le.Uint32(table[8*i:]))
	}
	if offsets[n] != size-footer-8*n-8 {
		return nil, damaged
	}
	return offsets, nil
}
