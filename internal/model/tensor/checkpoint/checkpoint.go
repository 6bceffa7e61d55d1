package checkpoint

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/redsi/redsi/internal/corpora/safetensors"
	"github.com/redsi/redsi/internal/model/tensor"
	"github.com/redsi/redsi/internal/model/tensor/torchfile"
	"github.com/redsi/redsi/internal/system/lists"
)

// ErrOther is wrapped by errors about a tensor that is missing or has another shape.
var ErrOther = errors.New("the file belongs to another model")

// File is an open checkpoint of either format, of one file or several.
type File struct {
	Metadata map[string]string // of one safetensors file

	tensors map[string]info
	asked   map[string]bool // tensors that were checked, read or compared
}

// info is a tensor as a file has it.
type info struct {
	file  string // the file's name among several
	dtype string
	shape []int64
	open  func() io.Reader
}

// Open reads the header of a checkpoint of size bytes; the format is seen from its first bytes.
func Open(r io.ReaderAt, size int64) (*File, error) {
	var first [2]byte
	if _, err := r.ReadAt(first[:], 0); errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%d bytes are no checkpoint: the file was cut off; write or fetch it anew", size)
	} else if err != nil {
		return nil, fmt.Errorf("checkpoint of %d bytes: %w", size, err)
	}
	all := &File{tensors: map[string]info{}, asked: map[string]bool{}}
	if string(first[:]) == "PK" || (first[0] == 0x80 && first[1] >= 2 && first[1] <= 5) {
		f, err := torchfile.Open(r, size)
		if err != nil {
			return nil, err
		}
		for _, t := range f.Tensors {
			all.tensors[t.Name] = info{dtype: t.DType, shape: t.Shape, open: func() io.Reader { return f.Open(t) }}
		}
		return all, nil
	}
	f, err := safetensors.Open(r, size)
	if err != nil {
		return nil, err
	}
	for _, t := range f.Tensors {
		all.tensors[t.Name] = info{dtype: t.DType, shape: t.Shape, open: func() io.Reader { return f.Open(t) }}
	}
	all.Metadata = f.Metadata
	return all, nil
}

// find gives a tensor and how messages call it.
func (f *File) find(name string) (t info, called string, ok bool) {
	t, ok = f.tensors[name]
	called = fmt.Sprintf("tensor %q", name)
	if t.file != "" {
		called += " in " + t.file
	}
	return t, called, ok
}

// Rest returns the tensors that were neither checked nor read nor compared, in order: nothing is computed with them. A
// tensor among them that would have a part in the model is an error.
func (f *File) Rest(part func(name string) bool) (unused []string, err error) {
	unused = lists.Filter(slices.Sorted(maps.Keys(f.tensors)), func(name string) bool { return !f.asked[name] })
	if i := slices.IndexFunc(unused, part); i >= 0 {
		return nil, fmt.Errorf("tensor %q has no place in a model of this configuration, and would not be used: %w", unused[i], ErrOther)
	}
	return unused, nil
}

// Same says whether two tensors that are there have the same type, shape and bytes; it reads them.
func (f *File) Same(a, b string) (bool, error) {
	sums := [2]string{}
	for i, name := range []string{a, b} {
		t, called, _ := f.find(name)
		f.asked[name] = true
		h := sha256.New()
		if _, err := io.Copy(h, t.open()); err != nil {
			return false, fmt.Errorf("%s: %w", called, err)
		}
		sums[i] = fmt.Sprintf("%s %v %x", t.dtype, t.shape, h.Sum(nil))
	}
	return sums[0] == sums[1], nil
}

// Zeros is Check, and says whether all numbers are 0, which it reads.
func (f *File) Zeros(name string, shape ...int64) (bool, error) {
	t, _, err := f.checked(name, true, shape)
	if err != nil {
		return false, err
	}
	data, err := io.ReadAll(t.open())
	if err != nil {
		return false, fmt.Errorf("tensor %q: %w", name, err)
	}
	return len(bytes.Trim(data, "\x00")) == 0, nil
}

func (f *File) Has(name string) bool {
	_, ok := f.tensors[name]
	return ok
}

// Check returns an error unless the tensor name is there as numbers of the shape; it reads only the header.
func (f *File) Check(name string, shape ...int64) error {
	_, _, err := f.checked(name, true, shape)
	return err
}

// checked finds a tensor, which is of floating point numbers if float is set.
func (f *File) checked(name string, float bool, shape []int64) (info, tensor.DType, error) {
	t, called, ok := f.find(name)
	f.asked[name] = true
	if !ok {
		return info{}, 0, fmt.Errorf("no tensor %q among its %d: %w", name, len(f.tensors), ErrOther)
	}
	if !slices.Equal(t.shape, shape) {
		return info{}, 0, fmt.Errorf("%s has shape %v, the configuration asks for %v: %w", called, t.shape, shape, ErrOther)
	}
	dtype, err := tensor.ParseDType(t.dtype)
	if err != nil {
		return info{}, 0, fmt.Errorf("%s: %w", called, err)
	}
	if float && !dtype.Float() {
		return info{}, 0, fmt.Errorf("%s has numbers of type %s, want F32, F16, BF16 or F64: quantized weights are not read", called, t.dtype)
	}
	return t, dtype, nil
}

// Tensor reads the tensor name, which must have the shape, as want, to dev; it belongs to s.
func (f *File) Tensor(s *tensor.Scope, name string, want tensor.DType, dev tensor.Device, shape ...int64) (*tensor.Tensor, error) {
	of, dtype, err := f.checked(name, want.Float(), shape)
	if err != nil {
		return nil, err
	}
	var t *tensor.Tensor
	tensor.Within(func(inner *tensor.Scope) {
		if t, err = inner.Read(of.open(), dtype, tensor.CPU, shape...); err == nil {
			t = s.Move(inner.ToDevice(inner.ToDType(t, want), dev))
		}
	})
	if err != nil {
		return nil, fmt.Errorf("tensor %q: %w", name, err)
	}
	return t, nil
}

// Named is a tensor to be written.
type Named struct {
	Name   string
	Tensor *tensor.Tensor
}

// Write writes tensors as a safetensors file, in their order. It must be called within tensor.Run or tensor.Try.
func Write(w io.Writer, metadata map[string]string, tensors []Named) error {
	sources := lists.Map(tensors, func(t Named) safetensors.Source {
		return safetensors.Source{Name: t.Name, DType: t.Tensor.DType().String(), Shape: t.Tensor.Shape(), Write: t.Tensor.Write}
	})
	buffered := bufio.NewWriterSize(w, 1<<20)
	if err := safetensors.Write(buffered, metadata, sources); err != nil {
		return err
	}
	return buffered.Flush()
}
