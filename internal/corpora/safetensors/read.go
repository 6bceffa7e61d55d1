package safetensors

import (
	"cmp"
	"encoding/binary"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"fmt"
	"io"
	"maps"
	"slices"
)

const (
	maxHeader  = 16 << 20 // some 100,000 tensors; parsing takes up to ten times as much memory
	maxTensors = 1 << 20
	maxRank    = 16
)

type Info struct {
	Name  string
	DType string // "F32", "BF16", "I64" …
	Shape []int64
	begin int64 // in the data section
	end   int64
}

// Bytes is the tensor's size in the file.
func (i Info) Bytes() int64 { return i.end - i.begin }

// File is an open file: its tensors, in the order of their bytes, and metadata.
type File struct {
	Tensors  []Info
	Metadata map[string]string

	r    io.ReaderAt
	data int64 // where the data section begins
}

var sizes = map[string]int64{"BOOL": 1, "U8": 1, "I8": 1, "F8_E4M3": 1, "F8_E5M2": 1, "I16": 2, "U16": 2, "F16": 2, "BF16": 2,
	"I32": 4, "U32": 4, "F32": 4, "I64": 8, "U64": 8, "F64": 8}

// Open reads and checks the header of a file of size bytes.
func Open(r io.ReaderAt, size int64) (*File, error) {
	var prefix [8]byte
	if _, err := io.ReadFull(io.NewSectionReader(r, 0, size), prefix[:]); err != nil {
		return nil, fmt.Errorf("safetensors: no header length: %w", err)
	}
	n := binary.LittleEndian.Uint64(prefix[:])
	if n > maxHeader && n <= uint64(size-8) {
		return nil, fmt.Errorf("safetensors: a header of %d bytes; at most %d are read", n, maxHeader)
	}
	if n > maxHeader || int64(n) > size-8 {
		return nil, fmt.Errorf("safetensors: the header is said to have %d bytes, the file has %d; is it cut off, or of another format?", n, size)
	}
	header := make([]byte, n)
	if _, err := io.ReadFull(io.NewSectionReader(r, 8, size-8), header); err != nil {
		return nil, fmt.Errorf("safetensors: header: %w", err)
	}
	f := &File{r: r, data: 8 + int64(n)}
	if err := f.parse(header); err != nil {
		return nil, fmt.Errorf("safetensors: header: %w", err)
	}
	if err := f.check(size - f.data); err != nil {
		return nil, fmt.Errorf("safetensors: %w", err)
	}
	return f, nil
}

type entry struct {
	DType   string  `json:"dtype"`
	Shape   []int64 `json:"shape"`
	Offsets []int64 `json:"data_offsets"`
}

// parse reads the header, in which names must not repeat.
func (f *File) parse(header []byte) error {
	var all map[string]jsontext.Value
	if err := json.Unmarshal(header, &all); err != nil {
		return err
	}
	if len(all) > maxTensors {
		return fmt.Errorf("more than %d tensors", maxTensors)
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if name == "__metadata__" {
			if err := json.Unmarshal(all[name], &f.Metadata); err != nil {
				return fmt.Errorf("__metadata__: %w", err)
			}
			continue
		}
		var e entry
		if err := json.Unmarshal(all[name], &e); err != nil {
			return fmt.Errorf("%q: %w", name, err)
		}
		if len(e.Offsets) != 2 {
			return fmt.Errorf("%q: want two data_offsets", name)
		}
		f.Tensors = append(f.Tensors, Info{Name: name, DType: e.DType, Shape: e.Shape, begin: e.Offsets[0], end: e.Offsets[1]})
	}
	return nil
}

// check proves that the tensors fill the data section without overlap, and are as long as their shapes say, if their type is
// in sizes.
func (f *File) check(size int64) error {
	slices.SortStableFunc(f.Tensors, func(a, b Info) int { // equal places stay in the order of names
		return cmp.Or(cmp.Compare(a.begin, b.begin), cmp.Compare(a.end, b.end))
	})
	at := int64(0)
	for _, t := range f.Tensors {
		want, err := t.Bytes(), error(nil)
		if _, sized := sizes[t.DType]; sized { // a reader may leave out tensors of other types
			want, err = Size(t.DType, t.Shape)
		}
		switch {
		case err != nil:
			return fmt.Errorf("%q: %w", t.Name, err)
		case t.begin < 0 || t.end < t.begin || t.end > size:
			return fmt.Errorf("%q: bytes %d to %d lie outside of the %d bytes of data; is the file cut off?", t.Name, t.begin, t.end, size)
		case t.begin != at:
			return fmt.Errorf("%q: begins at byte %d, the tensor before it ends at %d", t.Name, t.begin, at)
		case t.end-t.begin != want:
			return fmt.Errorf("%q: %s%v has %d bytes, the file gives it %d", t.Name, t.DType, t.Shape, want, t.end-t.begin)
		}
		at = t.end
	}
	if at != size {
		return fmt.Errorf("%d bytes after the last tensor", size-at)
	}
	return nil
}

// Size returns the number of bytes of a tensor, with errors for unknown types and sizes that do not fit.
func Size(dtype string, shape []int64) (int64, error) {
	n, ok := sizes[dtype]
	if !ok {
		return 0, fmt.Errorf("unknown dtype %q", dtype)
	}
	if len(shape) > maxRank {
		return 0, fmt.Errorf("%d dimensions", len(shape))
	}
	for _, d := range shape {
		if d < 0 {
			return 0, fmt.Errorf("shape %v", shape)
		}
		if d != 0 && n > (1<<46)/d {
			return 0, fmt.Errorf("shape %v is too large", shape)
		}
		n *= d
	}
	return n, nil
}

// Open returns a tensor's bytes, in row order and little endian.
func (f *File) Open(t Info) io.Reader {
	return io.NewSectionReader(f.r, f.data+t.begin, t.Bytes())
}
