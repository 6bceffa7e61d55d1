package wikipedia

import (
	"bufio"
	"context"
	"io"
	"slices"
)

const (
	chunkBytes = 1 << 20
	maxUnit    = 64 << 20 // bytes of one element, beyond which input is refused
)

// window is the part of the text that the scanner looks at. A goroutine decompresses the next chunk.
type window struct {
	buf  []byte
	pos  int   // next byte
	base int64 // offset of buf[0] in the text
	err  error // of reading, io.EOF at the end

	ctx   context.Context
	text  *io.PipeReader
	size  int // of a chunk
	ended chan struct{}
}

func newWindow(ctx context.Context, src io.Reader, size int) *window {
	r, w := io.Pipe()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		chunks := bufio.NewWriterSize(w, size)
		_, err := io.Copy(chunks, src)
		if failed := chunks.Flush(); err == nil {
			err = failed
		}
		w.CloseWithError(err)
	}()
	return &window{ctx: ctx, text: r, size: size, ended: ended}
}

func (w *window) stop() {
	w.text.Close()
	<-w.ended
}

// more appends the next chunk, dropping what lies before pos. It reports false at the end of the text and after an error.
func (w *window) more() bool {
	if w.err == nil {
		w.err = w.ctx.Err()
	}
	if w.err != nil {
		return false
	}
	w.base += int64(w.pos)
	w.buf = slices.Grow(w.buf[:copy(w.buf, w.buf[w.pos:])], w.size)
	w.pos = 0
	n, err := w.text.Read(w.buf[len(w.buf) : len(w.buf)+w.size])
	w.buf, w.err = w.buf[:len(w.buf)+n], err
	return n > 0
}

func (w *window) rest() []byte { return w.buf[w.pos:] }

func (w *window) offset() int64 { return w.base + int64(w.pos) }

// ReadByte and Read feed encoding/xml, which reads single bytes and so consumes only the element that it decodes.
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

func (w *window) Read(p []byte) (n int, err error) {
	if len(p) > 0 {
		if p[0], err = w.ReadByte(); err == nil {
			n = 1
		}
	}
	return n, err
}
