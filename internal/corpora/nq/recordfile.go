package nq

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// RecordAt returns a record of a records@1 stream by number, from zero. It reads the seek table, the end block and one block.
func RecordAt(r io.ReaderAt, size, at int64) (*Record, error) {
	frames, err := readSeekTable(r, size)
	if err != nil {
		return nil, err
	}
	if len(frames) < 3 {
		return nil, fmt.Errorf("not a %s stream: it has no blocks", magicRecords)
	}
	section := func(i int) io.Reader { return io.NewSectionReader(r, frames[i], frames[i+1]-frames[i]) }
	first := newBlockReader(section(0), magicRecords)
	defer first.close()
	if first.err != nil {
		return nil, first.err
	}
	k := len(frames) - 2 // the end frame
	end := blockReader{}
	end.open(section(k))
	defer end.close()
	if end.err != nil {
		return nil, end.err
	}
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
	left := at
	for i, n := range blocks {
		if left < 0 || left >= int64(n) {
			left -= int64(n)
			continue
		}
		rd := &RecordReader{br: &blockReader{}, codec: &recordCodec{}}
		rd.br.open(section(1 + i))
		defer rd.Close()
		one := new(Record)
		for ; left >= 0 && err == nil; left-- {
			err = rd.Next(one)
		}
		return one, err
	}
	return nil, fmt.Errorf("there is no record %d", at)
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
