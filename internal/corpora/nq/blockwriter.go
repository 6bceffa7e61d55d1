package nq

import (
	"encoding/binary"
	"fmt"
	"io"
	"runtime"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// A compact stream is a sequence of zstd frames, so that `zstd -d` reads it and every frame can be read on its own:
//
//	stream = frame(magic) frame(block)* frame(end) table
//	magic  = 'M' u32(length) "redsi.records@1" or "redsi.headers@1"
//	block  = 'B' u32(length) uvarint(entries) entry*
//	end    = 'E' u32(length) uvarint(blocks) uvarint(entries of each block)*
//	table  = the skippable frame of the zstd seekable format: size and
//	         decompressed size of each frame above
//
// Integers are little-endian. Frames carry their content's checksum. A stream without its end block is truncated. Equal
// entries give equal bytes.
const (
	kindMagic = 'M'
	kindBlock = 'B'
	kindEnd   = 'E'

	blockHead   = 5          // kind and length
	blockTarget = 1 << 20    // bytes of entries after which a block is closed
	maxBlock    = 1 << 30    // bytes; one entry may exceed the target, none this
	maxWindow   = 8 << 20    // zstd window, both sides
	seekMagic   = 0x184D2A5E // skippable frame of the seekable format
	seekFooter  = 0x8F92EAB1
)

// blockWriter writes a compact stream. Blocks are compressed by several goroutines and written in order by one.
type blockWriter struct {
	w     io.Writer
	enc   *zstd.Encoder
	free  chan *outBlock
	queue chan *outBlock
	ended chan struct{}

	cur     *outBlock
	sizes   []frameSize
	entries []uint64

	mu  sync.Mutex
	err error // of w; sticky
}

type outBlock struct {
	entries uint64
	plain   []byte // blockHead, then room for the entry count in entriesHead, then entries
	packed  []byte
	done    chan struct{}
}

type frameSize struct{ packed, plain uint32 }

// outBlocks are blocks of finished streams, for later ones.
var outBlocks = sync.Pool{New: func() any { return &outBlock{done: make(chan struct{}, 1)} }}

// encoder serves all streams, since each concurrent block takes a window's memory; no output depends on earlier blocks.
var encoder = sync.OnceValues(func() (*zstd.Encoder, error) {
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderCRC(true),
		zstd.WithWindowSize(maxWindow/2), zstd.WithLowerEncoderMem(true), zstd.WithEncoderConcurrency(runtime.GOMAXPROCS(0)))
	if err != nil {
		return nil, fmt.Errorf("zstd: %w", err)
	}
	return enc, nil
})

func newBlockWriter(w io.Writer, magic string) (*blockWriter, error) {
	enc, err := encoder()
	if err != nil {
		return nil, err
	}
	n := runtime.GOMAXPROCS(0) + 1
	bw := &blockWriter{w: w, enc: enc, ended: make(chan struct{}),
		free: make(chan *outBlock, n), queue: make(chan *outBlock, n)}
	for range n {
		bw.free <- outBlocks.Get().(*outBlock)
	}
	go bw.drain()
	bw.cur = <-bw.free
	bw.cur.plain = append(bw.cur.plain[:0], make([]byte, blockHead)...)
	bw.cur.plain = append(bw.cur.plain, magic...)
	bw.send(kindMagic)
	return bw, nil
}

// entriesHead is the room kept for the count of entries: a uvarint padded to four bytes, enough for 2^28 entries.
const entriesHead = 4

// add appends one entry by calling put with the block's buffer. An error of put leaves the stream as it was.
func (bw *blockWriter) add(put func([]byte) ([]byte, error)) error {
	b := bw.cur
	mark := len(b.plain)
	plain, err := put(b.plain)
	if err == nil && len(plain) > maxBlock {
		err = fmt.Errorf("the entry has %d bytes, more than a block may have", len(plain)-mark)
	}
	if err != nil {
		b.plain = plain[:mark]
		return err
	}
	b.plain = plain
	b.entries++
	if len(plain) >= blockTarget {
		bw.closeBlock()
	}
	return bw.failure()
}

func (bw *blockWriter) closeBlock() {
	b := bw.cur
	if b.entries == 0 {
		return
	}
	head := b.plain[blockHead : blockHead+entriesHead]
	for i, n := 0, b.entries; i < entriesHead; i, n = i+1, n>>7 {
		head[i] = byte(n)&0x7f | 0x80
	}
	head[entriesHead-1] &^= 0x80
	bw.entries = append(bw.entries, b.entries)
	bw.send(kindBlock)
}

// send hands the current block to compression and takes a free one.
func (bw *blockWriter) send(kind byte) {
	b := bw.cur
	b.plain[0] = kind
	binary.LittleEndian.PutUint32(b.plain[1:], uint32(len(b.plain)-blockHead))
	bw.queue <- b // capacity for every block: never blocks
	go func() {
		b.packed = bw.enc.EncodeAll(b.plain, b.packed[:0])
		b.done <- struct{}{}
	}()
	next := <-bw.free
	if cap(next.plain) > keepBytes {
		next.plain, next.packed = nil, nil
	}
	next.plain = append(next.plain[:0], make([]byte, blockHead+entriesHead)...)
	next.entries, bw.cur = 0, next
}

func (bw *blockWriter) drain() {
	defer close(bw.ended)
	for b := range bw.queue {
		<-b.done
		if bw.failure() == nil {
			if _, err := bw.w.Write(b.packed); err != nil {
				bw.mu.Lock()
				bw.err = err
				bw.mu.Unlock()
			}
			bw.sizes = append(bw.sizes, frameSize{uint32(len(b.packed)), uint32(len(b.plain))})
		}
		bw.free <- b
	}
}

func (bw *blockWriter) failure() error {
	bw.mu.Lock()
	defer bw.mu.Unlock()
	return bw.err
}

// close completes the stream. The underlying writer stays open.
func (bw *blockWriter) close() error {
	bw.closeBlock()
	b := bw.cur
	b.plain = binary.AppendUvarint(b.plain[:blockHead], uint64(len(bw.entries)))
	for _, n := range bw.entries {
		b.plain = binary.AppendUvarint(b.plain, n)
	}
	bw.send(kindEnd)
	close(bw.queue)
	<-bw.ended
	bw.recycle()
	if bw.err != nil {
		return bw.err
	}
	_, err := bw.w.Write(seekTable(bw.sizes))
	return err
}

func (bw *blockWriter) recycle() {
	outBlocks.Put(bw.cur)
	for len(bw.free) > 0 {
		if b := <-bw.free; cap(b.plain) <= keepBytes {
			outBlocks.Put(b)
		}
	}
	bw.cur = nil
}

// seekTable is the table of the zstd seekable format, without checksums.
func seekTable(sizes []frameSize) []byte {
	le := binary.LittleEndian
	t := le.AppendUint32(nil, seekMagic)
	t = le.AppendUint32(t, uint32(8*len(sizes)+9))
	for _, s := range sizes {
		t = le.AppendUint32(t, s.packed)
		t = le.AppendUint32(t, s.plain)
	}
	t = le.AppendUint32(t, uint32(len(sizes)))
	t = append(t, 0)
	return le.AppendUint32(t, seekFooter)
}
