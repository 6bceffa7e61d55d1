package gunzip

import "encoding/binary"

// inflate decodes symbols of a block until its end, or until out is full.
func (z *Reader) inflate() {
	for z.err == nil && z.w < window+chunk {
		next := z.slow
		if z.more() {
			next = z.fast
		}
		if next() {
			z.state = (*Reader).blockHeader
			return
		}
	}
}

// slow decodes one symbol where the source may end within it; true at the end of
// the block.
func (z *Reader) slow() (ended bool) {
	z.fill(48) // 15 and 5 extra bits, 15 and 13
	b, left := z.bits, int(z.nbits)
	look := func(t *table) (e uint32, value int) {
		e = t.first[b&firstMask]
		if e&long != 0 {
			b >>= firstBits
			left -= firstBits
			e = t.rest[e>>valueAt+uint32(b)&(1<<(e>>codeAt&codeMask)-1)]
		}
		value = int(e>>valueAt) + int(b&(1<<(e&bitsMask)-1)>>(e>>codeAt&codeMask))
		b >>= e & bitsMask
		left -= int(e & bitsMask)
		return e, value
	}
	e, length := look(&z.block.symbols)
	var offset int
	wrong := e&special != 0 && e>>valueAt != endOfBlock
	if !wrong && e&(literal|special) == 0 {
		e, offset = look(&z.block.offsets)
		wrong = e&special != 0 || offset > z.w-z.base
		e &^= special
	}
	switch {
	case left < 0, wrong && left < maxBits: // bits that are not there count as zeros
		z.err = z.ended()
		return false
	case wrong:
		z.corrupt()
		return false
	case e&literal != 0:
		z.out[z.w] = byte(e >> valueAt)
		z.w++
	case offset > 0:
		for range length {
			z.out[z.w] = z.out[z.w-offset]
			z.w++
		}
	}
	z.bits, z.nbits = b, uint(left)
	return e&special != 0
}

// fast decodes while a turn can reach neither the end of the input that is loaded
// nor that of out; true at the end of the block. It is written for speed: all that
// changes is in local variables, and the look-up of a table is written out.
func (z *Reader) fast() (ended bool) {
	in, pos, lastIn := z.in, z.pos, len(z.in)-maxLoad
	out, w, base := z.out, z.w, z.base
	b, n := z.bits, z.nbits
	symbols, offsets := &z.block.symbols, &z.block.offsets
	wrong := false
	for pos <= lastIn && w < window+chunk {
		// Eight bytes are loaded, and as many whole ones counted as make n 56 to 63;
		// the rest is loaded again.
		b |= binary.LittleEndian.Uint64(in[pos:]) << (n & 63)
		pos += int(63-n) >> 3
		n |= 56
		e := symbols.first[b&firstMask]
		if e&literal != 0 {
			b >>= e & bitsMask
			n -= uint(e & bitsMask)
			out[w] = byte(e >> valueAt)
			w++
			if e = symbols.first[b&firstMask]; e&literal != 0 {
				b >>= e & bitsMask
				n -= uint(e & bitsMask)
				out[w] = byte(e >> valueAt)
				w++
				if e = symbols.first[b&firstMask]; e&literal != 0 {
					b >>= e & bitsMask
					n -= uint(e & bitsMask)
					out[w] = byte(e >> valueAt)
					w++
					continue
				}
			}
			b |= binary.LittleEndian.Uint64(in[pos:]) << (n & 63)
			pos += int(63-n) >> 3
			n |= 56
		}
		if e&(long|special) != 0 {
			if e&long != 0 {
				b >>= firstBits
				n -= firstBits
				e = symbols.rest[e>>valueAt+uint32(b)&(1<<(e>>codeAt&codeMask)-1)]
			}
			if e&(literal|special) != 0 {
				b >>= e & bitsMask
				n -= uint(e & bitsMask)
				if e&literal != 0 {
					out[w] = byte(e >> valueAt)
					w++
					continue
				}
				ended = e>>valueAt == endOfBlock
				wrong = !ended
				break
			}
		}
		length := int(e>>valueAt) + int(b&(1<<(e&bitsMask)-1)>>(e>>codeAt&codeMask))
		b >>= e & bitsMask
		n -= uint(e & bitsMask)

		e = offsets.first[b&firstMask]
		if e&(long|special) != 0 {
			if e&long != 0 {
				b >>= firstBits
				n -= firstBits
				e = offsets.rest[e>>valueAt+uint32(b)&(1<<(e>>codeAt&codeMask)-1)]
			}
			if e&special != 0 {
				wrong = true
				break
			}
		}
		offset := int(e>>valueAt) + int(b&(1<<(e&bitsMask)-1)>>(e>>codeAt&codeMask))
		b >>= e & bitsMask
		n -= uint(e & bitsMask)
		if offset > w-base {
			wrong = true
			break
		}
		copyMatch(out, w, offset, length)
		w += length
	}
	z.pos, z.w = pos, w
	z.bits, z.nbits = b&(1<<(n&63)-1), n
	if wrong {
		z.corrupt()
	}
	return ended
}

// copyMatch appends length bytes from offset bytes back to out[:w]; it may write up
// to 7 bytes more.
func copyMatch(out []byte, w, offset, length int) {
	from, end := w-offset, w+length
	switch {
	case offset >= length && length > 32:
		copy(out[w:end], out[from:])
	case offset >= 8:
		for ; w < end; from, w = from+8, w+8 {
			binary.LittleEndian.PutUint64(out[w:], binary.LittleEndian.Uint64(out[from:]))
		}
	default:
		for ; w < end; from, w = from+1, w+1 {
			out[w] = out[from]
		}
	}
}
