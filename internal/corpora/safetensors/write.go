package safetensors

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
)

// Source is a tensor to be written. Write puts its bytes, in row order and little endian.
type Source struct {
	Name  string
	DType string
	Shape []int64
	Write func(io.Writer) error
}

// Write writes a file, one tensor at a time; equal sources give equal bytes. A source that writes another number of bytes
// than its shape asks for is an error.
func Write(w io.Writer, metadata map[string]string, sources []Source) error {
	var header bytes.Buffer
	header.WriteByte('{')
	if metadata != nil {
		text, err := json.Marshal(metadata)
		if err != nil {
			return err
		}
		fmt.Fprintf(&header, `"__metadata__":%s,`, text)
	}
	at := int64(0)
	seen := map[string]bool{}
	for _, s := range sources {
		if seen[s.Name] || s.Name == "__metadata__" {
			return fmt.Errorf("safetensors: %q is given twice, or reserved", s.Name)
		}
		seen[s.Name] = true
		n, err := Size(s.DType, s.Shape)
		if err != nil {
			return fmt.Errorf("safetensors: %q: %w", s.Name, err)
		}
		one, err := json.Marshal(map[string]entry{s.Name: {s.DType, append([]int64{}, s.Shape...), []int64{at, at + n}}})
		if err != nil {
			return err
		}
		header.Write(append(one[1:len(one)-1], ',')) // without its braces
		at += n
	}
	text := bytes.TrimSuffix(header.Bytes(), []byte(","))
	text = append(text, '}')
	for len(text)%8 != 0 {
		text = append(text, ' ')
	}
	if err := binary.Write(w, binary.LittleEndian, uint64(len(text))); err != nil {
		return err
	}
	if _, err := w.Write(text); err != nil {
		return err
	}
	for _, s := range sources {
		want, _ := Size(s.DType, s.Shape)
		c := &counter{w: w}
		if err := s.Write(c); err != nil {
			return fmt.Errorf("safetensors: %q: %w", s.Name, err)
		}
		if c.n != want {
			return fmt.Errorf("safetensors: %q: %d bytes written, %s%v has %d", s.Name, c.n, s.DType, s.Shape, want)
		}
	}
	return nil
}

type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}
