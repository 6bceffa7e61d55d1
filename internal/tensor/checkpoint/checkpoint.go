//go:build !notorch

package checkpoint

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/redsi/redsi/internal/tensor"
	"github.com/redsi/redsi/internal/tensor/safetensors"
	"github.com/redsi/redsi/internal/tensor/torchfile"
)

// ErrOther is wrapped by errors about a tensor that is missing or has another shape.
var ErrOther = errors.New("the file is of another model")

// File is an open checkpoint of either format.
type File struct {
	count int // of tensors
	find  func(name string) (dtype string, shape []int64, data io.Reader, ok bool)
}

// Open reads the header of a checkpoint of size bytes; the format is seen from its
// first bytes.
func Open(r io.ReaderAt, size int64) (*File, error) {
	var first [2]byte
	if _, err := r.ReadAt(first[:], 0); err != nil {
		return nil, fmt.Errorf("checkpoint of %d bytes: %w", size, err)
	}
	c := &File{}
	if string(first[:]) == "PK" || (first[0] == 0x80 && first[1] >= 2 && first[1] <= 5) {
		f, err := torchfile.Open(r, size)
		if err != nil {
			return nil, err
		}
		c.count = len(f.Tensors)
		c.find = func(name string) (string, []int64, io.Reader, bool) {
			t, ok := f.Lookup(name)
			if !ok {
				return "", nil, nil, false
			}
			return t.DType, t.Shape, f.Open(t), true
		}
		return c, nil
	}
	f, err := safetensors.Open(r, size)
	if err != nil {
		return nil, err
	}
	c.count = len(f.Tensors)
	c.find = func(name string) (string, []int64, io.Reader, bool) {
		t, ok := f.Lookup(name)
		if !ok {
			return "", nil, nil, false
		}
		return t.DType, t.Shape, f.Open(t), true
	}
	return c, nil
}

// Has says whether the file has a tensor of that name.
func (f *File) Has(name string) bool {
	_, _, _, ok := f.find(name)
	return ok
}

// Tensor reads the tensor name, which must have the shape, as want, to dev; it
// belongs to s.
func (f *File) Tensor(s *tensor.Scope, name string, want tensor.DType, dev tensor.Device, shape ...int64) (*tensor.Tensor, error) {
	stored, have, data, ok := f.find(name)
	if !ok {
		return nil, fmt.Errorf("no tensor %q among its %d: %w", name, f.count, ErrOther)
	}
	if !same(have, shape) {
		return nil, fmt.Errorf("tensor %q has shape %v, the configuration asks for %v: %w", name, have, shape, ErrOther)
	}
	dtype, err := tensor.ParseDType(stored)
	if err != nil {
		return nil, fmt.Errorf("tensor %q: %w", name, err)
	}
	var t *tensor.Tensor
	tensor.Within(func(inner *tensor.Scope) {
		if t, err = inner.Read(data, dtype, tensor.CPU, shape...); err == nil {
			t = s.Move(inner.ToDevice(inner.ToDType(t, want), dev))
		}
	})
	if err != nil {
		return nil, fmt.Errorf("tensor %q: %w", name, err)
	}
	return t, nil
}

func same(a, b []int64) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// Named is a tensor to be written.
type Named struct {
	Name   string
	Tensor *tensor.Tensor
}

// Write writes tensors as a safetensors file, in their order. It must be called
// within tensor.Run or tensor.Try.
func Write(w io.Writer, metadata map[string]string, tensors []Named) error {
	sources := make([]safetensors.Source, len(tensors))
	for i, t := range tensors {
		sources[i] = safetensors.Source{Name: t.Name, DType: t.Tensor.DType().String(), Shape: t.Tensor.Shape(), Write: t.Tensor.Write}
	}
	buffered := bufio.NewWriterSize(w, 1<<20)
	if err := safetensors.Write(buffered, metadata, sources); err != nil {
		return err
	}
	return buffered.Flush()
}

// Weights opens a model folder's weights, of the first of names that exists, and gives
// them to read. Errors name the file and, where it does not fit, say what to do.
func Weights(folder string, read func(r io.ReaderAt, size int64) error, names ...string) error {
	f, size, err := Find(folder, names...)
	if err != nil {
		return err
	}
	defer f.Close()
	err = read(f, size)
	if errors.Is(err, ErrOther) {
		return fmt.Errorf("%s: %w; take config.json and the weights from one place", f.Name(), err)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", f.Name(), err)
	}
	return nil
}

// Find opens the first of a folder's files names that exists; the caller closes it.
func Find(folder string, names ...string) (*os.File, int64, error) {
	for _, name := range names {
		f, err := os.Open(filepath.Join(folder, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, 0, err
		}
		info, err := f.Stat()
		if err != nil {
			f.Close()
			return nil, 0, err
		}
		return f, info.Size(), nil
	}
	return nil, 0, fmt.Errorf("%s has none of %v; weights in several files (model.safetensors.index.json) are to be saved as one first", folder, names)
}
