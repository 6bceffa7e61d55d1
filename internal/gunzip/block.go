package gunzip

import "encoding/binary"

// blockState is what the present block of DEFLATE needs.
type blockState struct {
	last    bool
	stored  int // bytes of a stored block that are left
	fixed   bool
	lengths table // of the code that the other two are written in
	symbols table // literals, lengths of matches, the block's end
	offsets table // of matches
}

// fill loads bits until there are n ≤ 56, or no more in the source.
func (z *Reader) fill(n uint) {
	for z.nbits < n {
		if z.pos == len(z.in) {
			if z.more(); z.pos == len(z.in) {
				return
			}
		}
		z.bits |= uint64(z.in[z.pos]) << z.nbits
		z.pos++
		z.nbits += 8
	}
}

// take consumes n ≤ 16 bits; at the end of the source it sets err.
func (z *Reader) take(n uint) int {
	if z.fill(n); z.nbits < n {
		z.err = z.ended()
		return 0
	}
	v := int(z.bits & (1<<n - 1))
	z.bits >>= n
	z.nbits -= n
	return v
}

// blockHeader reads what stands before a block's text, and behind the last block.
func (z *Reader) blockHeader() {
	b := &z.block
	if b.last {
		b.last = false
		z.trailer()
		return
	}
	h := z.take(3)
	if z.err != nil {
		return
	}
	b.last = h&1 != 0
	ok := true
	switch h >> 1 {
	case 0:
		ok = z.storedHeader()
	case 1:
		b.fixedCodes()
		z.state = (*Reader).inflate
	case 2:
		ok = z.codes()
		z.state = (*Reader).inflate
	default:
		ok = false
	}
	if !ok && z.err == nil {
		z.corrupt()
	}
}

func (z *Reader) storedHeader() bool {
	b := z.bytes(4)
	if b == nil {
		return false
	}
	n := binary.LittleEndian.Uint16(b)
	z.block.stored = int(n)
	z.state = (*Reader).copyStored
	return binary.LittleEndian.Uint16(b[2:]) == ^n
}

func (z *Reader) copyStored() {
	for z.block.stored > 0 && z.w < window+chunk {
		if z.more(); z.pos == len(z.in) {
			z.err = z.ended()
			return
		}
		n := copy(z.out[z.w:window+chunk], z.in[z.pos:min(len(z.in), z.pos+z.block.stored)])
		z.w += n
		z.pos += n
		z.block.stored -= n
	}
	if z.block.stored == 0 {
		z.state = (*Reader).blockHeader
	}
}

// fixedCodes are those of RFC 1951, 3.2.6.
func (b *blockState) fixedCodes() {
	if b.fixed {
		return
	}
	b.fixed = true
	var lengths [288]uint8
	for i := range lengths {
		switch {
		case i < 144:
			lengths[i] = 8
		case i < 256:
			lengths[i] = 9
		case i < 280:
			lengths[i] = 7
		default:
			lengths[i] = 8
		}
	}
	b.symbols.build(lengths[:], symbolEntry)
	for i := range 32 {
		lengths[i] = 5
	}
	b.offsets.build(lengths[:32], offsetEntry)
}

// lengthOrder is the order in which the lengths of the lengths' codes stand.
var lengthOrder = [19]uint8{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}

const (
	maxSymbols = 286
	maxOffsets = 30
)

// codes reads the codes of a dynamic block (RFC 1951, 3.2.7); false if they are
// wrong, or with err set.
func (z *Reader) codes() bool {
	nSymbols, nOffsets, nLengths := z.take(5)+257, z.take(5)+1, z.take(4)+4
	if z.err != nil || nSymbols > maxSymbols || nOffsets > maxOffsets {
		return false
	}
	var lengths [len(lengthOrder)]uint8
	for _, at := range lengthOrder[:nLengths] {
		lengths[at] = uint8(z.take(3))
	}
	b := &z.block
	b.fixed = false
	if z.err != nil || !b.lengths.build(lengths[:], valueEntry) {
		return false
	}
	var all [maxSymbols + maxOffsets]uint8
	for n := 0; n < nSymbols+nOffsets; {
		value, ok := z.length()
		if !ok {
			return false
		}
		times := 1
		switch value {
		case 16:
			if n == 0 {
				return false
			}
			value, times = all[n-1], 3+z.take(2)
		case 17:
			value, times = 0, 3+z.take(3)
		case 18:
			value, times = 0, 11+z.take(7)
		}
		if z.err != nil || n+times > nSymbols+nOffsets {
			return false
		}
		for ; times > 0; times-- {
			all[n] = value
			n++
		}
	}
	return b.symbols.build(all[:nSymbols], symbolEntry) && b.offsets.build(all[nSymbols:nSymbols+nOffsets], offsetEntry)
}

// length consumes one symbol of the lengths' code.
func (z *Reader) length() (uint8, bool) {
	z.fill(firstBits)
	e := z.block.lengths.first[z.bits&firstMask]
	if e&special != 0 {
		return 0, false
	}
	if n := uint(e & bitsMask); n <= z.nbits {
		z.bits >>= n
		z.nbits -= n
		return uint8(e >> valueAt), true
	}
	z.err = z.ended()
	return 0, false
}
