package nq

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
)

// ErrTruncated is wrapped by errors about compact streams that end early.
var ErrTruncated = errors.New("the stream is truncated")

type blockReader struct {
	dec    *zstd.Decoder
	head   [blockHead]byte
	buf    bytes.Buffer
	block  []byte // entries not yet taken
	left   uint64 // entries in block
	blocks []uint64
	err    error
}

func newBlockReader(r io.Reader, magic string) *blockReader {
	br := &blockReader{}
	br.open(r)
	if br.err == nil {
		br.err = br.checkMagic(magic)
	}
	return br
}

func (br *blockReader) open(r io.Reader) {
	br.dec, br.err = zstd.NewReader(r, zstd.WithDecoderMaxWindow(maxWindow), zstd.WithDecoderConcurrency(2))
}

func (br *blockReader) checkMagic(magic string) error {
	kind, err := br.read()
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("not a %s stream: it is empty", magic)
	}
	if err != nil {
		return fmt.Errorf("not a %s stream: %w", magic, err)
	}
	if kind != kindMagic || br.buf.String() != magic {
		return fmt.Errorf("not a %s stream: it begins with %.40q", magic, br.buf.Bytes())
	}
	return nil
}

// read takes the next block into buf: io.EOF at the end of the frames.
func (br *blockReader) read() (kind byte, err error) {
	if _, err := io.ReadFull(br.dec, br.head[:]); err == io.EOF {
		return 0, io.EOF
	} else if err != nil {
		return 0, readError(err)
	}
	n := int64(binary.LittleEndian.Uint32(br.head[1:]))
	if n > maxBlock {
		return 0, fmt.Errorf("damaged stream: a block of %d bytes", n)
	}
	if br.buf.Cap() > keepBytes && n < keepBytes {
		br.buf = bytes.Buffer{}
	}
	br.buf.Reset()
	// The buffer grows as bytes arrive, so a false length allocates nothing.
	if _, err := io.CopyN(&br.buf, br.dec, n); err != nil {
		return 0, readError(err)
	}
	return br.head[0], nil
}

func readError(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return ErrTruncated
	}
	return fmt.Errorf("damaged stream: %w", err)
}

// nextBlock takes the next block, once all entries of the last one are taken; io.EOF at the end.
func (br *blockReader) nextBlock() error {
	if len(br.block) > 0 {
		return fmt.Errorf("damaged stream: %d bytes behind the last entry of a block", len(br.block))
	}
	kind, err := br.read()
	switch {
	case err == io.EOF:
		return fmt.Errorf("%w: its end block is missing", ErrTruncated)
	case err != nil:
		return err
	case kind == kindEnd:
		return br.checkEnd()
	case kind != kindBlock:
		return fmt.Errorf("damaged stream: block of kind %q", kind)
	}
	b := br.buf.Bytes()
	left, n := binary.Uvarint(b)
	if n <= 0 || left == 0 {
		return errors.New("damaged stream: a block without entries")
	}
	br.block, br.left = b[n:], left
	br.blocks = append(br.blocks, left)
	return nil
}

func (br *blockReader) checkEnd() error {
	want, err := parseEnd(br.buf.Bytes())
	if err != nil {
		return err
	}
	if len(want) != len(br.blocks) {
		return fmt.Errorf("damaged stream: %d blocks, the end block says %d", len(br.blocks), len(want))
	}
	for i := range want {
		if want[i] != br.blocks[i] {
			return fmt.Errorf("damaged stream: block %d has %d entries, the end block says %d", i, br.blocks[i], want[i])
		}
	}
	if _, err = br.read(); err == nil {
		err = errors.New("damaged stream: data behind its end block")
	}
	return err
}

func parseEnd(b []byte) ([]uint64, error) {
	f := fieldReader{b: b}
	entries := make([]uint64, min(f.uvarint(), uint64(len(b)))) // at most a block a byte
	for i := range entries {
		entries[i] = f.uvarint()
	}
	if f.failed || len(f.b) > 0 {
		return nil, errors.New("damaged stream: bad end block")
	}
	return entries, nil
}

func (br *blockReader) close() {
	if br.dec != nil {
		br.dec.Close()
	}
	if br.err == nil {
		br.err = errors.New("the reader is closed")
	}
}
