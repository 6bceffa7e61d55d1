package unpack

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"errors"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// headBytes are looked at on either side: enough for tar's mark at byte 257.
const headBytes = 512

// Reader is the decompressed view of an input.
type Reader struct {
	head []byte // not yet taken
	err  error  // behind head: of reading it
	r    io.Reader
	stop func()
}

// Open recognises gzip (any number of members, and padding), bzip2 (any number of streams) and zstd by their first bytes;
// else the input is plain text. No text gives a *ForeignError; except at the first bytes, errors of reading come from
// Read.
func Open(r io.Reader) (*Reader, error) {
	br := bufio.NewReaderSize(r, 256<<10)
	head, err := br.Peek(headBytes)
	if err != nil && !errors.Is(err, io.EOF) && len(head) == 0 {
		return nil, err
	}
	if err := foreign(head); err != nil {
		return nil, err
	}
	u, err := decompressor(br, head)
	if err != nil || u.r == io.Reader(br) {
		return u, err
	}
	head = make([]byte, headBytes)
	n, err := fill(u.r, head)
	u.head, u.err = head[:n], err
	if err := inner(u.head); err != nil {
		u.Close()
		return nil, err
	}
	return u, nil
}

func decompressor(br *bufio.Reader, head []byte) (*Reader, error) {
	switch {
	case bytes.HasPrefix(head, gzipMark):
		gz, err := gzip.NewReader(br)
		if err != nil {
			return nil, err
		}
		gz.Multistream(false)
		return &Reader{r: members{gz, br}, stop: func() {}}, nil
	case isBzip2(head):
		return &Reader{r: bzip2.NewReader(br), stop: func() {}}, nil
	case isZstd(head):
		// The zstd program too reads windows of up to 128 MiB by itself.
		zr, err := zstd.NewReader(br, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(128<<20))
		if err != nil {
			return nil, err
		}
		return &Reader{r: zr, stop: zr.Close}, nil
	}
	return &Reader{r: br, stop: func() {}}, nil
}

// members are those of a gzip file. As for gzip(1), zeros behind one are padding.
type members struct {
	gz *gzip.Reader
	in *bufio.Reader
}

func (m members) Read(p []byte) (n int, err error) {
	for n == 0 && err == nil {
		if n, err = m.gz.Read(p); err != io.EOF {
			return n, err
		}
		next := byte(0)
		for err = nil; next == 0 && err == nil; {
			next, err = m.in.ReadByte()
		}
		if err == nil {
			err = errors.Join(m.in.UnreadByte(), m.gz.Reset(m.in))
			m.gz.Multistream(false)
		}
	}
	return n, err
}

// Read gives the text.
func (u *Reader) Read(p []byte) (int, error) {
	if len(u.head) > 0 {
		n := copy(p, u.head)
		u.head = u.head[n:]
		return n, nil
	}
	if u.err != nil {
		return 0, u.err
	}
	return u.r.Read(p)
}

// Close frees the decompressor; it does not close what Open was given.
func (u *Reader) Close() { u.stop() }

// fill reads until b is full or the source ends, and, unlike io.ReadFull, returns the source's own error.
func fill(src io.Reader, b []byte) (n int, err error) {
	for n < len(b) && err == nil {
		var k int
		k, err = src.Read(b[n:])
		n += k
	}
	return n, err
}
