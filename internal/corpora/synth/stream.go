package synth

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/klauspost/compress/flate"
)

// deflateLevel is klauspost's; the compressed bytes are fixed by go.mod's version
// of that package and by nothing else.
const deflateLevel = 5

// deflater compresses chunks so that they can be joined to one deflate stream.
type deflater struct {
	w   *flate.Writer
	out bytes.Buffer
}

// chunk returns raw as deflate blocks that end at a byte and are not the last.
func (d *deflater) chunk(raw []byte) ([]byte, error) {
	d.out = bytes.Buffer{} // what a chunk before was made in is its own
	if d.w == nil {
		w, err := flate.NewWriter(&d.out, deflateLevel)
		if err != nil {
			return nil, err
		}
		d.w = w
	} else {
		d.w.Reset(&d.out)
	}
	if _, err := d.w.Write(raw); err != nil {
		return nil, err
	}
	if err := d.w.Flush(); err != nil {
		return nil, err
	}
	return d.out.Bytes(), nil
}

// gzipFile joins chunks to a gzip file of one or more members.
type gzipFile struct {
	name    string
	w       io.WriteCloser
	open    bool // a member is
	crc     uint32
	size    uint32
	written int64 // before compression
}

// RFC 1952: no name, no time, unknown system.
var (
	gzipHeader = []byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255}
	lastBlock  = []byte{0x03, 0x00} // an empty block, final
)

func (f *gzipFile) write(raw, deflated []byte) error {
	if !f.open {
		f.open, f.crc, f.size = true, 0, 0
		if err := f.put(gzipHeader); err != nil {
			return err
		}
	}
	f.crc = crc32.Update(f.crc, crc32.IEEETable, raw)
	f.size += uint32(len(raw))
	f.written += int64(len(raw))
	return f.put(deflated)
}

// endMember closes the member, if one is open.
func (f *gzipFile) endMember() error {
	if !f.open {
		return nil
	}
	f.open = false
	tail := binary.LittleEndian.AppendUint32(append([]byte{}, lastBlock...), f.crc)
	return f.put(binary.LittleEndian.AppendUint32(tail, f.size))
}

func (f *gzipFile) put(p []byte) error {
	n, err := f.w.Write(p)
	if err == nil && n < len(p) {
		err = io.ErrShortWrite
	}
	if err != nil {
		return fmt.Errorf("synth: write %s: %w", f.name, err)
	}
	return nil
}

// close ends the file; the writer is closed whatever happens.
func (f *gzipFile) close() error {
	err := f.endMember()
	if cerr := f.w.Close(); cerr != nil {
		err = errors.Join(err, fmt.Errorf("synth: close %s: %w", f.name, cerr))
	}
	return err
}
