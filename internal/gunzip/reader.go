package gunzip

import (
	"compress/flate"
	"compress/gzip"
	"encoding/binary"
	"hash/crc32"
	"io"
)

const (
	window  = 32 << 10       // how far back a match may reach
	chunk   = 256 << 10      // text that is decoded before it must be read
	slack   = maxMatch + 3*8 // behind it: a match, and words that overshoot
	maxLoad = 2 * 8          // input that one turn of the fast loop may look at
	keep    = 8              // input that bits may have taken too early
	inSize  = 64 << 10
	outSize = window + chunk + slack
)

// Reader is the text of a gzip stream. It reads ahead of what it needs from the
// source.
type Reader struct {
	src    io.Reader
	srcErr error // sticky
	in     []byte
	pos    int    // of the next byte of in that is not yet in bits
	taken  int64  // bytes of the source before in
	bits   uint64 // the next nbits bits, lowest first; those above are zero
	nbits  uint

	out  []byte // window, then text
	base int    // where the member's text begins, or what is left of it
	r, w int    // text not yet read

	state  func(*Reader) // makes text or changes the state
	block  blockState
	digest uint32 // of the member's text before out[summed]
	summed int
	size   uint32 // of the member's text before out[summed]
	err    error  // after the text that is left
}

// NewReader reads the header of the first member from r.
func NewReader(r io.Reader) (*Reader, error) {
	z := &Reader{src: r, in: make([]byte, 0, inSize), out: make([]byte, outSize)}
	if z.header(); z.err != nil {
		return nil, z.err
	}
	return z, nil
}

// Read gives the text before an error, then the error: io.ErrUnexpectedEOF for a
// stream that is cut short, gzip.ErrHeader, gzip.ErrChecksum, flate.CorruptInputError,
// or what the source said.
func (z *Reader) Read(p []byte) (int, error) {
	for z.r == z.w {
		if z.err != nil {
			return 0, z.err
		}
		if len(p) == 0 {
			return 0, nil
		}
		if z.w >= window+chunk {
			z.slide()
		}
		z.state(z)
	}
	n := copy(p, z.out[z.r:z.w])
	z.r += n
	return n, nil
}

// slide moves the last window of text to the front.
func (z *Reader) slide() {
	z.sum()
	by := z.w - window
	copy(z.out[:window], z.out[by:z.w])
	z.base = max(0, z.base-by)
	z.r, z.w, z.summed = window, window, window
}

// sum takes the text since the last call into the member's digest and size.
func (z *Reader) sum() {
	fresh := z.out[z.summed:z.w]
	z.digest = crc32.Update(z.digest, crc32.IEEETable, fresh)
	z.size += uint32(len(fresh))
	z.summed = z.w
}

// more reads from the source until the buffer holds maxLoad bytes; it reports
// whether it does.
func (z *Reader) more() bool {
	if len(z.in)-z.pos >= maxLoad {
		return true
	}
	gone := max(0, z.pos-keep)
	z.taken += int64(gone)
	z.in = z.in[:copy(z.in[:cap(z.in)], z.in[gone:])]
	z.pos -= gone
	for empty := 0; len(z.in)-z.pos < maxLoad && z.srcErr == nil; {
		var n int
		n, z.srcErr = z.src.Read(z.in[len(z.in):cap(z.in)])
		z.in = z.in[:len(z.in)+n]
		if n > 0 {
			empty = 0
		} else if empty++; empty == 100 && z.srcErr == nil {
			z.srcErr = io.ErrNoProgress
		}
	}
	return len(z.in)-z.pos >= maxLoad
}

// ended is why the source has no more bytes in the middle of a member.
func (z *Reader) ended() error {
	if z.srcErr == nil || z.srcErr == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return z.srcErr
}

func (z *Reader) corrupt() {
	z.err = flate.CorruptInputError(z.taken + int64(z.pos) - int64(z.nbits/8))
}

// align drops what is left of a byte and gives whole bytes back to the buffer.
func (z *Reader) align() {
	z.pos -= int(z.nbits / 8)
	z.bits, z.nbits = 0, 0
}

// bytes gives the next n ≤ maxLoad whole bytes; nil and an error at the end of the
// source. They are valid until the next call.
func (z *Reader) bytes(n int) []byte {
	z.align()
	z.more()
	if len(z.in)-z.pos < n {
		z.err = z.ended()
		return nil
	}
	z.pos += n
	return z.in[z.pos-n : z.pos]
}

// The flags of a member's header.
const (
	flagHeaderCRC = 1 << 1
	flagExtra     = 1 << 2
	flagName      = 1 << 3
	flagComment   = 1 << 4
)

// header reads a member's header; io.EOF if there is no further member.
func (z *Reader) header() {
	z.more()
	if len(z.in) == z.pos && z.srcErr == io.EOF {
		z.err = io.EOF
		return
	}
	h := z.bytes(10)
	if h == nil {
		return
	}
	if h[0] != 0x1f || h[1] != 0x8b || h[2] != 8 {
		z.err = gzip.ErrHeader
		return
	}
	flags := h[3]
	digest := crc32.ChecksumIEEE(h)
	next := func(n int) []byte {
		b := z.bytes(n)
		digest = crc32.Update(digest, crc32.IEEETable, b)
		return b
	}
	if flags&flagExtra != 0 {
		b := next(2)
		if b == nil {
			return
		}
		for n := binary.LittleEndian.Uint16(b); n > 0; n-- {
			if next(1) == nil {
				return
			}
		}
	}
	for _, f := range []byte{flagName, flagComment} {
		for n := 0; flags&f != 0; n++ {
			b := next(1)
			if b == nil {
				return
			}
			if b[0] == 0 {
				break
			}
			if n == 511 { // compress/gzip's limit
				z.err = gzip.ErrHeader
				return
			}
		}
	}
	if flags&flagHeaderCRC != 0 {
		want := uint16(digest)
		if b := z.bytes(2); b == nil {
			return
		} else if binary.LittleEndian.Uint16(b) != want {
			z.err = gzip.ErrHeader
			return
		}
	}
	z.base, z.summed = z.w, z.w
	z.digest, z.size = 0, 0
	z.state = (*Reader).blockHeader
}

// trailer compares the member's digest and size, and goes on to the next member.
func (z *Reader) trailer() {
	z.sum()
	b := z.bytes(8)
	if b == nil {
		return
	}
	if binary.LittleEndian.Uint32(b) != z.digest || binary.LittleEndian.Uint32(b[4:]) != z.size {
		z.err = gzip.ErrChecksum
		return
	}
	z.header()
}
