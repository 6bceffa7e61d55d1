package unpack

import (
	"bytes"
	"compress/bzip2"
	"io"
	"runtime"
	"sync"
)

// multiBzip2 decompresses the streams of a multistream bzip2 file side by side and
// gives their text in order. A file of one stream is decompressed by one
// goroutine. Each stream in work holds at most a few MiB of either side.
type multiBzip2 struct {
	streams chan *bzStream // in order, as many as may be in work
	cur     *bzStream
	buf     []byte
	quit    chan struct{}
	once    sync.Once
	wg      sync.WaitGroup
}

// bzStream is one stream: compressed blocks go in, text comes out.
type bzStream struct {
	in    chan []byte // closed at the end of the stream
	inErr error       // of the file, after in is closed
	out   chan []byte // closed at the end of the text
	err   error       // of decompression, after out is closed
	quit  <-chan struct{}
	rest  []byte // of the block being read
}

const (
	bzBlock    = 64 << 10
	bzInBlocks = 32 // 2 MiB of compressed bytes ahead
	bzOutBlock = 256 << 10
	bzOutAhead = 16 // 4 MiB of text ahead
)

// bzMagics begin a stream, at any level of compression: with data, or empty.
var bzMagics = [2][]byte{[]byte("1AY&SY"), {0x17, 0x72, 0x45, 0x38, 0x50, 0x90}}

// bzMagicLen is the length of "BZh", the level and one of bzMagics.
const bzMagicLen = 10

func newMultiBzip2(r io.Reader) *multiBzip2 {
	m := &multiBzip2{streams: make(chan *bzStream, runtime.GOMAXPROCS(0)), quit: make(chan struct{})}
	m.wg.Add(1)
	go m.split(r)
	return m
}

// split cuts the file at the beginnings of streams. The ten bytes looked for
// occur by chance in one of 10^23 places.
func (m *multiBzip2) split(r io.Reader) {
	defer m.wg.Done()
	defer close(m.streams)
	var s *bzStream
	buf := make([]byte, 0, 2*bzBlock)
	for {
		n, err := r.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		from := 0
		for {
			at := nextStream(buf, from)
			if at < 0 {
				break
			}
			if s == nil && at > 0 { // garbage in front: let it say so
				if s = m.start(); s == nil {
					return
				}
			}
			if s != nil && !m.feed(s, buf[from:at], nil, true) {
				return
			}
			if s = m.start(); s == nil {
				return
			}
			if !m.feed(s, buf[at:at+bzMagicLen], nil, false) {
				return
			}
			from = at + bzMagicLen
		}
		// A beginning may be cut by the end of the buffer.
		keep := min(len(buf)-from, bzMagicLen-1)
		if err != nil {
			keep = 0
		}
		if s == nil && (err != nil || len(buf) >= bzBlock) { // not bzip2 after all: let it say so
			if s = m.start(); s == nil {
				return
			}
		}
		if err != nil {
			if err == io.EOF {
				err = nil
			}
			m.feed(s, buf[from:], err, true)
			return
		}
		if s != nil {
			if !m.feed(s, buf[from:len(buf)-keep], nil, false) {
				return
			}
			buf = buf[:copy(buf, buf[len(buf)-keep:])]
		}
	}
}

// nextStream finds the first beginning of a stream at or after from, -1 if none.
func nextStream(b []byte, from int) int {
	for {
		i := bytes.Index(b[from:], []byte("BZh"))
		if i < 0 || from+i+bzMagicLen > len(b) {
			return -1
		}
		at := from + i
		head := b[at+4 : at+bzMagicLen]
		if level := b[at+3]; '1' <= level && level <= '9' && (bytes.Equal(head, bzMagics[0]) || bytes.Equal(head, bzMagics[1])) {
			return at
		}
		from = at + 3
	}
}

// start queues a new stream and its decompression; nil after close.
func (m *multiBzip2) start() *bzStream {
	s := &bzStream{in: make(chan []byte, bzInBlocks), out: make(chan []byte, bzOutAhead), quit: m.quit}
	select {
	case m.streams <- s:
	case <-m.quit:
		return nil
	}
	m.wg.Add(1)
	go func() {
		defer m.wg.Done()
		s.decompress()
	}()
	return s
}

// feed gives b to s, and with last ends it; it reports false after close.
func (m *multiBzip2) feed(s *bzStream, b []byte, err error, last bool) bool {
	if len(b) > 0 {
		select {
		case s.in <- bytes.Clone(b):
		case <-m.quit:
			return false
		}
	}
	if last {
		s.inErr = err
		close(s.in)
	}
	return true
}

// decompress runs until the stream ends.
func (s *bzStream) decompress() {
	defer close(s.out)
	zr := bzip2.NewReader(s)
	for {
		b := make([]byte, bzOutBlock)
		n, err := fill(zr, b)
		if n > 0 {
			select {
			case s.out <- b[:n]:
			case <-s.quit:
				return
			}
		}
		if err != nil {
			if err != io.EOF {
				s.err = err
			}
			return
		}
	}
}

// Read gives bzip2 the compressed bytes.
func (s *bzStream) Read(p []byte) (int, error) {
	for len(s.rest) == 0 {
		select {
		case b, ok := <-s.in:
			if !ok {
				if s.inErr != nil {
					return 0, s.inErr
				}
				return 0, io.EOF
			}
			s.rest = b
		case <-s.quit:
			return 0, io.ErrClosedPipe
		}
	}
	n := copy(p, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

// Read gives the text of all streams in order.
func (m *multiBzip2) Read(p []byte) (int, error) {
	for len(m.buf) == 0 {
		if m.cur == nil {
			s, ok := <-m.streams
			if !ok {
				return 0, io.EOF
			}
			m.cur = s
		}
		b, ok := <-m.cur.out
		if !ok {
			if m.cur.err != nil {
				return 0, m.cur.err
			}
			m.cur = nil
			continue
		}
		m.buf = b
	}
	n := copy(p, m.buf)
	m.buf = m.buf[n:]
	return n, nil
}

// close ends the goroutines and waits for them, for a pending read as well.
func (m *multiBzip2) close() {
	m.once.Do(func() { close(m.quit) })
	m.wg.Wait()
}
