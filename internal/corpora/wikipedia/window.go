package wikipedia

import (
	"context"
	"io"
)

const (
	chunkBytes = 1 << 20
	chunkCount = 4
	maxUnit    = 64 << 20 // bytes of one element, beyond which input is refused
)

// window is the part of the text that the scanner looks at. A goroutine
// decompresses chunks ahead of it.
type window struct {
	buf  []byte
	pos  int   // next byte
	base int64 // offset of buf[0] in the text
	err  error // io.EOF or why the source ended, once no chunk is left

	chunks chan chunk
	free   chan []byte
	cancel context.CancelFunc
}

type chunk struct {
	b   []byte
	err error
}

func newWindow(ctx context.Context, src io.Reader, size int) *window {
	ctx, cancel := context.WithCancel(ctx)
	w := &window{chunks: make(chan chunk, chunkCount), free: make(chan []byte, chunkCount), cancel: cancel}
	for range chunkCount {
		w.free <- make([]byte, size)
	}
	go func() {
		defer close(w.chunks)
		for {
			var b []byte
			select {
			case b = <-w.free:
			case <-ctx.Done():
				w.chunks <- chunk{nil, ctx.Err()} // capacity for every chunk
				return
			}
			n, err := fill(src, b)
			w.chunks <- chunk{b[:n], err}
			if err != nil {
				return
			}
		}
	}()
	return w
}

// fill reads until b is full or the source ends; unlike io.ReadFull it returns the
// source's own error, which tells a truncated stream from the end of the text.
func fill(src io.Reader, b []byte) (n int, err error) {
	for n < len(b) && err == nil {
		var k int
		k, err = src.Read(b[n:])
		n += k
	}
	return n, err
}

// stop ends the goroutine and waits for it.
func (w *window) stop() {
	w.cancel()
	for range w.chunks {
	}
}

// more appends the next chunk, dropping what lies before pos. It reports false at
// the end of the text and after an error.
func (w *window) more() bool {
	if w.err != nil {
		return false
	}
	c, ok := <-w.chunks
	if !ok {
		w.err = io.EOF
		return false
	}
	w.base += int64(w.pos)
	w.buf = append(w.buf[:copy(w.buf, w.buf[w.pos:])], c.b...)
	w.pos = 0
	w.err = c.err
	if c.err == nil {
		w.free <- c.b[:cap(c.b)]
	}
	return len(c.b) > 0
}

// rest is the text from pos on, as far as it is here.
func (w *window) rest() []byte { return w.buf[w.pos:] }

// offset is the position of the next byte in the text.
func (w *window) offset() int64 { return w.base + int64(w.pos) }

// ReadByte and Read feed encoding/xml, which takes single bytes and so consumes no
// more than the element it decodes.
func (w *window) ReadByte() (byte, error) {
	for w.pos == len(w.buf) {
		if !w.more() {
			return 0, w.err
		}
	}
	b := w.buf[w.pos]
	w.pos++
	return b, nil
}

func (w *window) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	b, err := w.ReadByte()
	if err != nil {
		return 0, err
	}
	p[0] = b
	return 1, nil
}
